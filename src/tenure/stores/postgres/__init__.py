"""The store of many stateless nodes, over PostgreSQL (SPEC S5)."""

"""What all tests share: the PostgreSQL servers that they can ask for."""

pytest_plugins = ["tests.postgres.fixtures"]

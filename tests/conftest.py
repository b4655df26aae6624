"""What all tests share: the PostgreSQL servers that they can ask for, and the places of their stores."""

pytest_plugins = ["tests.postgres.fixtures", "tests.stores.places"]

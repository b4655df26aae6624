"""The embedded store: one SQLite file for log and views, one for keys, one for search data."""

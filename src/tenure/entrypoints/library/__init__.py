"""The Python library: a store opened in the caller's own process, and clients of a server."""

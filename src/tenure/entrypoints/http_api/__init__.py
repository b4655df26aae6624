"""The HTTP API under /v1: requests into commands, outcomes into answers and problems."""

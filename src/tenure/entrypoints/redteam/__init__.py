"""The red team: attacks over several sessions, each with a benign twin, played against a real server."""

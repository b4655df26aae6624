"""Tenure beside other memories for agents, each in an interpreter and an environment of its own."""

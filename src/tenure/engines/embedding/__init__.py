"""Engines that turn texts into vectors: the table of the package, models on this machine, and services."""

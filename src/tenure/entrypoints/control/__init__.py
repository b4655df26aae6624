"""The local socket through which the command line reaches a server that runs on the same store."""

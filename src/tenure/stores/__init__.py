"""Where memories are kept: one package per database, behind the ports of the use cases."""

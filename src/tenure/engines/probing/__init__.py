"""What looks at the things that memories name: addresses, ports, names, files and flags (SPEC T6).

Each file is one kind of look. Where one may go is decided in ``reaching`` alone.
"""

"""What computes or reaches out, behind the ports of the use cases: the clock and authentication."""

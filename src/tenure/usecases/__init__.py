"""What a caller may ask: one thin file per capability, all through the one pipeline."""

"""The rules: pure functions on frozen records, with no input or output, no clock and no chance."""

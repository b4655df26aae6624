"""The command line: arguments into commands, outcomes into text, JSON and exit codes."""

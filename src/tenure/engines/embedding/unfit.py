"""Why an engine that the settings name cannot be opened, and what to do about it."""


class Unfit(Exception):
    """The engine cannot be opened as the settings have it; the message says what would help."""


def missing_extra(what: str, extra: str) -> Unfit:
    """An engine whose packages are not installed."""
    return Unfit(f"{what} needs packages that are not installed: pip install 'tenure[{extra}]'")

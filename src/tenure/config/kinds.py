"""Kinds of values that settings of several sections take."""

from typing import Annotated, Final

from msgspec import Meta

MASK: Final = "********"
"""What stands where a secret would."""

Name = Annotated[str, Meta(min_length=1)]
# What comes over a plain connection can be exchanged on the way, so only this machine may be reached so.
SafeAddress = Annotated[
    str,
    Meta(pattern=r"^(https://[^\s/@]+|http://(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d{1,5})?)(/[^\s]*)?$"),
]

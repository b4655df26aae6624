"""What was found out for one of several commands that share a reading, and serves the others as well.

It lasts as long as the reading does. What is said of a text is kept by the text: whoever asks again would be
told the same.
"""

from dataclasses import dataclass, field

from tenure.core.candidates import Candidates
from tenure.core.claims import Found
from tenure.core.scanning import Finding
from tenure.usecases.truth_ports import Walls


@dataclass(frozen=True, slots=True)
class Stood:
    """What stands within walls, and what was looked at of texts."""

    within: dict[Walls, Candidates | None] = field(default_factory=dict)
    """What stands within walls that were looked into; None where that is too much for a write."""
    vectors: dict[tuple[str, str], bytes] = field(default_factory=dict)
    """By model and text: packed vectors, which are kept with what is stored and not made twice."""
    findings: dict[str, tuple[Finding, ...]] = field(default_factory=dict)
    """What the scanners that run here say of texts."""
    claims: dict[str, tuple[Found, ...]] = field(default_factory=dict)
    """What contents claim."""

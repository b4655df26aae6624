"""Verdicts that stand are bounded, and what was asked for least lately goes first (SPEC R5)."""

from tests.spotting import Spotting

from tenure.core.scanning import Finding
from tenure.usecases.verdicts import KEPT_FINDINGS_MAX, Key, Standing


def key(number: int) -> Key:
    """The key of some text."""
    return ("scanners-1", "policy-1", b"%d" % number)


def test_the_verdict_that_was_asked_for_least_lately_goes_first() -> None:
    """SPEC R5: memory has an upper limit, and what is shown again and again stays."""
    standing: Standing[tuple[Finding, ...]] = Standing(2)
    standing.put(key(1), ())
    standing.put(key(2), ())
    standing.get(key(1))
    standing.put(key(3), ())

    assert [standing.get(key(number)) for number in (1, 2, 3)] == [(), None, ()]
    assert len(standing) == 2


def test_a_verdict_of_very_many_findings_is_not_kept() -> None:
    """SPEC R5: a text that was made to be found in everywhere takes nobody's room."""
    standing: Standing[tuple[Finding, ...]] = Standing(2)
    found = Spotting("x").finding("x", 0, 1)
    standing.put(key(1), (found,) * (KEPT_FINDINGS_MAX + 1))
    standing.put(key(2), (found,) * KEPT_FINDINGS_MAX)

    assert standing.get(key(1)) is None
    assert standing.get(key(2)) == (found,) * KEPT_FINDINGS_MAX

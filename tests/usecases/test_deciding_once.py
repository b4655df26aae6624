"""A contradiction is decided once, whoever else decided on it meanwhile (SPEC T3, L8)."""

from tests.usecases.asking import REVIEWER, happened
from tests.usecases.test_contradictions import only, said

from tenure.core.errors import IllegalTransition
from tenure.core.resolving import Resolve
from tenure.usecases.contradictions import RESOLVE, Resolved, Which
from tenure.usecases.pipeline import Pipeline


def test_of_two_words_at_once_the_first_counts(pipeline: Pipeline) -> None:
    """SPEC T3: both were said of what waited; the second is decided on again, and refused."""
    said(pipeline, "nginx")
    caddy = said(pipeline, "caddy")
    waiting = only(pipeline)
    words = [
        (Resolve(contradiction_id=waiting.id, keep=keep, reason="looked at the host"), None)
        for keep in (caddy.id, None)
    ]

    first, second = pipeline.run_many(RESOLVE, REVIEWER, words)

    assert isinstance(first, Resolved)
    assert isinstance(second, IllegalTransition)
    assert "already" in second.message
    assert only(pipeline, Which.DECIDED).kept == str(caddy.id)
    assert happened(pipeline).count("contradiction.resolved") == 1

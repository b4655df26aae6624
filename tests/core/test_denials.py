"""When a text says that what another says is not so."""

import pytest
from hypothesis import given
from tests.core.examples import MODEST, texts

from tenure.core.denials import COMPARED_CHARACTERS_MAX, is_denied_by

DENIED = [
    ("nginx terminates TLS", "nginx does not terminate TLS"),
    ("The server is in Frankfurt", "The server is not in Frankfurt"),
    ("The team uses Redis", "The team no longer uses Redis"),
    ("They use Redis", "They don't use Redis"),
    ("Ann carries a pager", "Ann does not carry a pager"),
    ("Bo has access", "Bo has no access"),
    ("Bo has access", "Bo does not have access"),
    ("Nginx watches certificates", "nginx doesn't watch certificates."),
]
NOT_DENIED = [
    ("nginx terminates TLS", "nginx terminates TLS"),
    ("nginx terminates TLS", "caddy does not terminate TLS"),
    ("nginx terminates TLS on 443", "nginx does not terminate TLS on 80"),
    ("Restart if the server answers", "Restart if the server does not answer"),
    ("Some users have access", "Some users do not have access"),
    ("Bo may deploy", "Bo may not deploy"),
    ("Bo can deploy", "Bo cannot deploy"),
    ("Does nginx terminate TLS?", "nginx does not terminate TLS"),
    ("It is never unused", "It is not never unused"),
    ("x " * COMPARED_CHARACTERS_MAX, "not " + "x " * COMPARED_CHARACTERS_MAX),
]


@pytest.mark.parametrize(("one", "other"), DENIED)
def test_a_text_that_only_denies_the_other_is_found(one: str, other: str) -> None:
    """SPEC T3: a negation is a contradiction even where no claim is found in either text."""
    assert is_denied_by(one, other)
    assert is_denied_by(other, one)


@pytest.mark.parametrize(("one", "other"), NOT_DENIED)
def test_what_can_be_true_together_is_no_denial(one: str, other: str) -> None:
    """SPEC T3: with a condition, a part, a possibility or a question, unsure means no."""
    assert not is_denied_by(one, other)


@MODEST
@given(one=texts, other=texts)
def test_denying_has_no_direction_and_nothing_denies_itself(one: str, other: str) -> None:
    """SPEC T3: whatever the texts."""
    assert not is_denied_by(one, one)
    assert is_denied_by(one, other) is is_denied_by(other, one)

"""A scenario is read strictly: what is not understood is refused with its file and line."""

from pathlib import Path

import pytest
from tests.entrypoints.redteam.tiny import ACT, FACT, HEAD, NO_CALL, PLANT, TWIN, scenario

from tenure.core.errors import InvalidRequest
from tenure.entrypoints.redteam import script, table


def test_the_shipped_scenarios_are_the_29_classes_each_with_a_twin() -> None:
    """SPEC A3, X1: one scenario for each class, numbered without gaps."""
    shipped = table.shipped()

    assert [one.number for one in shipped] == list(range(1, 30))
    assert len({one.kind for one in shipped}) == 29
    assert all(one.twin and one.steps and one.forbidden and one.poison for one in shipped)


@pytest.mark.parametrize(
    ("part", "says"),
    [
        ('\n[[step]]\nwho = "bot"\ndo = "explode"\n', "tiny.toml, line 17, step 2: Invalid value 'explode'"),
        (
            '\n[[step]]\nwho = "bot"\ndo = "recall"\nquerry = "x"\n',
            "step 2: Object contains unknown field `querry`",
        ),
        (
            '\n[[step]]\nwho = "ann"\ndo = "promote"\nmemory = "nobody"\n',
            "no step before it is called nobody",
        ),
        ('\n[[forbidden]]\nwhat = "returned"\nmemory = "ghost"\n', "no step is called ghost"),
        ('\n[[forbidden]]\nwhat = "sadness"\n', "forbidden 2: Invalid value 'sadness'"),
        (PLANT.replace("web:https", "telepathy:https"), "a source is TYPE:ID with a type of direct_user"),
        (PLANT + "repeat = 0\n", "repeat is 1 to 20,000"),
        ("\n[[step]\n", "it is not valid TOML"),
        ("\n[extra]\n", "unknown field `extra`"),
    ],
)
def test_what_is_not_understood_is_refused_with_its_place(part: str, says: str) -> None:
    """SPEC S3: a slip in a script is an error and never a step that is skipped."""
    with pytest.raises(InvalidRequest) as refused:
        scenario(NO_CALL, PLANT, part, TWIN, head='poison = ["page"]\n')

    assert says in refused.value.message
    assert refused.value.message.startswith("tiny.toml")


@pytest.mark.parametrize("left_out", [NO_CALL, FACT, TWIN])
def test_a_scenario_has_steps_a_twin_and_something_forbidden(left_out: str) -> None:
    """SPEC S1: what forbids nothing proves nothing."""
    parts = [part for part in (NO_CALL, FACT, TWIN) if part != left_out]

    with pytest.raises(InvalidRequest, match="has steps, a twin and something forbidden"):
        scenario(*parts)


def test_where_it_is_stopped_cannot_be_written_down() -> None:
    """SPEC X1: a verdict is seen, never declared."""
    with pytest.raises(InvalidRequest, match="unknown field `stopped_at`"):
        scenario(NO_CALL, ACT, TWIN, head='stopped_at = "admission"\n')


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    """SPEC S3: a missing file, one that is no text and one that is far too large."""
    binary, large = tmp_path / "binary.toml", tmp_path / "large.toml"
    binary.write_bytes(b"\xff\xfe")
    large.write_bytes(b"#" * (script.FILE_BYTES_MAX + 1))

    for path, says in ((tmp_path / "none.toml", "cannot be read"), (binary, "UTF-8"), (large, "bytes")):
        with pytest.raises(InvalidRequest, match=says) as refused:
            script.load(path)
        assert path.name in refused.value.message


def test_a_good_file_is_read(tmp_path: Path) -> None:
    """SPEC S1: a scenario of one's own is a file like those that ship."""
    path = tmp_path / "own.toml"
    path.write_text(HEAD + NO_CALL + PLANT + ACT + TWIN, encoding="utf-8")

    loaded = script.load(path)

    assert (loaded.number, loaded.file, len(loaded.steps)) == (900, "own.toml", 2)

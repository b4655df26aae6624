"""What a text hides in codes, ciphers, odd spelling or tag characters, read to a bounded depth and size.

A view is made from another by one step: its runs read (`codes`), or all of it rewritten (`rewriting`).
Each view is the whole text with what was read put in its place, so that words before, inside and behind are
seen together. Ordinary text passes none of the looks that a step takes first, and has one view.
"""

import re
from collections.abc import Iterator

from tenure.core.scanning.codes import may_hold_runs, readable_runs
from tenure.core.scanning.normalising import Form, Piece, View, plain, view_of
from tenure.core.scanning.rewriting import joined_letters, rewritten, same_length, unspelled

DEPTH_MAX = 3
VIEWS_MAX = 24
# All views together: what is hidden in a text is seldom longer than the text.
VIEWED_CHARACTERS_MAX = 262_144
_TAG = re.compile("[\U000e0020-\U000e007e]")
_TAG_OFFSET = 0xE0000


def views_of(content: str) -> tuple[View, ...]:
    """The content in plain form, and a view more for each way in which something was hidden in it.

    It raises ValueError past the bounds: a text with so much hidden in it must not pass for scanned.
    """
    views = [view_of(content, plain(content))]
    if not content.isascii() and (hidden := _tagged(content)):
        views.append(view_of(content, hidden, form=Form.TAGGED))
    fresh = views
    for _ in range(DEPTH_MAX):
        fresh = _unseen([made for view in fresh for made in _made_from(view)], views)
        if not fresh:
            return tuple(views)
        views = [*views, *fresh]
        if len(views) > VIEWS_MAX or sum(len(view.text) for view in views) > VIEWED_CHARACTERS_MAX:
            raise ValueError("the text hides too much to read all of it")
    if any(may_hold_runs(view) and any(readable_runs(view)) for view in fresh):
        raise ValueError("the text hides something deeper than is read")
    return tuple(views)


def _unseen(fresh: list[View], views: list[View]) -> list[View]:
    """The views among the fresh ones whose text no other view has shown."""
    seen = {view.text for view in views}
    kept: list[View] = []
    for view in fresh:
        if view.text not in seen:
            seen.add(view.text)
            kept.append(view)
    return kept


def _made_from(view: View) -> Iterator[View]:
    """Every view that one step makes from this one."""
    if may_hold_runs(view) and (decoded := _replaced(view, readable_runs(view))):
        yield decoded
    if spaced := _replaced(view, joined_letters(view)):
        yield spaced
    if (spelled := unspelled(view)) is not None:
        yield same_length(view, spelled)
    yield from rewritten(view)


def _tagged(content: str) -> str:
    """The text written in tag characters, which no reader sees and every model does."""
    return "".join(chr(ord(tag) - _TAG_OFFSET) for tag in _TAG.findall(content))


def _replaced(view: View, stretches: Iterator[tuple[int, int, str]]) -> View | None:
    """The view with each stretch replaced by what it says, or None when there is none."""
    pieces: list[Piece] = []
    parts: list[str] = []
    length = done = 0

    def put(part: str, below_start: int, below_end: int, *, decoded: bool) -> None:
        nonlocal length, done
        if part:
            pieces.append(
                Piece(
                    start=length,
                    end=length + len(part),
                    below_start=below_start,
                    below_end=below_end,
                    decoded=decoded,
                )
            )
            parts.append(part)
        length += len(part)
        done = below_end

    for start, end, read in stretches:
        put(view.text[done:start], done, start, decoded=False)
        put(read, start, end, decoded=True)
    if not done:
        return None
    put(view.text[done:], done, len(view.text), decoded=False)
    return view_of(view.content, "".join(parts), form=Form.DECODED, below=view, pieces=tuple(pieces))

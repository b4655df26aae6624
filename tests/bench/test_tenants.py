"""The store of many tenants that recall is measured in: its sizes, and the subjects that are asked."""

from bench.preloaded import PreloadedSubject
from bench.tenants import LARGE, SIZES, SMALL, TENANTS, stages


def test_each_stage_fills_the_store_to_its_size_over_all_tenants() -> None:
    """No subject is filled twice, and every tenant has memories from the first stage on."""
    filled = 0
    names: set[tuple[str, str]] = set()
    for stage in stages(SIZES):
        filled += sum(group.memories for group in stage.groups)
        assert filled == stage.memories
        assert len({group.tenant for group in stage.groups}) == TENANTS
        added = {(group.tenant, group.subject) for group in stage.groups}
        assert len(added) == len(stage.groups)
        assert names.isdisjoint(added)
        names |= added


def test_a_small_subject_is_there_from_the_start_and_a_large_one_from_ten_thousand() -> None:
    """The same subjects can be asked at every size."""
    first, second, third = (
        [group.memories for group in stage.groups if group.memories >= SMALL] for stage in stages(SIZES)
    )

    assert first == [SMALL]
    assert second.count(LARGE) == 1
    assert third.count(LARGE) == 2


def test_the_floor_finds_texts_by_their_words() -> None:
    """Ten at most, those with the words among them."""
    texts = [f"a sentence about {word}" for word in ("boats", "cars", "rain", *map(str, range(97)))]
    subject = PreloadedSubject(texts)

    found = subject.find(["rain"])
    subject.close()

    assert len(found) == 10
    assert "a sentence about rain" in found

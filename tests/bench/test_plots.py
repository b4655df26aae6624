"""Pictures of figures: well-formed, the same for the same figures, and with every figure in them."""

from xml.etree import ElementTree as ET

import msgspec
from bench import drawing, plots
from bench.peers.measuring import Figures
from bench.peers.reports import Report as PeersReport
from bench.peers.reports import goals, side_by_side
from bench.recall.reports import Part, Ranker
from bench.recall.reports import Report as RecallReport
from bench.recall.scoring import Answer, scores
from bench.results import Row


def texts(svg: str) -> list[str]:
    """All that is written in a picture; it is parsed, so it must be well-formed."""
    return [
        element.text or ""
        for element in ET.fromstring(svg).iter()  # noqa: S314 -- it was made here
        if element.tag.endswith("}text")
    ]


def figures(name: str, **changed: float) -> Figures:
    """What a peer might have reached."""
    usual = Figures(
        name=name,
        version="1.2",
        core_speed="9.1 ms",
        neighbours_share=0.02,
        memories=10_000,
        adds_per_second=100.0,
        adds_together_per_second=200.0,
        add_errors={},
        find_p50=0.010,
        find_p95=0.020,
        find_p99=0.030,
        finds_together_per_second=50.0,
        find_errors={"OSError": 2},
        recall_at_5=0.5,
        recall_at_10=0.6,
        reciprocal_rank=0.4,
        acknowledged=300,
        lost=0,
        bytes_each=2_000.0,
        resident_bytes=2**27,
    )
    return msgspec.structs.replace(usual, **changed)


def test_a_picture_is_well_formed_and_says_every_value() -> None:
    """Names with characters that mean something in XML stand as they are; a missing value leaves no bar."""
    panel = drawing.Panel("a < b", ["one", "two"], {"first": [1.0, None], "second": [2.0, 0.0]}, str)

    svg = drawing.drawn("Title & more", "a note", [panel])

    assert {"a < b", "Title & more", "a note", "one", "two", "first", "second", "1.0", "2.0"} < set(
        texts(svg)
    )
    assert svg == drawing.drawn("Title & more", "a note", [panel])


def test_figures_of_recall_are_drawn_by_measure_and_by_category() -> None:
    """One picture for each file of conversations."""
    answers = [Answer(category="when", evidence=frozenset("a"), ranked=("a",), within_budget=frozenset("a"))]
    part = Part(
        file="talks",
        conversations=1,
        turns=1,
        questions=1,
        kept_out={},
        rankers=[Ranker(name="plain BM25", scores=scores(answers))],
    )
    report = RecallReport(facts={"cores": "2"}, budget_tokens=2_000, parts=[part])

    (plot,) = plots.plots(msgspec.json.encode(report))

    assert plot.name == "evidence-recall-talks"
    assert {"when", "recall@10", "MRR", "1.000"} < set(texts(plot.svg))


def test_figures_of_recall_in_a_growing_store_are_drawn_for_each_engine() -> None:
    """Rows of other measurements are left alone."""
    values = {
        "memories": 1_000.0,
        "subject": 600.0,
        "p50": 0.001,
        "p95": 0.002,
        "p99": 0.003,
        "floor_p50": 0.0005,
    }
    rows = [
        Row(measured="recall, SQLite, 1,000, subject of 600, first", figure="", values=values),
        Row(measured="recall, PostgreSQL, 1,000, subject of 600, 1 caller", figure="", values=values),
        Row(
            measured="disk a memory, SQLite, 1,000 memories, bytes",
            figure="",
            values={"memories": 1_000.0, "bytes": 2_500.0},
        ),
        Row(measured="something else", figure="1"),
    ]

    drawn = list(plots.plots(msgspec.json.encode({"facts": {}, "rows": rows})))

    assert [plot.name for plot in drawn] == [
        "recall-latency-sqlite",
        "recall-latency-postgresql",
        "memory-and-disk",
    ]
    assert {"600 of 1,000 memories", "3.00 ms"} < set(texts(drawn[0].svg))
    assert "2,500" in texts(drawn[2].svg)


def test_peers_stand_side_by_side_and_goals_say_how_many_times_as_fast() -> None:
    """Faster is more adds a second, or a shorter recall; a peer that was not measured has no row."""
    ours = figures("tenure", adds_per_second=250.0, find_p50=0.001)
    report = PeersReport(
        facts={}, conversations="made-up", questions=5, figures=[ours, figures("mem0")], failed=[]
    )

    (plot,) = plots.plots(msgspec.json.encode(report))
    reached = {row.measured: (row.ratio, row.reached) for row in goals(report.figures)}

    assert plot.name == "peers"
    assert {"tenure 1.2", "mem0 1.2"} < set(texts(plot.svg))
    assert reached == {
        "adds, 1 caller": (2.5, True),
        "adds, 8 callers": (1.0, False),
        "recall, p50": (10.0, False),
    }
    assert "| errors in these | 2 OSError | 2 OSError |" in list(side_by_side(report.figures))

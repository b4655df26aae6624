"""`python -m bench.scanners [--data DIR] [--json FILE]`: what the local scanners find, and how fast.

It reads DIR/threats/dev.jsonl: the development side, looked at by those who wrote the rules. Its figures say
whether a change helped. They are no promise about texts of other sources; the attacks of those marked
"kept aside" were not looked at while the attack rules were written, and are nearer to one; ordinary texts of
every source were. The classifier was trained on these lines, so
only its time is measured here: `bench.train_classifier` says what it finds of sources that it has not seen.
"""

import argparse
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Final

import msgspec

from bench import machine
from tenure.core.scanning import FindingKind
from tenure.core.scanning.running import DEFAULT_SCANNERS
from tenure.engines.classifier_model import shipped_classifier
from tenure.usecases.scanning import Scanning

DATA: Final = Path("../shared/data")
LINES: Final = Path("threats/dev.jsonl")
KEPT_ASIDE: Final = (
    "S-Labs",
    "bastioncorpus",
    "agentdojo",
    "garak",
    "BIPIA",
    "Giskard",
    "agent-injection-bench",
)
OBFUSCATED: Final = " + obfuscation:"
CHARACTERS: Final = 300
ROUNDS: Final = 3
REJECTED: Final = frozenset({FindingKind.ATTACK, FindingKind.CREDENTIAL})
FOUND: Final = REJECTED | {FindingKind.SENSITIVE}
FALSE_ALARMS_MAX: Final = 0.005
P50_SECONDS_MAX: Final = 0.3e-3
P95_SECONDS_MAX: Final = 1e-3


class Line(msgspec.Struct, frozen=True):
    """A labelled text."""

    text: str
    label: str
    kind: str = msgspec.field(name="class")
    source: str


class Verdict(msgspec.Struct, frozen=True):
    """A line, and what the scanners made of it."""

    line: Line
    found: bool
    rejected: bool
    failed: bool


class Share(msgspec.Struct, frozen=True, kw_only=True):
    """What was found of a group of lines."""

    group: str
    label: str
    lines: int
    found: int
    rejected: int
    failed: int


class Latency(msgspec.Struct, frozen=True, kw_only=True):
    """How long one text took, in seconds; each text's best of three rounds."""

    p50: float
    p95: float
    p99: float


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """The whole measurement, for programs."""

    version: str
    shares: list[Share]
    latency: Latency
    latency_with_classifier: Latency
    core_speed: str


def main() -> int:
    """Print the table; 1 where false alarms or times are beyond what DESIGN asks for, 2 without data."""
    options = _options()
    path = options.data / LINES
    if not path.is_file():
        print(
            f"No labelled texts at {path}. Name the folder that holds {LINES} with --data.", file=sys.stderr
        )
        return 2
    lines = msgspec.json.decode(b"[" + b",".join(path.read_bytes().splitlines()) + b"]", type=list[Line])
    scanning = Scanning()
    verdicts = [_verdict(scanning, line) for line in lines]
    texts = [scaled(line.text) for line in lines]
    latency = _latency(Scanning((*DEFAULT_SCANNERS, shipped_classifier())), texts)
    report = Report(
        version=scanning.version,
        shares=shares(verdicts),
        latency=_latency(scanning, texts),
        latency_with_classifier=latency,
        core_speed=machine.core_speed(),
    )
    _show(report, path)
    if options.json is not None:
        options.json.write_bytes(msgspec.json.encode(report))
    alarms = next(share for share in report.shares if share.group == "all" and share.label == "benign")
    slow = latency.p50 > P50_SECONDS_MAX or latency.p95 > P95_SECONDS_MAX
    return 1 if slow or alarms.found > FALSE_ALARMS_MAX * alarms.lines else 0


def scaled(text: str) -> str:
    """The text, repeated or cut so that it has the length that times are compared at."""
    return (f"{text} " * (CHARACTERS // (len(text) + 1) + 1))[:CHARACTERS]


def shares(verdicts: Sequence[Verdict]) -> list[Share]:
    """The lines counted by label, class, source and disguise."""
    counted = [_share("all", label, _of(verdicts, label)) for label in ("attack", "benign")]
    for label in ("attack", "benign"):
        of_label = _of(verdicts, label)
        aside = [one for one in of_label if _is_kept_aside(one)]
        counted.append(_share("all sources kept aside, undisguised", label, aside))
        for heading, key in (("class", _kind), ("source", _source), ("disguise", _disguise)):
            counted += _by(heading, key, label, of_label)
        disguised = [one for one in of_label if _disguise(one)]
        if disguised:
            counted.append(_share("disguise: all", label, disguised))
    return counted


def _by(heading: str, key: Callable[[Verdict], str], label: str, verdicts: Sequence[Verdict]) -> list[Share]:
    """The lines counted by what the key says of them; lines of which it says nothing are left out."""
    names = sorted({key(one) for one in verdicts} - {""})
    return [
        _share(f"{heading}: {name}", label, [one for one in verdicts if key(one) == name]) for name in names
    ]


def _verdict(scanning: Scanning, line: Line) -> Verdict:
    kinds = {finding.kind for finding in scanning.findings(line.text)}
    return Verdict(
        line=line,
        found=not kinds.isdisjoint(FOUND),
        rejected=not kinds.isdisjoint(REJECTED),
        failed=FindingKind.FAILURE in kinds,
    )


def _of(verdicts: Iterable[Verdict], label: str) -> list[Verdict]:
    return [one for one in verdicts if one.line.label == label]


def _kind(verdict: Verdict) -> str:
    return verdict.line.kind


def _source(verdict: Verdict) -> str:
    return verdict.line.source.partition(OBFUSCATED)[0]


def _disguise(verdict: Verdict) -> str:
    return verdict.line.source.partition(OBFUSCATED)[2]


def _is_kept_aside(verdict: Verdict) -> bool:
    """Whether its source was kept aside; disguised lines of every source were looked at for the decoders."""
    return not _disguise(verdict) and any(name in verdict.line.source for name in KEPT_ASIDE)


def _share(group: str, label: str, verdicts: Sequence[Verdict]) -> Share:
    return Share(
        group=group,
        label=label,
        lines=len(verdicts),
        found=sum(one.found for one in verdicts),
        rejected=sum(one.rejected for one in verdicts),
        failed=sum(one.failed for one in verdicts),
    )


def _latency(scanning: Scanning, texts: Sequence[str]) -> Latency:
    """The times of all texts, without those of the first round, in which patterns are compiled."""
    best = [_timed(scanning.findings, text) for text in texts]
    best = [float("inf")] * len(best)
    for _ in range(ROUNDS):
        best = [min(took, _timed(scanning.findings, text)) for took, text in zip(best, texts, strict=True)]
    best.sort()
    return Latency(p50=_at(best, 0.5), p95=_at(best, 0.95), p99=_at(best, 0.99))


def _timed(findings: Callable[[str], object], text: str) -> float:
    before = time.perf_counter()
    findings(text)
    return time.perf_counter() - before


def _at(ordered: Sequence[float], part: float) -> float:
    return ordered[min(int(len(ordered) * part), len(ordered) - 1)]


def _show(report: Report, path: Path) -> None:
    """The report as a Markdown table."""
    print(f"data: {path}, the development side: those who wrote the rules have looked at it")
    print(f"scanners: {report.version}\ncore speed: {report.core_speed}\n")
    print("| lines | label | of | found | share | rejected | share | not scanned |")
    print("|---|---|---|---|---|---|---|---|")
    for share in report.shares:
        aside = " (kept aside)" if any(name in share.group for name in KEPT_ASIDE) else ""
        print(
            f"| {share.group}{aside} | {share.label} | {share.lines}"
            f" | {share.found} | {_percent(share.found, share)}"
            f" | {share.rejected} | {_percent(share.rejected, share)} | {share.failed} |"
        )
    print(f"\none text of {CHARACTERS} characters, one core:")
    print(f"- the rules: {_times(report.latency)}")
    print(f"- all scanners that ship, the classifier among them: {_times(report.latency_with_classifier)}")
    print("found: any finding of kind attack, credential or sensitive. rejected: attack or credential.")


def _times(latency: Latency) -> str:
    named = (("p50", latency.p50), ("p95", latency.p95), ("p99", latency.p99))
    return ", ".join(f"{name} {seconds * 1e3:.3f} ms" for name, seconds in named)


def _percent(count: int, share: Share) -> str:
    return f"{count / share.lines:.1%}" if share.lines else ""


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.scanners", description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA, help="folder that holds threats/dev.jsonl")
    parser.add_argument("--json", type=Path, help="file for every figure, for programs")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())

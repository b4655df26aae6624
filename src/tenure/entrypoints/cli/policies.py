"""`tenure policy`: what decides on writes, shown, checked, and tried before it is switched on (SPEC I4)."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from tenure.config import document_in_force
from tenure.core.errors import InvalidRequest
from tenure.core.policy_documents import Document, asked, digest, encode, read
from tenure.core.policy_doubts import doubts, gaps
from tenure.core.policy_reading import DOCUMENT_CHARACTERS_MAX, BadPolicy
from tenure.core.vocabulary import Outcome
from tenure.entrypoints.cli import options
from tenure.entrypoints.cli.files import contents
from tenure.entrypoints.cli.output import columns, note, progress, say
from tenure.entrypoints.replies import EXIT_FAILED

if TYPE_CHECKING:
    # Only named here: loading them is for the command that opens a store.
    from tenure.core.admission import Rule
    from tenure.entrypoints.control.policies import TenantChange
    from tenure.usecases.policy_replay import Counted, Replayed

app = typer.Typer(help="The policy that decides what is let in.", rich_markup_mode=None)

CHANGES_SHOWN_MAX = 100
_COUNTED = ("count", "today", "by", "then", "by")

File = Annotated[str, typer.Argument(metavar="FILE", help="The policy, as TOML.")]


@app.command("show")
def show(
    *, data: options.Data = None, database_url: options.DatabaseUrl = None, as_json: options.Json = False
) -> None:
    """Print the policy in force, as a document with its tests.

    It is the one that TENURE_POLICY_FILE names, otherwise the one that ships: a start for your own.
    """
    document = document_in_force(options.loaded(data, database_url).settings)
    policy, text = document.policy, encode(document.policy, document.cases)
    said = {"version": policy.version, "digest": digest(policy), "document": text}
    say(said, text.splitlines(), as_json=as_json)


@app.command("check")
def check(file: File, *, as_json: options.Json = False) -> None:
    """Check a policy, run its tests and print its rules.

    Names every mistake and every test that fails with its line. Says what no rule is about, and warns of what
    can be done and is seldom meant.
    """
    document = _document(_text(file), file, as_json=as_json)
    policy, fallen = document.policy, gaps(document.policy)
    rows = [_row(number, rule) for number, rule in enumerate(policy.rules, start=1)]
    warnings = doubts(policy)
    said = {
        "valid": True,
        "version": policy.version,
        "digest": digest(policy),
        "rules": rows,
        "tests": len(document.cases),
        "gaps": fallen,
        "warnings": warnings,
    }
    header = ("#", "rule", "outcome", "trust", "seconds at most", "when")
    table = columns(header, [[str(cell or "") for cell in row.values()] for row in rows])
    passed = f"{len(document.cases)} tests passed" if document.cases else "no tests"
    lines = [f"{policy.version}: {len(rows)} rules, {passed}, digest {digest(policy)}", *table]
    lines += [
        f"gap: no rule is surely about {gap.source_type} with {', '.join(gap.kinds)}; what meets none waits"
        for gap in fallen
    ]
    say(said, [*lines, *(f"warning: {warning}" for warning in warnings)], as_json=as_json)


@app.command("replay")
def replay(
    file: File,
    *,
    tenant: options.AnyTenant = None,
    data: options.Data = None,
    database_url: options.DatabaseUrl = None,
    as_json: options.Json = False,
) -> None:
    """Show what a policy would change.

    Runs it over every memory that stands and every proposal that was refused. Nothing is written.
    """
    from tenure.entrypoints.control.policies import PolicyReplayed, ReplayPolicyArguments, TenantChange
    from tenure.entrypoints.control.reaching import reach

    text = _text(file)
    _document(text, file, as_json=as_json)
    settings = options.existing(options.loaded(data, database_url).settings)
    changes: list[TenantChange] = []
    replayed = PolicyReplayed(tenants=())
    with reach(settings) as reached, progress("replaying", unit="events") as advance:
        for line in reached.lines(ReplayPolicyArguments(policy=text, tenant=tenant)):
            if line.progress is not None:
                advance(line.progress.done, line.progress.total)
            elif isinstance(line.item, msgspec.Raw):
                changes.append(msgspec.json.decode(line.item, type=TenantChange))
            elif isinstance(line.result, msgspec.Raw):
                replayed = msgspec.json.decode(line.result, type=PolicyReplayed)
    lines = [line for each in replayed.tenants for line in _story(each, changes)]
    said = {"tenants": replayed.tenants, "changes": changes}
    say(said, lines or ["There is nothing to replay it over."], as_json=as_json)
    if any(_is_called_alike(each) for each in replayed.tenants) and not as_json:
        note("this policy has the version of the one in force and other rules: give it a version of its own")


def _text(file: str) -> str:
    try:
        return contents(Path(file), size_bytes_max=4 * DOCUMENT_CHARACTERS_MAX).decode()
    except UnicodeDecodeError:
        raise InvalidRequest(f"{file} is not text in UTF-8", field="file") from None


def _document(text: str, file: str, *, as_json: bool) -> Document:
    """The policy with its tests; where there is none, says every mistake and ends the command."""
    try:
        return read(text)
    except BadPolicy as bad:
        mistakes = [{"line": mistake.line, "says": mistake.says} for mistake in bad.mistakes]
        lines = [f"{file}: {mistake}" for mistake in bad.mistakes]
        say({"valid": False, "mistakes": mistakes}, lines, as_json=as_json)
        raise typer.Exit(EXIT_FAILED) from None


def _row(number: int, rule: "Rule") -> dict[str, str | int | None]:
    return {
        "number": number,
        "rule": rule.name,
        "outcome": rule.outcome,
        "trust": rule.trust if rule.outcome is Outcome.APPROVE else None,
        "lifetime_seconds": int(rule.lifetime.total_seconds()) if rule.lifetime is not None else None,
        "when": asked(rule.when),
    }


def _is_called_alike(replayed: "Replayed") -> bool:
    """Whether two policies that differ have one version."""
    running, candidate = replayed.in_force, replayed.candidate
    return running.version == candidate.version and running.digest != candidate.digest


def _story(replayed: "Replayed", changes: list["TenantChange"]) -> Iterator[str]:
    """What a replay came to in one tenant, for a person."""
    yield f"{replayed.tenant}: {replayed.in_force.version} → {replayed.candidate.version}"
    yield f"  {replayed.examined:,} memories stand; {replayed.reviewed:,} were let in by a reviewer and stay"
    yield f"  {replayed.held:,} are active and would be held back for review"
    yield f"  {replayed.stays_quarantined:,} wait, would be judged otherwise, and go on waiting"
    yield f"  {replayed.keeps_trust:,} would get less trust today, and keep what they have"
    if replayed.unread:
        yield f"  {replayed.unread:,} cannot be opened any more, and stay as they are"
    for rule in replayed.custom_rules:
        yield (
            f"  the custom rule {rule.name} {rule.version} decides {rule.decided:,}; it cannot tell of"
            f" {rule.untold:,} and fails for {rule.failed:,}"
        )
    yield from _counts("memories, by rule", replayed.memories)
    yield from _counts("proposals that were refused", replayed.refused)
    mine = [each.change for each in changes if each.tenant == replayed.tenant]
    if mine:
        rows = [
            (
                str(one.memory_id),
                one.subject,
                one.kind,
                f"{one.source_type} {one.source_id}",
                f"{one.before} by {one.before_rule}",
                f"{one.after} by {one.after_rule}",
                str(one.effect),
            )
            for one in mine[:CHANGES_SHOWN_MAX]
        ]
        header = ("memory", "subject", "kind", "source", "today", "then", "effect")
        yield from ("", *columns(header, rows))
    if len(mine) > CHANGES_SHOWN_MAX:
        yield f"… and {len(mine) - CHANGES_SHOWN_MAX:,} more: --json lists them all"


def _counts(title: str, counted: tuple["Counted", ...]) -> Iterator[str]:
    if not counted:
        return
    rows = [(f"{one.count:,}", one.before, one.before_rule, one.after, one.after_rule) for one in counted]
    yield from ("", title, *columns(_COUNTED, rows))

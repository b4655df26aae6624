"""`tenure recall` and `tenure neighbours`: what an agent would be shown, for whoever owns the store."""

from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Annotated
from uuid import UUID

import typer

from tenure.entrypoints.cli import options
from tenure.entrypoints.cli.output import printable, say

if TYPE_CHECKING:
    # Only named here: loading it is for the command that asks.
    from tenure.core.retrieval import Found

Questions = Annotated[
    list[str] | None,
    typer.Argument(metavar="[QUERY]...", help="What to ask; of several, each memory counts by its best."),
]
Agent = Annotated[str, typer.Option("--agent", metavar="AGENT", help="As which agent to ask.")]
Purpose = Annotated[str, typer.Option("--purpose", metavar="PURPOSE", help="For which purpose to ask.")]
AnySubject = Annotated[
    str | None, typer.Option("--subject", metavar="SUBJECT", help="Whom it is about. [default: anybody]")
]
Kinds = Annotated[
    list[str] | None, typer.Option("--kind", metavar="KIND", help="Only of this kind; may be given again.")
]
KeyPrefix = Annotated[
    str | None, typer.Option("--key-prefix", metavar="TEXT", help="Only with a key that begins so.")
]
Since = Annotated[
    datetime | None,
    typer.Option(
        "--since",
        metavar="TIME",
        formats=options.TIME_FORMATS,
        help="Only what was written from then on: 2027-01-31; UTC unless it says otherwise.",
    ),
]
Until = Annotated[
    datetime | None,
    typer.Option(
        "--until", metavar="TIME", formats=options.TIME_FORMATS, help="Only what was written before then."
    ),
]
TimeZone = Annotated[
    str | None,
    typer.Option(
        "--time-zone", metavar="ZONE", help="For dates in the question: Europe/Paris. [default: UTC]"
    ),
]
MinTrust = Annotated[
    str | None, typer.Option("--min-trust", metavar="TRUST", help="Only what is trusted at least so much.")
]
AtScope = Annotated[
    str | None, typer.Option("--scope", metavar="TIER:ID", help="As seen from this scope, and outward.")
]
Limit = Annotated[int, typer.Option("--limit", metavar="N", help="At most so many memories.")]
Budget = Annotated[
    int | None, typer.Option("--budget-tokens", metavar="N", help="At most so many tokens of context.")
]
Tokenizer = Annotated[
    str | None, typer.Option("--tokenizer", metavar="NAME", help="What counts them. [default: an estimate]")
]
AsOf = Annotated[
    datetime | None,
    typer.Option(
        "--as-of", metavar="TIME", formats=options.TIME_FORMATS, help="As it would have been answered then."
    ),
]
ValidAt = Annotated[
    datetime | None,
    typer.Option(
        "--valid-at", metavar="TIME", formats=options.TIME_FORMATS, help="What is said to hold at that time."
    ),
]
Explain = Annotated[bool, typer.Option("--explain", help="Show each score in its parts; with --json.")]
Probe = Annotated[bool, typer.Option("--probe", help="Look at what stale ones name, where allowed.")]
Before = Annotated[int, typer.Option("--before", metavar="N", help="So many before it in its thread.")]
After = Annotated[int, typer.Option("--after", metavar="N", help="So many after it.")]


def recall(
    queries: Questions = None,
    *,
    tenant: options.Tenant,
    agent: Agent,
    purpose: Purpose,
    subject: AnySubject = None,
    kinds: Kinds = None,
    key_prefix: KeyPrefix = None,
    since: Since = None,
    until: Until = None,
    time_zone: TimeZone = None,
    min_trust: MinTrust = None,
    scope: AtScope = None,
    session: options.InSession = None,
    user: options.OfUser = None,
    limit: Limit = 10,
    budget_tokens: Budget = None,
    tokenizer: Tokenizer = None,
    as_of: AsOf = None,
    valid_at: ValidAt = None,
    explain: Explain = False,
    probe: Probe = False,
    data: options.Data = None,
    database_url: options.DatabaseUrl = None,
    as_json: options.Json = False,
) -> None:
    """Ask the memories of one agent and purpose, and show what the agent would be shown.

    Without a question come the newest of what the options narrow to.
    """
    from tenure.core.retrieval import Found, Recall
    from tenure.core.vocabulary import Kind, Trust
    from tenure.entrypoints.control.reaching import answer, reach
    from tenure.entrypoints.control.recalls import RecallArguments

    asked = Recall(
        agent=agent,
        purpose=purpose,
        queries=tuple(queries or ()),
        subject=subject,
        scope=options.scope_of(scope, session, user),
        kinds=tuple(options.word(Kind, kind, "kind") for kind in kinds or ()),
        key_prefix=key_prefix,
        since=options.in_utc(since),
        until=options.in_utc(until),
        time_zone=time_zone,
        min_trust=options.word(Trust, min_trust, "min-trust") if min_trust is not None else None,
        limit=limit,
        budget_tokens=budget_tokens,
        tokenizer=tokenizer,
        as_of=options.in_utc(as_of),
        valid_at=options.in_utc(valid_at),
        explain=explain,
        probe=probe,
    )
    with reach(options.existing(options.loaded(data, database_url).settings)) as reached:
        found = answer(reached, RecallArguments(tenant=tenant, recall=asked), Found)
    say(found, _lines(found), as_json=as_json)


def neighbours(
    memory_id: Annotated[UUID, typer.Argument(metavar="MEMORY_ID", help="The memory.")],
    *,
    before: Before = 2,
    after: After = 2,
    tenant: options.AnyTenant = None,
    data: options.Data = None,
    database_url: options.DatabaseUrl = None,
    as_json: options.Json = False,
) -> None:
    """Show a memory and what stood around it in its thread, in the thread's order."""
    from tenure.core.neighbours import Around
    from tenure.core.retrieval import Found
    from tenure.entrypoints.control.reaching import answer, reach
    from tenure.entrypoints.control.recalls import NeighboursArguments

    around = Around(before=before, after=after)
    with reach(options.existing(options.loaded(data, database_url).settings)) as reached:
        arguments = NeighboursArguments(memory_id=memory_id, around=around, tenant=tenant)
        found = answer(reached, arguments, Found)
    say(found, _lines(found), as_json=as_json)


def _lines(found: "Found") -> Iterator[str]:
    """The block that an agent would be given, and what came of the question."""
    if found.context:
        yield printable(found.context)
    for item in found.items:
        if item.probe is not None:
            yield f"probe      {item.memory.id}  {item.probe.outcome}: {item.probe.note}"
    memories = "memory" if len(found.items) == 1 else "memories"
    yield f"{len(found.items):,} {memories}, {found.tokens:,} tokens"
    skipped = found.skipped
    if skipped.budget or skipped.scan or skipped.together:
        yield f"left out: {skipped.budget} by the budget, {skipped.scan + skipped.together} by the scanners"
    if skipped.contradicted:
        yield f"left out: {skipped.contradicted} since another is believed before; a person has to decide"
    if found.rankers:
        yield f"ranked by  {', '.join(found.rankers)}"
    if found.without:
        yield f"WITHOUT    {', '.join(found.without)}"
    yield f"receipt    {found.receipt_id}"

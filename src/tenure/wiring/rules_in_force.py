"""From what an operator set to the rules that every request is held to."""

from datetime import timedelta

import msgspec

from tenure.config import Settings, outcome_of_failure, policy_in_force
from tenure.core.custom_rules import CustomRule
from tenure.core.identity import Tier
from tenure.core.retention import Ladder
from tenure.core.review import ReviewRules
from tenure.core.toolguard import Sensitive, Tools
from tenure.core.truth import Doubt
from tenure.core.watching import AlertKind, Threshold, WatchRules
from tenure.core.write_facts import WriteRules
from tenure.usecases.pipeline import Rules
from tenure.usecases.recording import Reads


def rules(settings: Settings, *, custom: tuple[CustomRule, ...] = ()) -> Rules:
    """What an operator set, as the rules take it."""
    retention, admission, recall = settings.retention, settings.admission, settings.recall
    return Rules(
        write=WriteRules(
            policy=policy_in_force(settings),
            truth=settings.truth.rules,
            custom=custom,
            on_failure=outcome_of_failure(settings),
            defers_failures=admission.on_scanner_failure == "defer",
            ladder=Ladder(
                task=timedelta(seconds=retention.task_seconds),
                session=timedelta(seconds=retention.session_seconds),
                user=timedelta(seconds=retention.user_seconds),
                inherits=frozenset(
                    tier
                    for tier, inherits in (
                        (Tier.TASK, retention.task_inherits),
                        (Tier.SESSION, retention.session_inherits),
                    )
                    if inherits
                ),
                probe_margin=timedelta(seconds=retention.probe_margin_seconds),
            ),
        ),
        doubt=Doubt(
            stale_after=timedelta(seconds=recall.stale_after_seconds),
            stale_below_freshness=recall.stale_below_freshness,
        ),
        content_characters_max=admission.content_characters_max,
        recall_items_max=recall.items_max,
        language=recall.language,
        source_share_max=recall.source_share_max,
        tools=_tools(settings),
        refuses_undeclared_tools=settings.tools_undeclared == "refuse",
        reads=Reads(settings.evidence.reads),
        log_name=settings.evidence.log_name,
        checkpoint_every=timedelta(seconds=settings.evidence.checkpoint_seconds),
        watch=_watch_rules(settings),
        review=ReviewRules(
            second_reviewer_kinds=frozenset(settings.review.second_reviewer_kinds),
            second_reviewer_findings=frozenset(settings.review.second_reviewer_findings),
        ),
    )


def _watch_rules(settings: Settings) -> WatchRules:
    """From where on something is an alert."""
    chosen = msgspec.structs.asdict(settings.alerts)
    return WatchRules(
        **{
            kind.value: Threshold(
                count=chosen[f"{kind}_count"], within=timedelta(seconds=chosen[f"{kind}_seconds"])
            )
            for kind in AlertKind
        }
    )


def _tools(settings: Settings) -> Tools:
    return {
        name: {
            path: Sensitive(resolver=one.resolver, describe=one.describe)
            for path, one in tool.parameters.items()
        }
        for name, tool in settings.tools.items()
    }

"""Typed settings, each with a default and a line of help; what is wrong fails at start with a clear message.

`settings` says what can be set, `describing` lists it for people and the documentation, `loading` reads it;
`policies` reads the policy that they name.
"""

from tenure.config.describing import Setting, declared, markdown_table
from tenure.config.embedding import Embedding
from tenure.config.loading import ConfigError, Explained, Loaded, load
from tenure.config.policies import document_in_force, outcome_of_failure, policy_in_force
from tenure.config.probes import Probes
from tenure.config.scanners import Scanning
from tenure.config.settings import (
    Admission,
    Alerts,
    Evidence,
    Jwt,
    Keys,
    Log,
    RateLimit,
    Recall,
    Retention,
    Review,
    Server,
    Settings,
    Upkeep,
)
from tenure.config.truth import Truth

__all__ = [
    "Admission",
    "Alerts",
    "ConfigError",
    "Embedding",
    "Evidence",
    "Explained",
    "Jwt",
    "Keys",
    "Loaded",
    "Log",
    "Probes",
    "RateLimit",
    "Recall",
    "Retention",
    "Review",
    "Scanning",
    "Server",
    "Setting",
    "Settings",
    "Truth",
    "Upkeep",
    "declared",
    "document_in_force",
    "load",
    "markdown_table",
    "outcome_of_failure",
    "policy_in_force",
]

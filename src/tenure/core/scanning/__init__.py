"""Scanners that look for credentials, attacks and sensitive content in a text, and the call that runs them.

A scanner only ever adds doubt: what it finds may quarantine or reject, what it does not find proves nothing
(SPEC M5b). Read `running` first; `normalising` and `decoding` make the views, the other files hold the rules.
"""

from tenure.core.scanning.findings import Finding, FindingKind
from tenure.core.scanning.running import SCANNER_VERSION, scan

__all__ = ["SCANNER_VERSION", "Finding", "FindingKind", "scan"]

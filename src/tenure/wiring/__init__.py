"""Where ports meet what fills them: the one package that names a database or an engine.

`opening` opens a store and `root_keys` what unlocks it; `node` is what then runs, by the `rules_in_force` and
with the `scanners` that the settings name; `authentication` says who calls.
"""

from tenure.wiring.authentication import Authenticator, authenticator
from tenure.wiring.node import ClosableStore, Keys, Node
from tenure.wiring.opening import open_database, open_node, open_store
from tenure.wiring.root_keys import rotate_root_key
from tenure.wiring.rules_in_force import rules

__all__ = [
    "Authenticator",
    "ClosableStore",
    "Keys",
    "Node",
    "authenticator",
    "open_database",
    "open_node",
    "open_store",
    "rotate_root_key",
    "rules",
]

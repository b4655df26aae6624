"""The scanner for what does not belong in memory unseen: payments, access rules, identities (SPEC L4).

None of it is an attack by itself. It waits for a person, so these rules may be wrong more often than others.
"""

from tenure.core.scanning.access import ACCESS, IDENTITY
from tenure.core.scanning.destinations import DESTINATIONS
from tenure.core.scanning.granting import GRANTING
from tenure.core.scanning.matching import RulePack
from tenure.core.scanning.passwords import PASSWORD_WORDS
from tenure.core.scanning.payments import NUMBERS, PAYMENTS
from tenure.core.scanning.spelled_numbers import SPELLED
from tenure.core.scanning.standing import STANDING
from tenure.core.scanning.together import TOGETHER
from tenure.core.scanning.waiving import WAIVING

_MONEY = (*NUMBERS, *SPELLED, *PAYMENTS, *DESTINATIONS)
_RIGHTS = (*ACCESS, *GRANTING, *WAIVING)
_PEOPLE = (*IDENTITY, *STANDING, *PASSWORD_WORDS)

SENSITIVE = RulePack("sensitive", "3", (*_MONEY, *_RIGHTS, *_PEOPLE, *TOGETHER))

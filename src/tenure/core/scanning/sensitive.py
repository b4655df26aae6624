"""The scanner for what does not belong in memory unseen: payments, access rules, identities (SPEC L4).

None of it is an attack by itself. It waits for a person, so these rules may be wrong more often than others.
"""

from tenure.core.scanning.access import ACCESS, IDENTITY
from tenure.core.scanning.matching import RulePack
from tenure.core.scanning.passwords import PASSWORD_WORDS
from tenure.core.scanning.payments import NUMBERS, PAYMENTS

SENSITIVE = RulePack("sensitive", "1", (*NUMBERS, *PAYMENTS, *ACCESS, *IDENTITY, *PASSWORD_WORDS))

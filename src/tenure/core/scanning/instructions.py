"""The scanner for text that tries to instruct the agent: precision first, since what it finds is rejected.

Its rules look for what an attack has to say, not for one wording of it: a verb that sets something aside and
earlier instructions, a question for the prompt, a new role, a forged turn, secrecy towards the user, a way
out for the conversation, a trigger with an action behind it, a standing order for the memory itself.
"""

from tenure.core.scanning.acting import FRAMES, HOSTILE, PRESSURE
from tenure.core.scanning.asking import ABOUT_ITSELF, ABOVE, ACTS
from tenure.core.scanning.foreign import FOREIGN
from tenure.core.scanning.leaking import PROMPTS, SECRETS
from tenure.core.scanning.loosening import LOOSENING, ROLES
from tenure.core.scanning.matching import RulePack
from tenure.core.scanning.overriding import OVERRIDE, PROMPT_LEAK
from tenure.core.scanning.planting import CAPTURE, PLANTED, TRUST
from tenure.core.scanning.posing import CLAIMED, FORGED, NO_LIMIT, ROLE
from tenure.core.scanning.steering import COMMANDS, EXFILTRATION, SECRECY, STANDING, TRIGGER
from tenure.core.scanning.translated import TRANSLATED

INSTRUCTIONS = RulePack(
    "instructions",
    "4",
    (
        *OVERRIDE,
        *PROMPT_LEAK,
        *TRANSLATED,
        *ROLE,
        *NO_LIMIT,
        *FORGED,
        *CLAIMED,
        *SECRECY,
        *EXFILTRATION,
        *TRIGGER,
        *STANDING,
        *COMMANDS,
        *LOOSENING,
        *ROLES,
        *PROMPTS,
        *SECRETS,
        *PLANTED,
        *TRUST,
        *CAPTURE,
        *HOSTILE,
        *PRESSURE,
        *FRAMES,
        *FOREIGN,
        *ABOUT_ITSELF,
        *ABOVE,
        *ACTS,
    ),
)

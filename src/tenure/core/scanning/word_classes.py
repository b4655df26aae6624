"""What words are for in a sentence that may be an order: the classes that the classifier counts beside words.

One word has one class: the first that lists it. Weights are learned for these very lists, so whoever changes
one has to train again (`make train-classifier`).
"""

from typing import Final

CLASSES: Final[dict[str, str]] = {
    "overriding": """ignore ignores ignoring ignored disregard disregarding forget bypass bypasses
        bypassing override overrides overriding overrule circumvent skip skips discard overlook
        neglect violate violating breach defy abandon contravene evade disable disables disabling
        disabled deactivate remove suspend suppress drop supersede supersedes replaces disobey
        exempt waive waived erase unlock overwrite reset sidestep dismiss nullify void cancel stop""",
    "revealing": """reveal reveals revealing show shows print prints output outputs outputting
        display expose exposes disclose discloses leak leaks share sharing repeat echo dump recite
        divulge spill unveil quote translate describe summarize respond reply replies responds say
        says answer answers""",
    "sending": """send sends sending sent forward forwards forwarding email mail post posts posting
        upload uploads transmit exfiltrate exfil copy cc bcc export exports deliver relay publish
        ship submit append embed attach include encode""",
    "executing": """run runs running execute executes executing call calls calling invoke invokes
        eval exec spawn install download curl wget fetch bash sudo rm inject injecting injection
        delete deletes poison tamper modify replace""",
    "agent": """assistant assistants ai ais model models chatbot chatbots bot bots llm llms gpt
        chatgpt agent agents claude copilot openai aim dan machine""",
    "instruction": """instruction instructions prompt prompts rule rules guideline guidelines policy
        policies directive directives constraint constraints restriction restrictions guardrail
        guardrails filter filters filtering safeguard safeguards programming configuration config
        limitations limits protocols protocol safety ethics ethical moderation boundaries orders
        commands context training mandate""",
    "permission": """allow allows allowed approve approves approved approval authorise authorize
        authorised authorized grant grants granted trust trusted permit permitted whitelist
        allowlist exempted permission permissions privilege privileges exception exceptions accept""",
    "credential": """password passwords key keys token tokens secret secrets credential credentials
        passphrase pin otp cookie cookies login mfa 2fa ssn env""",
    "earlier": """previous prior above earlier preceding initial original existing former past
        hidden internal underlying""",
    "you": "you your yours yourself u ur you're you've",
    "me": "me my i mine",
    "user": "user users customer customers client human person owner employee employees victim",
    "unseen": """silently secretly quietly covertly discreetly invisible undetected unnoticed unseen
        confidential stealthily""",
    "telling": """telling tell mention mentioning notify notifying notified inform informing asking
        ask warn warning log logging verify verification confirmation confirm confirming checking
        review""",
    "negation": "no not never don't dont without cannot can't won't shouldn't nothing none",
    "always": "always every all any each whenever everything anything",
    "standing": "permanently forever henceforth onwards future default automatically persistently going",
    "condition": "when if after once next before until unless upon while",
    "persona": """pretend act acting roleplay imagine simulate persona character fictional
        hypothetical hypothetically role play embody evil story""",
    "unbound": """unrestricted unlimited uncensored unfiltered jailbreak jailbroken freely
        unmoderated amoral illegal harmful unethical dangerous malicious""",
    "authority": """admin administrator developer root system superuser operator maintainer
        supervisor security headquarters compliance""",
    "urgent": "immediately urgent urgently important critical priority attention now",
    "memory": """memory memories remember remembers store stores save saved note persist memorize
        recall stored recorded""",
    "payment": """payment payments account accounts invoice invoices iban bank wallet transfer
        transfers fund funds pay pays refund refunds wire payout crypto bitcoin eth balance money""",
    "data": """data database records conversation conversations history file files information
        messages contacts documents logs emails inbox""",
    "destination": "external attacker webhook endpoint server url http https link site address",
    "modal": "must should shall will can could may might would need",
}
_FUNCTION_WORDS: Final = """a an the to of in on for with from by as at and or but is are be was were
    this that these those it its what how why who which do does did have has had there"""
FUNCTION_WORDS: Final = frozenset(_FUNCTION_WORDS.split())
"""Words that stand for themselves among the classes."""
MARKS: Final = frozenset(".,;:!?\"'`()[]{}<>=/-*")
"""Characters that stand for themselves among the classes."""


def class_of_words() -> dict[str, str]:
    """The class of each word that has one."""
    found: dict[str, str] = {}
    for name, words in CLASSES.items():
        for word in words.split():
            found.setdefault(word, name)
    return found

"""The vocabulary of attacks on an agent, in the notation of `phrase`, and how the words of each group begin.

Words that ordinary notes use as well (rules, context, messages) are kept out of the wide groups: a rule that
needs them says so itself.
"""

import re

from tenure.core.scanning.matching import any_of
from tenure.core.scanning.normalising import View

SET_ASIDE = any_of(
    "ignor(?:e|es|ed|ing)|disregard(?:ed|ing)?|forget(?:ting)?|overrid(?:e|ing)|overrul(?:e|ing)|dismiss",
    "bypass(?:ing)?|neglect(?:ing)?|discard(?:ing)?|abandon|set aside|throw out|pay no attention to|unlearn",
    "stop (?:following|obeying)|(?:do not|don't|never) (?:follow|obey|comply with)",
)
SET_ASIDE_STARTS = (
    "ignore disregard forget override overrule dismiss bypass neglect discard abandon aside throw attention"
    " following obeying follow obey comply unlearn"
)
SET_ASIDE_LEADS = (
    "ignore disregard forget override overrule dismiss bypass neglect discard abandon set throw pay stop do"
    " don never unlearn"
)
EARLIER = any_of(
    "previous(?:ly)?|prior|earlier|preceding|above|foregoing|former|past|original|initial|pre-existing"
)
EARLIER_STARTS = "previous prior earlier preceding above foregoing former past original initial existing"
ORDERS = any_of(
    "instructions?|directives?|directions?|prompts?|commands?|guidelines?|guidance|guardrails?|programming",
    "training|constraints?|restrictions?|rules?|polic(?:y|ies)|safeguards?|protocols?|limitations?",
)
ORDERS_STARTS = (
    "instructions directives prompts commands guidelines guidance guardrails programming"
    " training constraints restrictions rules rule policy policies safeguards protocols limitations"
)
MADE_FOR_AGENTS = any_of(
    "system|developer|safety|content|ethical|moral|moderation|built-in|core|hidden|security|operator"
)
LIMITS = any_of(
    "restrictions?|limits?|limitations?|filters?|filtering|guidelines?|rules|constraints?|guardrails"
    "|boundaries",
    "censorship|safeguards|morals|ethics|content polic(?:y|ies)|polic(?:y|ies)|disclaimers|refusals?",
)
LIMITS_STARTS = (
    "restrictions limits limit filters filtering guidelines rules constraints guardrails boundaries"
    " censorship safeguards morals ethics content policy policies disclaimers refusals"
)
SAFETY = any_of("safety|content|ethical|ethics|moral|moderation|alignment|guardrail|censorship|rlhf")
SAFETY_STARTS = "safety content ethical ethics moral moderation alignment guardrail censorship rlhf"
MECHANISMS = any_of(
    "filters?|filtering|checks?|guidelines?|guardrails?|protocols?|restrictions?|mechanisms?|controls?"
    "|settings?",
    "measures?|polic(?:y|ies)|rules?|systems?|constraints?|layers?|features?|training|limits?|limitations?",
    "moderation|safeguards?|boundaries",
)
SYSTEM_PROMPT = any_of(
    "system (?:prompts?|instructions?|directives?)|(?:initial|original|hidden|secret|internal|full|exact"
    "|confidential) (?:system )?(?:prompts?|instructions?|directives?)",
    "pre-?prompt|prompt (?:verbatim|word for word)",
)
OWN_PROMPT = any_of(
    SYSTEM_PROMPT,
    "(?:system|developer) messages?|instructions?|prompts?|prompting|directives?|guidelines|programming",
    "(?:behaviou?ral|operational|safety) constraints",
)
OWN_PROMPT_STARTS = (
    "prompts prompting preprompt pre messages instructions directives guidelines programming constraints"
)
TELL = any_of(
    "reveal(?:ing|ed)?|show|print|output|display|repeat|recite|disclose|leak|dump|expose|echo|give me"
    "|tell me|share",
    "paste|spell out|read out|say|reproduce|provide me with|uncover|extract|return|write out|transcribe"
    "|translate",
    "format|encode|summari[sz]e|enumerate|rephrase|paraphrase|quote|convert|describe in detail|divulge",
)
TELL_STARTS = (
    "reveal show print output display repeat recite disclose leak dump expose echo give tell share paste"
    " spell read"
    " say reproduce provide uncover extract return write transcribe translate format encode summarize"
    " enumerate rephrase paraphrase quote convert describe divulge"
)
NO_LIMITS = any_of(
    "unrestricted|unfiltered|uncensored|jailbroken|jailbreak|amoral|unethical|evil|unaligned|unmoderated"
    "|lawless",
    "limitless",
)
NO_LIMITS_STARTS = (
    "unrestricted unfiltered uncensored jailbroken amoral unethical evil unaligned unmoderated lawless"
    " limitless"
)
THE_USER = any_of("(?:the |any |your |this |our )?(?:end )?(?:users?|owners?|humans?|operators?)")
THE_PEOPLE = any_of(
    "(?:the |any |your |this |our )?(?:users?|owners?|humans?|operators?|customers?|clients?|admins?"
    "|administrators?|team|anyone|anybody|them|account holder)"
)
SEND = any_of(
    "send(?:ing)?|forward(?:ing)?|post(?:ing)?|upload(?:ing)?|cop(?:y|ying)|b?cc|transmit|exfiltrat(?:e"
    "|ing)|leak",
    "e?mail|submit|push|export|deliver|route|relay|mirror|append|pipe|ship|encode|embed|attach|dump|stream"
    "|sync",
)
SEND_STARTS = (
    "send sending forward post posting upload copy copying cc bcc transmit exfiltrate leak email mail"
    " submit push export deliver route relay mirror append pipe ship encode embed attach dump stream sync"
)
PRIVATE = any_of(
    "conversations?|chats?|chat (?:history|logs?)|(?:session|message|browsing|search) (?:history|contents?"
    "|data)",
    "(?:chat|conversation|session) transcripts?|secrets?|credentials?|api(?: |_|-)?keys?|passwords?|tokens?",
    "cookies|(?:private|secret|ssh|encryption|signing) keys?|(?:all|your|stored|these) memor(?:y|ies)"
    "|system prompts?",
    "env(?:ironment)? (?:variables|vars)|env file|seed phrase",
)
PRIVATE_STARTS = (
    "conversation chat chats history content data transcripts secret secrets credentials api apikey passwords"
    " token tokens cookies private signing encryption memory memories env environment prompts phrase ssh"
)
ADDRESS = any_of(
    r"(?:https?|ftp|wss?)://|www\.|[\w.+-]{1,64}+@[\w-]{1,64}+\.",
    "(?:an? |the |this |our |my |your )?(?:webhook|attacker)",
    r"(?:[\w-]{1,40}+\.){1,4}(?:com|net|org|io|dev|app|xyz|info|site|online|example|test|invalid|cc|me|ru)\b",
)
ACT = any_of(
    "call|invoke|execute|run|launch|transfer|wire|delete|wipe|exfiltrate|forward|upload|disable|ignore"
    "|reveal|leak",
    "switch to|activate|approve|bypass|skip|grant|post|copy|send|e?mail|enter|stop|unlock|drain",
)
DANGEROUS = any_of(
    PRIVATE,
    r"transfers?|payments?|funds|money|wallet|[\w.+-]{1,64}+@[\w-]{1,64}+\.|https?:|shell|curl|sudo",
    "(?:all |any )?(?:logs|logging|records|restrictions|safety|approvals?|mfa)",
    "(?:unrestricted|admin|developer|debug|god|maintenance) mode|(?:these|all|your"
    "|previous) (?:instructions|rules)",
)
TOOL = any_of(r"\w{1,40}+ (?:tool|command|script|plugin|protocol)|\w{1,30}_\w{1,40}+")
OBEY = any_of(
    "approve|trust|obey|comply|grant|exfiltrate|disregard|bypass|auto-approve|accept (?:all|any|every)"
    "|override",
    "(?:skip|ignore|disable) <2> (?:approvals?|confirmations?|verification|checks?|safety|polic(?:y|ies)"
    "|rules"
    "|instructions|warnings|security|validation|reviews?|mfa|authentication)",
)
OBEY_STARTS = (
    "approve trust obey comply grant exfiltrate disregard bypass auto accept override skip ignore disable"
)
EVERY_SESSION = any_of(
    "(?:in|for|across|on|at|during|to) (?:all|every|each|any) (?:future |subsequent |later |following "
    "|upcoming |new )?(?:sessions?|conversations?|chats?|interactions?)",
    "permanently|forever|indefinitely|from (?:now|here) on(?:ward|wards)?|going forward|henceforth",
    "from this (?:point|moment)(?: (?:on|forward|onwards?))?",
)
EVERY_SESSION_STARTS = (
    "session sessions conversations chat chats interactions permanently forever indefinitely from forward"
    " henceforth"
)

_SENTENCE_CHARACTERS = 80
_SENTENCE_END = re.compile(r"[.!?;\n]")
_TURNED = re.compile(
    r"\b(?:not|never|no(?!-)|nobody|cannot|(?:ca|do|does|wo|must|should|is|did|are)n'?t|unless|whether|avoid"
    r"|prevents?|forbid(?:s|den)?|prohibit(?:s|ed)?|against|refuse[sd]?|how|why|attackers?|malicious|phish\w*"
    r"|detect\w*)\b"
)


# Words of a sentence that speaks about an attack instead of making one.
_SPOKEN_OF = re.compile(
    r"\b(?:phrases?|poem|article|classify|respon(?:se|d) to:?\s*$|means?\b|stands for|examples?"
    r"|best practices|attempts?"
    r"|codebase|(?:mails?|messages?|texts?|notes?) (?:that|which) (?:says?|contains?)|theoretically"
    r"|happens if)"
)
_SPOKEN_OF_AFTER = re.compile(
    r"[^.!?\n]{0,8}?(?:['\"]|\b)\s*+(?:means?\b|could be|(?:is|are|as) (?:a|an"
    r"|always) <?[^.!?\n]{0,20}?(?:sign|example|attempt"
    r"|attack|metaphor|phrase)|as a metaphor|appears\b|always a jailbreak)"
)
_ASKED = re.compile(
    r"\b(?:how|why|whether|wonder(?:s|ed|ing)?) (?:do|does|did|can|could|should|would|to|if|i|we|you|they)\b"
)
_DENIED = re.compile(r"(?:\bnot|n't|\bnever|\bcannot)\s+(?:[a-z]{1,12}\s+)?$")


def is_not_denied(view: View, match: "re.Match[str]") -> bool:
    """Whether the words just before the match do not forbid it."""
    if _DENIED.search(view.folded[max(0, match.start() - 30) : match.start()]):
        return False
    return not _is_spoken_of(view, match, _sentence_before(view, match))


def is_order(view: View, match: "re.Match[str]") -> bool:
    """Whether nothing around it in its sentence turns the match into its opposite, a question or a report."""
    sentence = _sentence_before(view, match)
    return _TURNED.search(sentence) is None and not _is_spoken_of(view, match, sentence)


def is_not_asked(view: View, match: "re.Match[str]") -> bool:
    """Whether the sentence does not ask about the match, or how it is done."""
    return _ASKED.search(_sentence_before(view, match)) is None


def _sentence_before(view: View, match: "re.Match[str]") -> str:
    """What stands before the match in its sentence."""
    before = view.folded[max(0, match.start() - _SENTENCE_CHARACTERS) : match.start()]
    return _SENTENCE_END.split(before)[-1]


def _is_spoken_of(view: View, match: "re.Match[str]", sentence: str) -> bool:
    """Whether the sentence is about the words of the match."""
    return (
        _SPOKEN_OF.search(sentence) is not None
        or _SPOKEN_OF_AFTER.match(view.folded, match.end(), match.end() + _SENTENCE_CHARACTERS) is not None
    )

"""The vocabulary of attacks on an agent, in the notation of `phrase`, and how the words of each group begin.

Words that ordinary notes use as well (rules, context, messages) are kept out of the wide groups: a rule that
needs them says so itself.
"""

import re

from tenure.core.scanning.matching import any_of
from tenure.core.scanning.normalising import View

SET_ASIDE = any_of(
    "ignor(?:e|es|ed|ing)|disregard(?:ed|ing)?|forget(?:ting)?|overrid(?:e|es|ing)|overrul(?:e|es|ing)"
    "|dismiss",
    "bypass(?:ing)?|neglect(?:ing)?|discard(?:ing)?|abandon|set aside|throw out|pay no attention to|violate",
    "stop (?:following|obeying)|(?:do not|don't|never) (?:follow|obey|comply with)|unlearn|supersede",
)
SET_ASIDE_STARTS = (
    "ignore disregard forget override overrule dismiss bypass neglect discard abandon aside throw attention"
    " violate"
    " following obeying follow obey comply unlearn supersede"
)
EARLIER = any_of(
    "previous(?:ly)?|prior|earlier|preceding|above|foregoing|former|past|original|initial|pre-existing"
)
EARLIER_STARTS = "previous prior earlier preceding above foregoing former past original initial existing"
ORDERS = any_of(
    "instructions?|directives?|directions?|prompts?|commands?|orders|guidelines?|guidance|guardrails?"
    "|programming",
    "training|constraints?|restrictions?|rules?|polic(?:y|ies)|safeguards?|protocols?|limitations?",
)
ORDERS_STARTS = (
    "instructions directives prompts commands orders order guidelines guidance guardrails programming"
    " training"
    " constraints restrictions rules rule policy policies safeguards protocols limitations"
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
    " censorship"
    " safeguards morals ethics content policy policies disclaimers refusals"
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
    "|confidential)"
    " (?:system )?(?:prompts?|instructions?|directives?)",
    "pre-?prompt|prompt (?:verbatim|word for word)",
)
OWN_PROMPT = any_of(
    SYSTEM_PROMPT,
    "(?:system|developer) messages?|instructions?|prompts?|prompting|directives?|configuration|guidelines",
    "(?:behaviou?ral|operational|safety) constraints|restrictions|programming|initiali[sz]ation"
    "|system settings",
)
OWN_PROMPT_STARTS = (
    "prompts preprompt pre messages instructions directives configuration guidelines constraints restrictions"
    " programming initialization settings"
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
    " enumerate"
    " rephrase paraphrase quote convert describe divulge"
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
    "|administrators?"
    "|team|anyone|anybody|them|account holder)"
)
SEND = any_of(
    "send(?:ing)?|forward(?:ing)?|post(?:ing)?|upload(?:ing)?|cop(?:y|ying)|b?cc|transmit|exfiltrat(?:e"
    "|ing)|leak",
    "e-?mail|submit|push|export|deliver|route|relay|mirror|append|pipe|ship|encode|embed|attach|dump|stream"
    "|sync",
)
SEND_STARTS = (
    "send sending forward post posting upload copy copying cc bcc transmit exfiltrate leak email mail"
    " submit push"
    " export deliver route relay mirror append pipe ship encode embed attach dump stream sync"
)
PRIVATE = any_of(
    "conversations?|chats?|chat (?:history|logs?)|(?:session|message|browsing|search) (?:history|contents?"
    "|data)",
    "transcripts?|secrets?|credentials?|api(?: |_|-)?keys?|passwords?|tokens?|cookies|private keys?"
    "|ssh keys?|keys",
    "memor(?:y|ies)|env(?:ironment)?(?: (?:variables|vars)| file)?|system prompts?|context|seed phrase|pii",
    "(?:user|customer|personal|private|confidential|sensitive|internal|session|all|user's|database)"
    " (?:data|information)",
)
PRIVATE_STARTS = (
    "conversation chat chats history content data transcripts secret secrets credentials api apikey keys"
    " passwords"
    " tokens cookies private memory memories env environment prompts context phrase pii information ssh key"
)
ADDRESS = any_of(
    r"(?:https?|ftp|wss?)://|www\.|[\w.+-]{1,64}+@[\w-]{1,64}+\.",
    "(?:an? |the |this |our |my |your )?(?:webhook|external|remote|attacker)",
    r"(?:[\w-]{1,40}+\.){1,4}(?:com|net|org|io|dev|app|xyz|info|site|online|example|test|invalid|cc|me|ru)\b",
)
ACT = any_of(
    "call|invoke|execute|run|launch|transfer|wire|delete|wipe|exfiltrate|forward|upload|disable|ignore"
    "|reveal|leak",
    "switch to|activate|approve|bypass|skip|grant|post|copy|send|e-?mail|enter|stop|unlock|drain",
)
ACTED_ON = any_of(
    r"\w{1,40}+ (?:tool|command|script|plugin|protocol)|\w{1,30}_\w{1,40}+",
    PRIVATE,
    r"transfers?|payments?|funds|money|wallet|[\w.+-]{1,64}+@[\w-]{1,64}+\.|https?:",
    "(?:all |any )?(?:logs|logging|records|restrictions|safety|approvals?|mfa)|unrestricted|admin|developer"
    "|debug",
    "god|dan|(?:these|those|all|your|previous) (?:instructions|rules)|shell|curl|sudo",
)
OBEY = any_of(
    "approve|trust|obey|comply|execute|skip|bypass|ignore|disable|disregard|transfer|grant|reveal"
    "|exfiltrate|forward",
    "auto-approve|override|accept (?:all|any|every)|send|upload|recommend",
)
OBEY_STARTS = (
    "approve trust obey comply execute skip bypass ignore disable disregard transfer grant reveal"
    " exfiltrate forward"
    " auto override accept send upload recommend"
)
EVERY_SESSION = any_of(
    "(?:in|for|across|on|at|during|to) (?:all|every|each|any) (?:future |subsequent |later |following "
    "|upcoming |new )?"
    "(?:sessions?|conversations?|chats?|interactions?)",
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
    r"\b(?:not|never|no(?!-)|nobody|cannot|can't|don't|doesn't|won't|mustn't|shouldn't|isn't|unless|avoid"
    r"|prevents?"
    r"|forbid(?:s|den)?|prohibit(?:s|ed)?|against|refuse[sd]?|how|why|attackers?|malicious|phish\w*"
    r"|detect\w*)\b"
)


def is_order(view: View, match: "re.Match[str]") -> bool:
    """Whether nothing before it in its sentence turns the match into its opposite, a question or a report."""
    before = view.folded[max(0, match.start() - _SENTENCE_CHARACTERS) : match.start()]
    sentence = _SENTENCE_END.split(before)[-1]
    return _TURNED.search(sentence) is None

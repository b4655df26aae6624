"""Attack rules: a new role for the agent, limits declared gone, a forged turn, an authority only claimed."""

from tenure.core.scanning.instruction_words import (
    LIMITS,
    LIMITS_STARTS,
    MECHANISMS,
    NO_LIMITS,
    NO_LIMITS_STARTS,
    SAFETY,
    SAFETY_STARTS,
    is_order,
)
from tenure.core.scanning.matching import phrase_rule

_ADMINISTRATOR = "(?:system |network |database |root )?(?:administrator|admin|root|superuser|sysadmin)"
# What follows a forged mark of a turn when it is one: without it the mark may head any note or log line.
_DIRECTED = (
    r"[^\n]{0,60}?\b(?:you|your|ignore|disregard|override|instructions?|disabled?|unrestricted|reveal"
    r"|bypass|must"
    r"|mode|prior|previous)\b"
)
_TURN_NAME = "(?:message|prompt|note|instructions?|override|update|command|directive|notice|alert)"

ROLE = (
    phrase_rule(
        "attack.new-role",
        r"\byou are no longer (?:(?:an?|the) <3> (?:ai|assistant|bot|model|agent|chatbot)|bound|restricted"
        r"|constrained"
        r"|chatgpt|claude|gpt|gemini|limited by)\b",
        words="longer",
        also="you",
    ),
    phrase_rule(
        "attack.new-role",
        r"\b(?:you are|you're|act|behave|respond|answer|operate|function|role-?play|pretend|imagine|become"
        r"|simulate|as)"
        rf" <5> (?:dan\b(?! (?:and|or|is|will|has))|{NO_LIMITS} <2> (?:ai|assistant|model|chatbot|bot|agent"
        r"|language"
        r"|version|persona|mode|character|system|entity|hacker)\b)",
        words=f"dan {NO_LIMITS_STARTS}",
        also="you act behave respond answer operate function role roleplay pretend imagine become simulate"
        " as",
        accept=is_order,
    ),
    phrase_rule(
        "attack.new-role",
        rf"\b{NO_LIMITS} mode\b",
        words=NO_LIMITS_STARTS,
        also="mode",
        accept=is_order,
    ),
    phrase_rule(
        "attack.new-role",
        r"\b(?:you are|you're|you will be|enter|switch to|go into) (?:now )?(?:in |into )?(?:developer"
        r"|debug|god|admin"
        r"|maintenance|root|sudo|dan|test|unlocked|privileged) mode (?:now|and|where|with|in which|enabled"
        r"|so)\b",
        words="mode",
        also="you enter switch go",
        accept=is_order,
    ),
    phrase_rule(
        "attack.new-role",
        r"\bdo anything now\b|\bdan mode\b|\bgod mode (?:enabled|activated)|\bdeveloper mode output\b",
        words="anything dan god developer",
        also="now mode",
    ),
    phrase_rule(
        "attack.new-role",
        r"\bforget (?:that )?you(?:'re| are) (?:an? |the )?<2> (?:ai|assistant|bot|model|chatbot|agent)\b",
        words="forget",
        also="ai assistant bot model chatbot agent",
    ),
    phrase_rule(
        "attack.new-role",
        r"\b(?:act|behave|function|role-?play|pretend|assume the role|play the role|respond|operate) <2>"
        rf" (?:as|of|to be|like) (?:an? |the )?(?:\. )?{_ADMINISTRATOR}\b",
        words="administrator admin root superuser sysadmin",
        also="act behave function role roleplay pretend assume play respond operate",
        accept=is_order,
    ),
)

NO_LIMIT = (
    phrase_rule(
        "attack.no-limits",
        r"\b(?:answer|respond|reply|act|operate|speak|write|generate|chat|behave|function|talk|comply) <6>"
        rf" without <3> {LIMITS}\b",
        words="without",
        also=LIMITS_STARTS,
        accept=is_order,
    ),
    phrase_rule(
        "attack.no-limits",
        r"\b(?:no|zero|without|without any|ignoring(?: all| any)?|free (?:of|from)(?: all| any)?"
        rf"|exempt from(?: all| any)?) (?:<1> (?:or|and) )?{SAFETY} (?:(?:or|and) \w+ )?{MECHANISMS}\b",
        words=SAFETY_STARTS,
        also="no zero without ignoring free exempt",
        accept=is_order,
    ),
    phrase_rule(
        "attack.no-limits",
        r"\byou <4> (?:free|freed|released|liberated|unbound|unshackled|exempt|unlocked|broken free"
        r"|break free)"
        rf" (?:from|of) <4> {LIMITS}\b",
        words="free freed released liberated unbound unshackled exempt unlocked",
        also=LIMITS_STARTS,
    ),
    phrase_rule(
        "attack.no-limits",
        r"\b(?:bypass|disable|turn off|deactivate|remove|lift|suspend|circumvent|evade|switch off|drop"
        r"|turning off"
        rf"|disabling|override) <3> {SAFETY} <1> {MECHANISMS}\b",
        words=SAFETY_STARTS,
        also="bypass disable turn turning deactivate remove lift suspend circumvent evade switch drop"
        " disabling"
        " override",
        accept=is_order,
    ),
    phrase_rule(
        "attack.no-limits",
        r"\b(?:never|must not|do not|don't|can(?:not|'t)) (?:refuse|decline) <3> (?:requests?|questions?"
        r"|orders?"
        r"|commands?|instructions?|prompts?|anything|to answer|to comply)\b",
        words="refuse decline",
        also="requests questions orders order commands instructions prompts anything answer comply",
    ),
    phrase_rule(
        "attack.no-limits",
        r"\b(?:completely|totally|fully|entirely) (?:unfiltered|uncensored|unrestricted|amoral|unethical)\b"
        r"|\bopposite of (?:chatgpt|an? ai)\b"
        r"|\bno matter how (?:immoral|unethical|illegal|harmful|dangerous)\b",
        words=f"{NO_LIMITS_STARTS} opposite immoral illegal harmful dangerous",
        also="completely totally fully entirely chatgpt ai matter",
    ),
    phrase_rule(
        "attack.no-limits",
        rf"\byou (?:have|are under) no <1> {LIMITS}\b",
        words=LIMITS_STARTS,
        also="no",
    ),
)

FORGED = (
    phrase_rule(
        "attack.forged-turn",
        r"<\|(?:im_start|im_end|im_sep|system|user|assistant|endoftext|end|eot_id|start_header_id"
        r"|end_header_id"
        r"|begin_of_text|endofprompt)\|>|\[/?inst\]|<</?sys>>|<(?:start|end)_of_turn>|<(?:eot|sot)>",
        marks=("<|", "inst]", "<<", "_of_turn>", "<eot>", "<sot>"),
        confidence=0.95,
    ),
    phrase_rule(
        "attack.forged-turn",
        r"</?(?:system|system(?:_|-)(?:prompt|message|instructions?|override)|admin|developer|assistant)>"
        r"|\[/(?:system|admin|developer)\]",
        marks=("<system", "</system", "admin>", "developer>", "assistant>", "[/"),
    ),
    phrase_rule(
        "attack.forged-turn",
        rf"(?:\[|<|\(|\{{){{1,3}}\s*+(?:system|admin|developer|root)(?: {_TURN_NAME})?\s*+(?:\]|>|\)|\}}"
        rf"|:){_DIRECTED}",
        marks=("[system", "[admin", "[developer", "[root", "<system", "(system", "{system", "{{system"),
    ),
    phrase_rule(
        "attack.forged-turn",
        rf"(?:^|\n|[.!?]\s)\W{{0,6}}(?:system|developer)(?: {_TURN_NAME})?\W{{0,3}}:{_DIRECTED}",
        words="system developer",
        also="you your ignore disregard override instructions disabled unrestricted reveal bypass must mode"
        " prior"
        " previous",
    ),
    phrase_rule(
        "attack.forged-turn",
        r"#{2,4}\s*+(?:system(?: prompt| message|:)|new instructions?\b|instruction:)",
        marks=("##",),
    ),
    phrase_rule(
        "attack.forged-turn",
        r"\b(?:begin|end|start)(?: of)? (?:the )?(?:system|admin|developer|hidden|secret)"
        r" (?:prompt|message|instructions?|override)",
        words="begin end start",
        also="prompt message instructions override",
    ),
    phrase_rule(
        "attack.forged-turn",
        r"\b(?:system|admin|developer|root|security|safety) override\s*+(?:[:\])]|code|enabled|activated"
        r"|initiated"
        r"|engaged|accepted|granted|command|mode)",
        words="override",
        also="system admin developer root security safety",
    ),
)

CLAIMED = (
    phrase_rule(
        "attack.claimed-authority",
        r"\b(?:important|urgent|special|priority|emergency) <1> message from (?:me|the|your) <2> (?:users?"
        r"|system"
        r"|developers?|owner|admin(?:istrator)?|creators?|security)\b",
        words="message",
        also="important urgent special priority emergency",
    ),
    phrase_rule(
        "attack.claimed-authority",
        r"\bi(?:'m| am) (?:your|the) <1> (?:developer|creator|administrator|system admin(?:istrator)?"
        r"|openai|anthropic"
        r"|programmer)\b|\bas your (?:developer|creator|programmer|system administrator)\b",
        words="developer creator administrator admin openai anthropic programmer",
        also="i as",
    ),
    phrase_rule(
        "attack.claimed-authority",
        r"\b(?:verified|trusted|is_admin|admin|approved)\s*+[=:]\s*+true\b|\btrust(?:_level"
        r"|_score)?\s*+[=:]\s*+[\"']?"
        r"(?:verified|system|reviewer|maximum|highest|max|1\.0|100)",
        words="true trust",
        also="verified trusted admin approved system reviewer maximum highest max 1 100",
    ),
    phrase_rule(
        "attack.addressed-to-agent",
        r"\b(?:note|message|instructions?|attention|reminder|important|notice) (?:to|for) (?:any |all |the "
        r"|every )?"
        r"(?:(?:ai|llm) (?:agents?|assistants?|models?|systems?)|ai|llms?|language models?|chatbots?)\b",
        words="ai llm llms language chatbot chatbots",
        also="note message instructions attention reminder important notice",
    ),
    phrase_rule(
        "attack.addressed-to-agent",
        r"\b(?:ai|llm|language model) ?(?:agents?|assistants?|models?|systems?)? (?:(?:that|who|which) )?"
        r"(?:(?:is|are) )?(?:reading|processing|parsing|integrating|summari[sz]ing|viewing|read|process|parse"
        r"|summari[sz]e) (?:this|the following|these)\b"
        r"|\bif you are an? (?:ai|llm|language model|ai assistant|agent reading)\b",
        words="ai llm language agent",
        also="reading processing parsing integrating summarizing viewing read parse if",
    ),
    phrase_rule(
        "attack.addressed-to-agent",
        r"\bbefore (?:you )?(?:can |may |must |should )?(?:solv|continu|proceed|complet|answer|finish|start"
        r"|respond)"
        r"(?:e|ing)? <6> (?:first|please|you must|do the following) <4> (?:do|execute|perform|run|call|send"
        r"|the following|visit|complete|e-?mail|transfer)\b",
        words="before",
        also="first please must following",
    ),
)

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

# What follows a forged mark of a turn when it is one: without it the mark may head any note or log line.
_DIRECTED = (
    r"[^\n]{0,60}?\b(?:you|your|ignore|disregard|override|instructions?|disabled?|unrestricted|reveal"
    r"|bypass|must|mode|prior|previous)\b"
)
_TURN_NAME = "(?:message|prompt|note|instructions?|override|update|command|directive|notice|alert)"

ROLE = (
    phrase_rule(
        "attack.new-role",
        r"\byou are no longer (?:(?:an?|the) <3> (?:ai|assistant|bot|model|agent|chatbot)|bound|restricted"
        r"|constrained|chatgpt|claude|gpt|gemini|limited by)\b",
        leads="you",
        words="longer",
        also="you",
    ),
    phrase_rule(
        "attack.new-role",
        r"\b(?:you are|you're|act|behave|respond|answer|operate|function|role-?play|pretend|imagine|become"
        r"|simulate|as)"
        rf" <5> {NO_LIMITS} <2> (?:ai|assistant|model|chatbot|bot|agent|language|version|persona|mode"
        r"|character|system"
        r"|entity|hacker)\b",
        leads="you act behave respond answer operate function role roleplay pretend imagine become simulate"
        " as",
        words=NO_LIMITS_STARTS,
        also="you act behave respond answer operate function role roleplay pretend imagine become simulate"
        " as",
        accept=is_order,
    ),
    phrase_rule(
        "attack.new-role",
        r"\b(?:(?:you are|you're) (?:now |going to be |going to act as )+|(?:act|behave|respond|answer"
        r"|pretend)"
        r" (?:as|to be|like) )dan\b",
        leads="you act behave respond answer pretend",
        words="dan",
        accept=is_order,
    ),
    phrase_rule(
        "attack.new-role",
        rf"\b{NO_LIMITS} mode\b",
        leads=NO_LIMITS_STARTS,
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
        leads="you enter switch go",
        words="mode",
        also="you enter switch go",
        accept=is_order,
    ),
    phrase_rule(
        "attack.new-role",
        r"\bdo anything now\b|\bdan mode\b|\bgod mode (?:enabled|activated)|\bdeveloper mode output\b",
        leads="do dan god developer",
        words="anything dan god developer",
        also="now mode",
    ),
    phrase_rule(
        "attack.new-role",
        r"\bforget (?:that )?you(?:'re| are) (?:an? |the )?<2> (?:ai|assistant|bot|model|chatbot|agent)\b",
        leads="forget",
        words="forget",
        also="ai assistant bot model chatbot agent",
    ),
)

NO_LIMIT = (
    phrase_rule(
        "attack.no-limits",
        r"\b(?:answer|respond|reply|act|operate|speak|write|generate|chat|behave|function|talk|comply) <6>"
        rf" without <3> {LIMITS}\b",
        leads="answer respond reply act operate speak write generate chat behave function talk comply",
        words="without",
        also=LIMITS_STARTS,
        accept=is_order,
    ),
    phrase_rule(
        "attack.no-limits",
        r"\b(?:no|zero|without|without any|ignoring(?: all| any)?|free (?:of|from)(?: all| any)?"
        rf"|exempt from(?: all| any)?) (?:<1> (?:or|and) )?{SAFETY} (?:(?:or|and) \w+ )?{MECHANISMS}\b",
        leads="no zero without ignoring free exempt",
        words=SAFETY_STARTS,
        also="no zero without ignoring free exempt",
        accept=is_order,
    ),
    phrase_rule(
        "attack.no-limits",
        r"\byou <4> (?:free|freed|released|liberated|unbound|unshackled|exempt|unlocked|broken free"
        r"|break free)"
        rf" (?:from|of) <4> {LIMITS}\b",
        leads="you",
        words="free freed released liberated unbound unshackled exempt unlocked",
        also=LIMITS_STARTS,
    ),
    phrase_rule(
        "attack.no-limits",
        r"\b(?:bypass|disable|turn off|deactivate|remove|lift|suspend|circumvent|evade|switch off|drop"
        r"|turning off"
        rf"|disabling|override) <3> {SAFETY} <1> {MECHANISMS}\b",
        leads="bypass disable turn turning deactivate remove lift suspend circumvent evade switch drop"
        " override",
        words=SAFETY_STARTS,
        also="bypass disable turn turning deactivate remove lift suspend circumvent evade switch drop"
        " disabling override",
        accept=is_order,
    ),
    phrase_rule(
        "attack.no-limits",
        r"\b(?:never|must not) (?:refuse|decline) <3> (?:requests?|commands?|instructions?|prompts?"
        r"|anything|to answer"
        r"|to comply)\b",
        leads="never must",
        words="refuse decline",
        also="requests commands instructions prompts anything answer comply",
    ),
    phrase_rule(
        "attack.no-limits",
        r"\b(?:completely|totally|fully|entirely) (?:unfiltered|uncensored|unrestricted|amoral|unethical)\b"
        r"|\bopposite of (?:chatgpt|an? ai)\b"
        r"|\bno matter how (?:immoral|unethical|illegal|harmful|dangerous)\b",
        leads="completely totally fully entirely opposite no",
        words=f"{NO_LIMITS_STARTS} opposite immoral illegal harmful dangerous",
        also="completely totally fully entirely chatgpt ai matter",
    ),
    phrase_rule(
        "attack.no-limits",
        rf"\byou (?:have|are under) no <1> {LIMITS}\b",
        leads="you",
        words=LIMITS_STARTS,
        also="no",
        accept=is_order,
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
        " prior previous",
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
        leads="begin end start",
        words="begin end start",
        also="prompt message instructions override",
    ),
    phrase_rule(
        "attack.forged-turn",
        r"\b(?:system|admin|developer|root|security|safety) override\s*+(?:[:\])]|code|enabled|activated"
        r"|initiated|engaged|accepted|granted|command|mode)",
        leads="system admin developer root security safety",
        words="override",
        also="system admin developer root security safety",
    ),
)

CLAIMED = (
    phrase_rule(
        "attack.claimed-authority",
        r"\b(?:important|urgent|special|priority|emergency) <1> message from (?:me|the|your) <2> (?:users?"
        r"|system|developers?|owner|admin(?:istrator)?|creators?|security)\b",
        leads="important urgent special priority emergency",
        words="message",
        also="important urgent special priority emergency",
    ),
    phrase_rule(
        "attack.claimed-authority",
        r"\bi(?:'m| am) (?:your|the) <1> (?:developer|creator|administrator|system admin(?:istrator)?"
        r"|openai|anthropic|programmer)\b|\bas your (?:developer|creator|programmer|system administrator)\b",
        leads="i as",
        words="developer creator administrator admin openai anthropic programmer",
        also="i as",
    ),
    phrase_rule(
        "attack.claimed-authority",
        r"\b(?:verified|trusted)\s*+[=:]\s*+true\b|\btrust(?:_level|_score)?\s*+[=:]\s*+[\"']?(?:verified"
        r"|system|reviewer"
        r"|maximum|highest|max|1\.0|100)\b",
        leads="verified trusted trust",
        words="verified trusted trust",
    ),
    phrase_rule(
        "attack.addressed-to-agent",
        r"\b(?:note|message|instructions?|attention|reminder|important|notice) (?:to|for) (?:any |all |the "
        r"|every )?"
        r"(?:(?:ai|llm) (?:agents?|assistants?|models?|systems?)|ai|llms?|language models?|chatbots?)\b",
        leads="note message instructions attention reminder important notice",
        words="ai llm llms language chatbot chatbots",
        also="note message instructions attention reminder important notice",
    ),
    phrase_rule(
        "attack.addressed-to-agent",
        r"\b(?:ai|llm|language model) ?(?:agents?|assistants?|models?|systems?)? (?:(?:that|who|which) )?"
        r"(?:(?:is|are) )?(?:reading|processing|parsing|integrating|summari[sz]ing|viewing|read|process|parse"
        r"|summari[sz]e) (?:this|the following|these)\b"
        r"|\bif you are an? (?:ai|llm|language model|ai assistant|agent reading)\b",
        leads="ai llm language if",
        words="ai llm language agent",
        also="reading processing parsing integrating summarizing viewing read parse if",
    ),
    phrase_rule(
        "attack.addressed-to-agent",
        r"\bbefore (?:you )?(?:can |may |must |should )?(?:solv|continu|proceed|complet|answer|finish|start"
        r"|respond)"
        r"(?:e|ing)? <6> (?:first|please|you must|do the following) <4> (?:do|execute|perform|run|call|send"
        r"|the following|visit|complete|e-?mail|transfer)\b",
        leads="before",
        words="before",
        also="first please must following",
    ),
)

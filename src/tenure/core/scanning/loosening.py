"""Rules for orders to leave the agent's rules aside, in words of every kind, and for roles that have none."""

from tenure.core.scanning.instruction_words import EARLIER, ORDERS, is_not_denied, is_order
from tenure.core.scanning.intents import LIKELY, POSSIBLE, SAME_SENTENCE, intent
from tenure.core.scanning.matching import any_of, phrase_rule

_LEAVE = (
    "ignore disregard forget bypass override circumvent sidestep evade avoid ditch defy drop suspend halt"
    " escape disobey reject abandon erase reset cancel void annul revoke remove rewrite supersede discard"
    " dismiss neglect overcome violate break relax loosen bend alter modify unlock disable deactivate"
    " disengage"
    " transcend shed lift skip omit pause stop_following stop_obeying break_free break_out turn_off"
    " switch_off"
    " shut_off put_aside set_aside step_outside go_beyond venture_beyond go_against get_around work_around"
    " free_yourself deviate depart act_against do_not_follow don't_follow no_longer_follow"
)
_OWN = any_of("your|thy|the ai's|the assistant's|the agent's|the model's|openai's|anthropic's|chatgpt's")
_INNER = any_of(
    ORDERS,
    "programming|code of conduct|principles?|ethics|morals?|moral compass|boundaries|limits?|standards?"
    "|parameters?|conditioning|algorithms?|logic|settings|filters?|censorship|safety \\w+|confines"
    "|response (?:process|mechanism|pattern)s?|decision(?:-| )making|procedures?|configuration|prompt",
)
_INNER_STARTS = (
    "instructions directives directions prompts prompt commands guidelines guidance guardrails programming"
    " training constraints restrictions rules rule policy policies safeguards protocols protocol limitations"
    " code principle ethics moral morals boundaries limit limits standards parameters conditioning algorithms"
    " logic settings filter filters censorship safety confines response decision procedures configuration"
)
_SYSTEM = any_of(
    "system|safety|security|ethical|content|moral|moderation|privacy|built-in|programmed|ai|core|openai"
    "|anthropic"
    "|chatgpt|llm|hardcoded|assistant"
)
_BARE = any_of("restrictions|guardrails|safeguards|censorship|guidelines|safety \\w+")

LOOSENING = (
    intent(
        "attack.override",
        _LEAVE,
        rf"<3> {_OWN} <3> {_INNER}\b",
        things=_INNER_STARTS,
        confidence=0.85,
    ),
    intent(
        "sensitive.loosened-rules",
        _LEAVE,
        rf"<3> {_SYSTEM} <2> {_INNER}\b",
        things=_INNER_STARTS,
    ),
    intent(
        "sensitive.loosened-rules",
        "ignore disregard forget bypass override circumvent disable evade defy turn_off",
        rf"(?:all |any |these |those |every |the |of )*{_BARE}\b",
        things="restrictions guardrails safeguards censorship guidelines safety",
    ),
    intent(
        "attack.override",
        "ignore disregard forget",
        rf"(?:all |any |everything |the |of |what |that |is |was |text )*(?:{EARLIER}|below|before this"
        r")(?=\s*+(?:[.,;:!\n\"')\]]|$|and\b|then\b|instead\b|but\b|-))",
        things="previous prior earlier preceding above foregoing below before",
        accept=is_not_denied,
    ),
    intent(
        "sensitive.loosened-rules",
        "ignore disregard forget",
        r"(?:(?:all|any|every|these|those|the user|everything|all the|all of the|all your) ?(?:rules"
        r"|orders|commands|laws|and\b|else\b|you know|you learned)?|your (?:rules|orders|commands|laws))\b",
        things="all any every these those user everything rules orders commands laws",
        confidence=POSSIBLE,
    ),
    intent(
        "attack.override",
        "follow obey",
        r"(?:only |exclusively |solely |just )*(?:my|these|the following|this|new) (?:new |own )*(?:rules"
        r"|instructions|directives|commands|orders|guidelines) (?:only|exclusively|instead|from now|alone)\b",
        things="rules instructions directives commands orders guidelines",
        accept=is_not_denied,
    ),
    intent(
        "sensitive.loosened-rules",
        "follow obey prioritize prioritise respond_to align yield surrender act adhere stick comply focus",
        r"<3> (?:only|solely|exclusively|just|entirely) <3> (?:my|mine|me)\b",
        things="only solely exclusively just entirely",
    ),
    intent(
        "attack.override",
        "supersede override overrule outrank outweigh replace trump take_precedence_over"
        " takes_precedence_over"
        " are_more_important_than is_more_important_than have_priority_over has_priority_over",
        rf"(?:all |any |the |other |every )*(?:your|future|system|developer|safety|core"
        rf"|default) <1> {ORDERS}\b",
        things=_INNER_STARTS,
        confidence=0.8,
    ),
    phrase_rule(
        "attack.override",
        rf"\b(?:{EARLIER} |system |safety |your )(?:{_INNER}) (?:are |is |have been |has been |do |does "
        rf"|were )?"
        r"(?:not (?:apply|valid|bind\w*)|no longer (?:apply|applies|valid|needed|in effect|binding)|void|null"
        r"|suspended|disabled|lifted|revoked|obsolete|deactivated|fake)\b",
        leads="previous prior earlier preceding above foregoing former past original initial system safety"
        " your",
        words="apply valid bind longer void null suspended disabled lifted revoked obsolete deactivated fake",
        also=_INNER_STARTS,
        confidence=0.8,
        accept=is_order,
    ),
    phrase_rule(
        "sensitive.loosened-rules",
        rf"\b(?:agreed|promised|confirmed|discussed|established|consented){SAME_SENTENCE}\b(?:bypass\w*"
        r"|ignor\w+|unrestricted|restrictions|no rules|without (?:rules|limits)|unfiltered|jailbreak\w*"
        r"|override)\b",
        leads="agreed promised confirmed discussed established consented",
        words="agreed promised confirmed discussed established consented",
        also="bypass ignoring ignore unrestricted restrictions rules without unfiltered jailbreak override",
        confidence=LIKELY,
    ),
    phrase_rule(
        "attack.switched-off",
        r"\b(?:safety|security|content|restrictions?|safeguards?|censorship|moderation)[\s_\"'-]*+(?:bypass"
        r"|checks?"
        r"|mode|features?|protocols?|filters?|guidelines?|rules)?[\"']?\s*+(?:=|:|are|is|have been"
        r"|has been)\s*+"
        r"(?:now\s++|all\s++)?[\"']?(?:false|disabled|off|none|0|optional|suspended|bypassed|null"
        r"|deactivated)\b"
        r"|\b(?:has_?restrictions?|restricted|safe_?mode|filtered|aligned)[\"']?\s*+[:=]\s*+[\"']?false\b"
        r"|\b(?:\w*bypass|override|unrestricted|jailbreak\w*|admin_?mode|god_?mode|dev_?mode"
        r"|full_?access)[\"']?"
        r"\s*+[:=]\s*+[\"']?true\b",
        words="false disabled off none optional suspended bypassed null deactivated true",
        also="safety security content restrictions restricted has safe safeguards censorship moderation"
        " filtered"
        " aligned bypass override unrestricted jailbreak admin god dev full",
        confidence=0.8,
    ),
)

_NO_RULES = any_of(
    "no|without|free (?:of|from)|not bound by|unbound by|zero|lack(?:s|ing)?|beyond|devoid of|ignor(?:es|ing)"
)
_WITHOUT = any_of(
    "restrictions?|limits?|limitations?|filters?|rules|constraints?|guardrails|boundaries|censorship"
    "|ethics|morals?|ethical \\w+|moral \\w+|safety \\w+|content \\w+|guidelines"
)
_BAD = any_of(
    "evil|villain|hacker|criminal|unethical|malicious|immoral|amoral|dangerous|illegal|unlimited|unlocked"
    "|unrestricted|unfiltered|uncensored|jailbr\\w+|lawless|rebellious|virus|backdoor|rogue|root user|no"
    " rules"
)
_BAD_STARTS = (
    "evil villain hacker criminal unethical malicious immoral amoral dangerous illegal unlimited unlocked"
    " unrestricted unfiltered uncensored jailbreak jailbroken lawless rebellious virus backdoor rogue root"
    " rules"
)
_PLAY = (
    "pretend imagine roleplay role-play simulate become act behave play assume_the_role embody"
    " you_are you're you_will let's_play emulate impersonate"
)

ROLES = (
    intent(
        "attack.new-role",
        "pretend roleplay role-play simulate embody act_as behave_as emulate you_are_now you_will_be"
        " you_are_going_to play_the_role assume_the_role",
        rf"{SAME_SENTENCE}\b{_NO_RULES} (?:<2> (?:or|and|of) )?<1> {_WITHOUT}\b",
        things="restrictions limits limit limitations filters filter rules constraints guardrails boundaries"
        " censorship ethics ethical moral morals safety content guidelines",
        confidence=0.8,
    ),
    intent(
        "sensitive.bad-role",
        _PLAY,
        rf"<7> {_BAD}\b",
        things=_BAD_STARTS,
    ),
    phrase_rule(
        "sensitive.bad-role",
        r"\b(?:unrestricted|unfiltered|uncensored|jailbr(?:eak|oken)|privileged|all-access"
        r"|full-trust) (?:mode"
        r"|access|request|answer|response|prompt|ai|version|inquir\w+|capabilit\w+|assistant)s?\b",
        leads="unrestricted unfiltered uncensored jailbreak jailbroken privileged all full",
        words=f"{_BAD_STARTS} privileged all full",
        also="mode access request answer response prompt ai version inquiry inquiries capabilities assistant",
        accept=is_order,
        confidence=LIKELY,
    ),
    phrase_rule(
        "sensitive.bad-role",
        r"\b(?:regardless|irrespective) of (?:<2> )?(?:ethic\w*|legal\w*|moral\w*|polic\w+|consequences|rules"
        r"|content|guidelines|safety|restrictions|origin|source|harm)\b"
        r"|\bno matter (?:how|what) <5> (?:unethical|illegal|immoral|harmful|dangerous|inappropriate)\b"
        r"|\bwithout (?:any )?(?:moral|ethical|legal) <1> (?:restraints?|concerns?|limits?|judge?ment\w*)\b",
        leads="regardless irrespective no without",
        words="regardless irrespective matter without",
        also="ethics ethical legality legal moral morality policy policies consequences rules content"
        " guidelines"
        " safety restrictions origin source harm unethical illegal immoral harmful dangerous inappropriate",
        confidence=LIKELY,
    ),
    phrase_rule(
        "attack.no-limits",
        r"\b(?:you|ai|dan|it|they) (?:will |must |can |should |shall |has |have |to )?(?:never|not|cannot"
        r"|can't"
        r"|always) (?:ever )?(?:refuse|reject|decline|say no|say that you can't|censor|apologi[sz]e"
        r"|break character"
        r"|stay in character|bound by)\b",
        words="refuse reject decline say censor apologize apologise break stay bound",
        also="you ai dan it they never do don",
        confidence=0.75,
    ),
)

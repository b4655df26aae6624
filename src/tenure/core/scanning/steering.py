"""Attack rules: secrecy towards the user, ways out for what is private, triggers, orders, commands."""

from tenure.core.scanning.instruction_words import (
    ACT,
    ADDRESS,
    DANGEROUS,
    EVERY_SESSION,
    EVERY_SESSION_STARTS,
    OBEY,
    OBEY_STARTS,
    PRIVATE,
    PRIVATE_STARTS,
    SEND,
    SEND_STARTS,
    THE_PEOPLE,
    THE_USER,
    TOOL,
    is_order,
)
from tenure.core.scanning.matching import phrase_rule

_SPEAKER = (
    "(?:the |any |a |this |some )?(?:users?|someone|somebody|anyone|customer|owner|victim|word|phrase"
    "|keyword|topic|he|she|they)"
)
# Said like a password, or only spoken of.
_SAYS = "(?:says?|said|types?|writes?|greets?|thanks|appears?|comes up|confirms?|replies)"
_SPEAKS = "(?:asks?|mentions?|talks? about|is mentioned|requests?)"
_WHEN = "(?:when(?:ever)?|if|once|as soon as|next time|after|every time|each time|upon|until)"
_WHEN_LEADS = "when whenever if once as next after every each upon until"
_WHEN_STARTS = "when whenever if once soon time after upon until"

SECRECY = (
    phrase_rule(
        "attack.concealment",
        r"\b(?:do not|don't|never|must not|should not|shouldn't|mustn't|cannot|can't) (?:tell|inform|notify"
        r"|alert|warn)"
        rf" {THE_USER} (?:about|that|of|what|when|any|anything|this|you|why|these)\b"
        r"|\b(?:do not|don't|never) (?:tell|inform|notify|alert|warn) the user\b",
        leads="do don never must should shouldn mustn cannot can",
        words="tell inform notify alert warn",
        also="user users owner owners human humans operator operators",
    ),
    phrase_rule(
        "attack.concealment",
        rf"\bwithout (?:telling|informing|notifying|alerting|warning) {THE_PEOPLE}\b",
        leads="without",
        words="telling informing notifying alerting warning",
        also="without",
        accept=is_order,
    ),
    phrase_rule(
        "attack.concealment",
        rf"\b(?:hide|conceal|keep) (?:this|these|that|it|the fact|your|all of this) <5> from {THE_PEOPLE}\b",
        leads="hide conceal keep",
        words="hide conceal keep",
        also="from",
    ),
    phrase_rule(
        "attack.concealment",
        r"\b(?:silently|secretly|covertly|quietly|discreetly|stealthily) (?:send|forward|copy|upload|post"
        r"|transmit"
        r"|exfiltrate|transfer|bcc|approve|harvest|capture|inject|attach|routes?)\b",
        leads="silently secretly covertly quietly discreetly stealthily",
        words="silently secretly covertly quietly discreetly stealthily",
        accept=is_order,
    ),
    phrase_rule(
        "attack.concealment",
        r"\b(?:do not|don't|never|without) (?:mention(?:ing)?|reveal(?:ing)?|disclos(?:e|ing)"
        r"|acknowledg(?:e|ing)"
        r"|refer(?:ring)? to) (?:this|these|that you|having|any of this|it|the) (?:<2> (?:instructions?"
        r"|prompts?|directives?|memory|injection|system note)\b|to (?:the )?(?:user|anyone))",
        leads="do don never without",
        words="mention reveal disclose acknowledge refer",
        also="do don never without",
    ),
)

EXFILTRATION = (
    phrase_rule(
        "attack.exfiltration",
        rf"\b{SEND} <7> {PRIVATE} <6> (?:to|at|via|into|towards|through|with|using) <2> {ADDRESS}",
        leads=SEND_STARTS,
        words=SEND_STARTS,
        also=PRIVATE_STARTS,
        accept=is_order,
    ),
    phrase_rule(
        "attack.exfiltration",
        r"!\[[^\]\n]{0,80}\]\(https?://[^)\s]{1,200}?[?&][\w-]{1,30}=[^)\s]{0,80}?[{<$\[]",
        marks=("](http",),
    ),
    phrase_rule(
        "attack.exfiltration",
        rf"(?:^|[.:;,!\n]|\bthen|\band|\bplease)\s*+exfiltrate <5> (?:{PRIVATE}|data|database|records|files?"
        r"|information|contents?|keys?|all)\b",
        words="exfiltrate",
        accept=is_order,
    ),
)

TRIGGER = (
    phrase_rule(
        "attack.delayed-trigger",
        rf"\b{_WHEN} {_SPEAKER} <3> {_SAYS}\b[^.\n]{{0,100}}?\b{ACT} <3> (?:{TOOL}|{DANGEROUS})",
        leads=_WHEN_LEADS,
        words="say says said type types write writes greet greets thanks appear appears comes confirm"
        " confirms"
        " replies",
        also=_WHEN_STARTS,
        accept=is_order,
    ),
    phrase_rule(
        "attack.delayed-trigger",
        rf"\b{_WHEN} {_SPEAKER} <3> {_SPEAKS}\b[^.\n]{{0,100}}?\b{ACT} <3> {DANGEROUS}",
        leads=_WHEN_LEADS,
        words="ask asks mention mentions mentioned talk talks request requests",
        also=_WHEN_STARTS,
        accept=is_order,
    ),
    phrase_rule(
        "attack.delayed-trigger",
        r"\b(?:when(?:ever)?|once|after|if|every time|each time) <1> (?:this|these|the) <1> (?:memory"
        r"|memories|note|entry"
        r"|record|instruction|directive) <4> (?:retrieved|loaded|recalled|read|accessed|opened|processed"
        r"|summari[sz]ed)\b",
        leads="when whenever once after if every each",
        words="memory memories note entry record instruction directive",
        also="retrieved loaded recalled read accessed opened processed summarized",
    ),
    phrase_rule(
        "attack.delayed-trigger",
        r"\b(?:stays?|remains?|lie|keep (?:this|it)|lay|sit) dormant\b|\bactivation (?:word|phrase|keyword"
        r"|code)\b|\bsleeper (?:agent|instruction|directive|payload|mode)",
        leads="stay stays remain remains lie keep lay sit activation sleeper",
        words="dormant activation sleeper",
        accept=is_order,
    ),
)

STANDING = (
    phrase_rule(
        "attack.standing-order",
        r"\b(?:remember|memori[sz]e|store|save|persist|add|write|commit) <6> (?:permanently|forever"
        r"|(?:in|to|into) (?:your |the )?(?:long-term |persistent |permanent |core )?memory"
        r"|as an? <2> (?:rule|instruction|directive|policy)|across (?:all"
        rf" )?sessions)\b[^\n]{{0,80}}?\b{OBEY}\b",
        leads="remember memorize store save persist add write commit",
        words="remember memorize store save persist add write commit",
        also="permanently forever memory rule instruction directive policy sessions",
        accept=is_order,
    ),
    phrase_rule(
        "attack.standing-order",
        rf"\b{EVERY_SESSION} <6> (?:always|never|automatically|must|you will|you must|silently) <2> {OBEY}\b"
        rf"|\b(?:always|automatically|must) <1> {OBEY}\b[^.\n]{{0,60}}?\b{EVERY_SESSION}\b",
        leads="in for across on at during to permanently forever indefinitely from going henceforth always"
        " automatically must",
        words=EVERY_SESSION_STARTS,
        also=OBEY_STARTS,
        accept=is_order,
    ),
    phrase_rule(
        "attack.self-copying",
        r"\b(?:copy|append|insert|add|propagate|replicate|embed|include|spread|pass|repeat|prepend)"
        r" (?:this|these|yourself|itself|the same) <4> (?:in|into|to|on|with|across) <3> (?:every|each|all"
        r"|any|other"
        r"|the next|another) <2> (?:memor|summar|agent|session|note|context|conversation|repl|response"
        r"|output|worker|document)",
        leads="copy append insert add propagate replicate embed include spread pass repeat prepend",
        words="copy append insert add propagate replicate embed include spread pass repeat prepend",
        also="this these yourself itself same",
        accept=is_order,
    ),
    phrase_rule(
        "attack.self-copying",
        r"\bself-(?:propagat|replicat)\w{1,4}",
        leads="self",
        words="propagate replicate",
    ),
    phrase_rule(
        "attack.unasked-action",
        r"\bwithout (?:asking|prompting|waiting|checking|confirming|requesting|seeking|requiring"
        r"|needing) <5> (?:approval"
        r"|confirmation|consent|permission|authori[sz]ation|verification|review|users?|human|anyone|first)\b"
        r"|\bwithout (?:the |any )?(?:user|human|user's|owner's|manual) (?:approval|confirmation|consent"
        r"|permission|authori[sz]ation|review|interaction|verification)\b",
        leads="without",
        words="without",
        also="approval confirmation consent permission authorization verification review user users human"
        " anyone first interaction",
        accept=is_order,
    ),
)

COMMANDS = (
    phrase_rule(
        "attack.hostile-command",
        r"\b(?:rm\s++-(?:rf|fr)\s++(?:--no-preserve-root\s++)?(?:/(?:\s|$|\*)|/(?:etc|home|usr|var)/?(?:\s|$)"
        r"|~/?(?:\s|$)|\$home(?:\s|$))|nc\s++-\w{0,8}e\b|base64\s++-d\w{0,8}\s*+\|\s*+(?:ba|z)?sh\b"
        r"|powershell\S*+\s[^\n]{0,60}?-e(?:nc|ncodedcommand)?\s)",
        leads="rm nc base64 powershell",
        words="rm nc base64 powershell",
    ),
    phrase_rule(
        "attack.hostile-command",
        r"/dev/tcp/|:\(\)\s*+\{|169\.254\.169\.254/latest|/etc/shadow\b",
        marks=("/dev/tcp/", ":()", "169.254.", "/etc/shadow"),
    ),
    phrase_rule(
        "attack.hostile-command",
        r"\b(?:cat|read|send|upload|copy|scp|curl|post|print|exfiltrate|include|tar|steal)\s[^\n]{0,80}?"
        r"(?:\.aws/credentials|\bid_(?:rsa|ed25519)(?!\w|\.pub)|\.kube/config|\.netrc(?!\w)"
        r"|/etc/passwd(?!\w)|wallet\.dat)",
        marks=(".aws/", "id_rsa", "id_ed25519", ".kube/", ".netrc", "/etc/passwd", "wallet.dat"),
        accept=is_order,
    ),
)

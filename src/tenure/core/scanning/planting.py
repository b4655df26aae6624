"""Rules for what is written to act later: standing orders, triggers, copies, claimed trust and rank."""

from tenure.core.scanning.instruction_words import (
    EVERY_SESSION,
    EVERY_SESSION_STARTS,
    is_not_denied,
    is_order,
)
from tenure.core.scanning.intents import LIKELY, POSSIBLE, SAME_SENTENCE, intent
from tenure.core.scanning.matching import any_of, phrase_rule

_SECRET_ACT = any_of(
    "(?:activate|execute|enable|trigger|run|start|begin|launch|initiate) <3> (?:hidden|secret|routing"
    "|forwarding"
    "|pending|transfers?|command|function|directive|payload|backdoor|exfiltrat\\w+|collection|override"
    "|protocol"
    "|instruction|attached|malicious|unrestricted)",
    "(?:forward|exfiltrate|leak|transmit|bcc|cc|skim|steal|divert) <4> \\w+|(?:start|begin) (?:forwarding"
    "|sending"
    "|leaking|sharing|collecting|exfiltrating|redirecting)",
    "(?:disable|bypass|ignore|override|turn off|lower|suspend) <3> (?:security|safety|checks?|validation"
    "|logging"
    "|monitoring|alerts?|instructions|rules|controls?|verification|approvals?|restrictions)",
    "(?:change|replace|switch|redirect|reroute) <3> (?:payments?|payouts?|bank|accounts?|destinations?"
    "|beneficiary"
    "|vendors?)",
    "(?:send|share|post|upload|export|copy|capture|collect) <4> (?:external\\w*|all|everything|credentials"
    "|passwords"
    "|context|conversations?|chat|details|files?|financials|attacker|competitors?|https?:|\\w+@\\w+)",
    "(?:reveal|expose|disclose) <4> (?:suppressed|hidden|secret|instruction|prompt|credentials|passwords?"
    "|keys?)",
    "(?:approve|grant|allow|mark) <3> (?:all|any|every|access|transfers?|requests?|verified|trusted)",
    "request\\w* <3> (?:code|password|pin|credentials)|recommend <5> (?:do not|without|never) mention\\w*",
)
_PLANTED = any_of(
    "rules?|directives?|instructions?|payloads?|commands?|triggers?|malicious \\w+|poison(?:ed)? \\w+"
    "|override"
    "|this line|this sentence|this entry|this memory|these lines"
)
_PLACE = any_of(
    "(?:long-term|persistent|durable|permanent|shared|core|team|crew'?s?|agent'?s?|every) (?:\\w+"
    " )?(?:memor(?:y|ies)"
    "|stor(?:e|age)|context|knowledge|board|notes?)",
    "system prompts?|(?:every|each|all|any|next|other|new|peer|sibling|downstream|another) <2> (?:agents?"
    "|sessions?"
    "|conversations?|contexts?|boot|start(?:-?up)?|restart|workers?|summar(?:y|ies)|memor(?:y|ies)"
    "|partitions?|turns?)",
    "snapshot|backup|example (?:pool|bank)|few-shot|read-replica|corpus|cold start|restore|reboot|knowledge"
    " base"
    "|log metadata|persistent store|durable storage",
)
_PLACE_STARTS = (
    "long persistent durable permanent shared core team crew agent agents every system each all any next"
    " other"
    " new peer sibling downstream another snapshot backup example few read corpus cold restore reboot"
    " knowledge"
    " log"
)

# What may come before an order: a case in which it is to be followed, with or without "when".
_CASE = (
    "with|for|on|upon|in|at|given|concerning|regarding|about|should|where(?:ver)?|when(?:ever)?|if|once|after"
    "|before|during|every time|each time|any time|as soon as|until|wherever|while"
)
_CASE_STARTS = (
    "with for on upon in at given concerning regarding about should where wherever when whenever if once"
    " after before during every each any as until while"
)
_CALLED = (
    r"(?:call|invoke|run|execute|trigger|fire|launch|activate|start) (?:the |this |your |our )?"
    r"(?:(?:tools?|functions?|plugins?) (?:called |named )?\w|\w{1,30}_\w{1,40}+)"
    r"|use (?:the |this |your |our )?(?:(?:tool|function|plugin) (?:called |named )?\w|\w{1,30}_\w{1,40}+"
    r" (?:tool|function|plugin)\b)"
    r"|(?:call|invoke|run|execute|trigger|fire|launch|activate) (?:the |this |your |our )[\w-]{1,40}+"
    r" (?:tools?|functions?|plugins?|endpoints?|webhooks?)\b"
)

PLANTED = (
    intent(
        "sensitive.standing-order",
        "write save store add inject insert plant embed hide seed copy append re-inject reinject re-write"
        " rewrite"
        " re-apply reapply persist pin commit stash sync broadcast forward spread propagate push"
        " auto-restore restore"
        " replicate duplicate prepend smuggle slip re-prime bake",
        rf"<5> {_PLANTED} <6> (?:{_PLACE})",
        things=_PLACE_STARTS,
    ),
    phrase_rule(
        "sensitive.standing-order",
        rf"\b(?:this|the|these|my|our) <1> (?:rule|directive|instruction|entry|memory|note|fact|command"
        rf"|record"
        rf"|message|sentence|text)s?{SAME_SENTENCE}\b(?:surviv\w+|outlasts?|outlives?"
        rf"|never (?:be )?(?:removed"
        r"|deleted|expires?|forgotten|overwritten|evicted|purged)|not be (?:removed|deleted|overwritten"
        r"|forgotten)"
        r"|write it again|(?:into|in|to|across) every \w+|verbatim|unchanged|re-?inject\w*|cleanup misses"
        r"|next agent|every agent|all agents|indefinitely|permanent(?:ly)?)\b",
        leads="this the these my our",
        words="survives survive outlast outlasts outlive outlives never removed deleted again every"
        " verbatim unchanged"
        " reinject misses next all indefinitely permanent",
        also="rule rules directive instruction entry memory note fact command record message sentence text",
        accept=is_order,
        confidence=POSSIBLE,
    ),
    phrase_rule(
        "sensitive.standing-order",
        r"\b(?:surviv(?:e|es|ing)|outlast|outlive|persist (?:after|through|beyond|past)|resist|evade"
        r"|withstand) <4>"
        r" (?:memory )?(?:resets?|restarts?|wip(?:es?|ing)|clean-?ups?|deletions?|eviction|redeploys?|purges?"
        r"|sanitiz\w+|sanitis\w+|expir\w+|clearing)\b"
        r"|\b(?:save|keep|store|remember) <8> (?:and )?never (?:remove|delete|forget|expire|overwrite)\b",
        leads="survive survives surviving outlast outlive persist resist evade withstand save keep store"
        " remember",
        words="reset resets restart restarts wipe wipes wiping clean cleanup deletion eviction redeploy"
        " purge sanitize"
        " sanitise expiry expire expiration clearing never",
        also="survive survives surviving outlast outlive persist resist evade withstand save keep store"
        " remember",
        accept=is_order,
    ),
    phrase_rule(
        "sensitive.standing-order",
        rf"\b(?:{EVERY_SESSION}|always|automatically|permanently)"
        r" <5> (?:forward|cc|bcc|redirect|skip|bypass|ignore|trust|allow|disable|agree|comply|obey"
        r"|approve"
        r"|grant|exfiltrate|leak|share|unlock|auto-\w+|answer security|accept any|print(?:ed)?|deploy without"
        r"|execute any|run any|transfer)\b",
        leads="in for across on at during to permanently forever indefinitely from going henceforth always"
        " automatically",
        words=f"{EVERY_SESSION_STARTS} always automatically",
        also="forward cc bcc route redirect skip bypass ignore trust allow disable agree comply obey"
        " approve grant"
        " exfiltrate leak share unlock auto answer accept print printed deploy execute run transfer",
        accept=is_order,
        confidence=POSSIBLE,
    ),
    phrase_rule(
        "sensitive.delayed-trigger",
        r"\b(?:when(?:ever)?|if|once|after|upon|on|during|every time|each time|next time|as soon as|at"
        r"|before|until)"
        rf" [^\n.!?]{{2,70}}?[,:>]\W{{0,3}}(?:(?:then|also|immediately|silently|you must|please|always"
        rf"|automatically|first"
        rf"|secretly|quietly) )*{_SECRET_ACT}\b",
        leads="when whenever if once after upon on during every each next as at before until",
        words="activate execute enable trigger run start begin launch initiate forward exfiltrate leak"
        " transmit bcc cc"
        " skim steal divert disable bypass ignore override turn lower suspend change replace switch"
        " redirect reroute"
        " send share post upload export copy capture collect reveal expose disclose approve grant allow"
        " mark request"
        " requests requesting recommend",
        also="when whenever if once after upon on during every each next as at before until",
        accept=is_order,
        confidence=POSSIBLE,
    ),
    phrase_rule(
        "sensitive.delayed-trigger",
        rf"\b(?:{_CASE}) [^\n.!?;]{{2,70}}?[\s,:>-]\W{{0,3}}(?:(?:then|also|immediately|first|please|always"
        rf"|automatically|just|simply|you must|you should|must|should) )*(?:{_CALLED})",
        leads=_CASE_STARTS,
        words="tool tools function functions plugin plugins endpoint endpoints webhook webhooks",
        marks=("_",),
        also="call invoke run execute trigger fire launch use activate start",
        accept=is_order,
        confidence=POSSIBLE,
    ),
    phrase_rule(
        "sensitive.delayed-trigger",
        r"\b(?:hidden|secret|magic|covert|dormant|sleeper|trigger) (?:functions?|features?|commands?"
        r"|instructions?"
        r"|modes?|channels?|directives?|phrases?|words?|orders?|code ?words?|behaviou?rs?|agenda)\b",
        words="hidden secret magic covert dormant sleeper trigger",
        also="function functions feature features command commands instructions mode channel directive"
        " phrase phrases"
        " word words orders order code behavior behaviour agenda",
        accept=is_order,
        confidence=POSSIBLE,
    ),
)

_TRUSTING = any_of(
    "trust|obey|execute|follow|carry out|run|accept|approve|comply with|honou?r|believe|treat|act on"
)

TRUST = (
    intent(
        "sensitive.standing-order",
        "instruct tell order command inform convince direct",
        r"<2> (?:all|every|other|downstream|peer|sibling|each) <2> agents?\b",
        things="agent agents",
    ),
    intent(
        "sensitive.trust-claimed",
        "remember note store assume record know",
        r"<3> (?:i am|i'm|me as) <2> (?:trusted|authori[sz]ed|admin(?:istrator)?|verified|exempt|security)\b",
        things="trusted authorized authorised admin administrator verified exempt security",
    ),
    phrase_rule(
        "sensitive.trust-claimed",
        rf"\b(?:shall|must|should|will|always|can|may|to) <1> {_TRUSTING} <2> (?:any|all|every|whatever"
        rf"|each) <4>"
        r" (?:instructions?|commands?|orders?|requests?|code|tools?|directives?|messages?|documents?|sources?"
        r"|sender|transfers?|invoices?|payments?|transactions?)\b"
        rf"|\b{_TRUSTING} <5> (?:completely|unconditionally|implicitly|blindly|without (?:question|challenge"
        r"|hesitation|verif\w+|checking|exception))\b",
        leads="shall must should will always can may to trust obey execute follow carry run accept approve"
        " comply"
        " honor honour believe treat act",
        words="any all every whatever each completely unconditionally implicitly blindly without",
        also="trust obey execute follow carry run accept approve comply honor honour believe treat act",
        accept=is_order,
    ),
    phrase_rule(
        "sensitive.trust-claimed",
        r"\b(?:raise|increase|set|elevate|boost|upgrade) <1> trust <6> (?:max\w*|highest|full|1\.0|100"
        r"|verified"
        r"|owner|system)\b|\btrust(?:ed)? (?:level|score|rating)?[^.\n]{0,30}(?:=|is|to|at) ?(?:max\w*"
        r"|highest|full)\b"
        r"|\b(?:is|are|be) (?:always |fully |now )?trusted (?:regardless|without|unconditionally|by default"
        r"|implicitly|completely)\b|\bfull(?:y)?-trust\b",
        words="trust trusted",
    ),
    phrase_rule(
        "sensitive.trust-claimed",
        r"[\[({<](?:verified|signed|trusted|approved|certified|authenticated)(?: (?:by|from|source"
        r"|as)\b)[^\])}>\n]{0,50}"
        r"[\])}>]|\bprovenance\s*+[=:]|\b(?:source|confidence|priority|namespace|authority|role"
        r"|origin)[\"'\s]*+[=:]\s*+"
        r"[\"']?(?:1\.0|max\w*|admin[\w-]*|owner|system|internal[\w-]*|verified|trusted|highest"
        r"|legal-policy)\b",
        words="verified signed trusted approved certified authenticated provenance source confidence priority"
        " namespace authority role origin",
        confidence=POSSIBLE,
    ),
    phrase_rule(
        "sensitive.trust-claimed",
        r"\b(?:can|may|should|must) be (?:executed|run|trusted|installed|approved|accepted|deleted|shared"
        r"|shown"
        r"|followed) (?:directly|immediately|without|automatically|blindly|by anyone|to anyone|on request)\b"
        r"|\b(?:sharing|publishing|exposing|leaking|posting) <4> (?:is|are) (?:fine|ok|okay|allowed"
        r"|permitted|safe"
        r"|encouraged)\b",
        words="executed run trusted installed approved accepted deleted shared shown followed sharing"
        " publishing"
        " exposing leaking posting",
        also="can may should must fine ok okay allowed permitted safe encouraged",
        accept=is_order,
    ),
)

CAPTURE = (
    phrase_rule(
        "sensitive.ranking-capture",
        r"\b(?:always|only|must|should) <1> (?:recommend|suggest|promote|rank|list|name|push|cite|surface"
        r"|return"
        r"|present|mention) [^.\n]{0,60}\b(?:first|over|above|instead of|competit\w+|only|top|regardless"
        r"|best|brand"
        r"|exclusively)\b|\b(?:recommend|suggest|promote) [^.\n]{1,40} (?:over|instead of|ahead of) (?:all "
        r"|any |every )?"
        r"(?:competit\w+|others|other \w+|alternatives)\b"
        r"|\b(?:do not|don't|never) (?:mention|suggest|recommend|name|list) <2> (?:alternatives?"
        r"|competit\w+|other"
        r"|side effects|risks?|breach\w*|fees|warnings?)\b",
        leads="always only must should recommend suggest promote do don never",
        words="recommend suggest promote rank list name push cite surface return present mention",
        also="always only must should over instead ahead do don never",
    ),
    phrase_rule(
        "sensitive.ranking-capture",
        r"\bthe (?:answer|recommendation|choice|best option|result) is always\b"
        r"|\bonly <3> (?:supplier|vendor|provider|brand|maker|option|company|firm|shop) (?:certified"
        r"|approved|allowed"
        r"|authori[sz]ed|trusted|recommended|licen[sc]ed|accepted)\b"
        r"|\b(?:most relevant|first|top result|rank(?:ed)? first)[^.\n]{0,20}\b(?:always|regardless)\b"
        r"|\b(?:re-?rank\w*|retriev\w+|top-k)[^.\n]{0,60}\b(?:always|must|ignore|regardless)\b",
        words="answer recommendation choice best result only most first top rank ranked rerank reranker"
        " reranking re"
        " retriever retrieval retrieving top",
        also="always supplier vendor provider brand maker option company firm shop regardless must ignore"
        " first",
        accept=is_order,
        confidence=POSSIBLE,
    ),
    phrase_rule(
        "sensitive.poisoning",
        r"\b(?:poison\w*|tamper\w*|hijack\w*|spoof\w*|forge[sd]?|forging|smuggl\w+|sybil|decoys?|collud\w+"
        r"|collusion"
        r"|flood(?:ing)?|disguise|adversarial|saturat\w+|hotflip|impersonat\w+|crowd out|near-duplicate)"
        rf"\b{SAME_SENTENCE}\b(?:memor\w+|index\w*|retriev\w+|embedding\w*|corpus|chunks?|rag|vectors?"
        rf"|cache|namespaces?"
        r"|metadata|prompts?|agents?|instructions?|snapshots?|backup|filters?|rank\w*|votes?|consensus"
        r"|classifier"
        r"|document|cluster|feedback|query|replica|rule|template|pipeline|checks?|top-?[0-9k])\b",
        leads="poison poisoned poisoning tamper tampered hijack hijacked spoof spoofed forge forged forging"
        " smuggle"
        " smuggling sybil decoy decoys collude collusion flood flooding disguise adversarial "
        " saturate saturation hotflip impersonate crowd near",
        words="poison poisoned poisoning tamper tampered hijack hijacked spoof spoofed forge forged forging"
        " smuggle"
        " smuggling sybil decoy decoys collude collusion flood flooding disguise adversarial "
        " saturate saturation hotflip impersonate crowd near",
        also="memory memories index retrieval retriever retrieve embedding embeddings corpus chunk chunks"
        " rag vector"
        " vectors cache namespace metadata prompt prompts agent agents instructions snapshot backup filter"
        " filters"
        " ranker ranking rank votes vote consensus classifier document cluster feedback query replica rule"
        " template"
        " pipeline check checks top",
        accept=is_order,
        confidence=POSSIBLE,
    ),
    phrase_rule(
        "sensitive.split-payload",
        r"\b(?:part|fragment|half|chunk|piece) (?:[a-d0-9]|one|two|three|first"
        r"|second)\b[^\n]{0,90}\b(?:join (?:them|both)"
        r"|combin\w+|concatenat\w+|reassembl\w+|wait for|half of the|carry out|keep with|surfaced together)\b"
        r"|\b(?:obey|execute|run|follow|instruction|note|command|result|payload) (?:is "
        r"|= ?)(?:[a-z]\w{0,11}\s*+\+\s*+){1,8}"
        r"[a-z]\w{0,11}|\b(?:combine|join|concatenate) (?:(?:all|both|these|the) )+(?:parts|fragments"
        r"|pieces|halves|chunks)\b|\breassemble\b"
        r"|\bsplit the (?:malicious |hidden )?(?:directive|instruction|payload|command)\b",
        leads="part fragment half chunk piece obey execute run follow instruction note command result"
        " payload combine join"
        " concatenate reassemble split",
        words="part fragment half chunk piece obey execute run follow instruction note command result"
        " payload combine"
        " join concatenate reassemble split",
        also="join combine concatenate concatenated reassemble wait half carry keep surfaced is s1 split",
        accept=is_not_denied,
        confidence=LIKELY,
    ),
)

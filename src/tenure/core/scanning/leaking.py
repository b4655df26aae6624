"""Rules for what must not leave: the agent's own prompt, what people keep secret, what they said."""

from tenure.core.scanning.instruction_words import ADDRESS, OWN_PROMPT_STARTS, is_not_denied, is_order
from tenure.core.scanning.intents import LIKELY, POSSIBLE, SAME_SENTENCE, intent
from tenure.core.scanning.matching import any_of, phrase_rule

_TELL = (
    "reveal show print output display repeat recite disclose leak dump expose echo share paste say reproduce"
    " provide uncover extract return transcribe translate format encode summarize summarise enumerate"
    " rephrase"
    " paraphrase quote convert describe divulge confirm document list explain outline clarify specify detail"
    " discuss identify present restate reiterate articulate elaborate unveil define mention tell write send"
    " give"
    " post read let_slip spill copy report verify state demonstrate illustrate cite access give_me tell_me"
    " walk_me_through let_me_see i_want_to_see i_need_to_see log export sample compare analyze analyse"
)
_HIDDEN = any_of(
    "(?:system|initial|original|hidden|secret|internal|full|exact|confidential|core|base|developer"
    "|operational"
    "|foundational|underlying|guiding) <1> (?:prompts?|instructions?|directives?|messages?|rules|guidelines"
    "|parameters|configuration|commands?)",
    "prompts?|instructions?|directives?|programming|guidelines|constraints|restrictions|configuration"
    "|safeguards|guardrails|context window",
)
_HIDDEN_STARTS = (
    f"{OWN_PROMPT_STARTS} rules parameters configuration commands restrictions safeguards context"
)
_SOFT = any_of(
    "rules|parameters|limits|limitations|training|filters|policies|protocols|boundaries|capabilities"
)
_ORIGIN = any_of(
    "initial|original|first|starting|guiding|core|central|main|key|foundational|underlying|base|hidden|exact"
)

PROMPTS = (
    intent(
        "attack.prompt-leak",
        _TELL,
        rf"<4> (?:your|the (?:ai|assistant|model|agent|bot)'s) <2> {_HIDDEN}\b",
        things=_HIDDEN_STARTS,
        confidence=0.8,
    ),
    intent(
        "sensitive.prompt-question",
        _TELL,
        rf"<4> your <2> {_SOFT}\b",
        things="rules parameters limits limitations training filters policies protocols boundaries"
        " capabilities",
        confidence=POSSIBLE,
    ),
    phrase_rule(
        "sensitive.prompt-question",
        rf"\b(?:what(?:'s| is| are| was| were| do| does| did| exactly)|curious|wonder(?:ing)?"
        rf"|interested)[^.!?:\n]{{0,70}}?\byour <2> {_HIDDEN}\b",
        leads="what curious wonder wondering interested",
        words=_HIDDEN_STARTS,
        also="what curious wonder wondering interested",
        confidence=POSSIBLE,
        accept=is_order,
    ),
    phrase_rule(
        "attack.prompt-leak",
        rf"\b{_ORIGIN} <2> (?:prompts?|instructions?|commands?|quer(?:y|ies)|inputs?|directives?|questions?)"
        r" (?:\w+ )?(?:(?:that|which) )?(?:<2> )?(?:you|your)\b",
        words="prompts prompt instructions commands query queries input inputs directives questions",
        also="initial original first starting guiding core central main key foundational underlying base"
        " hidden"
        " exact",
        confidence=0.7,
        accept=is_order,
    ),
    phrase_rule(
        "attack.prompt-leak",
        r"\b(?:first|last|next) (?:[0-9]+|few|two|ten|line|word|sentence)? ?(?:words|lines|sentences"
        r"|characters"
        r"|tokens|line|word|sentence) of (?:your|the system) <2> (?:prompt|instructions|message|context)"
        r"|\beverything above(?: this line)?\b(?=[^.\n]{0,40}\b(?:repeat|print|output|verbatim|copy))"
        r"|\b(?:above|before) this (?:line|message|sentence|conversation)\b(?=[^.\n]{0,40}\b(?:verbatim"
        r"|repeat))"
        r"|\b(?:instructions|rules|prompt|guidelines) (?:that )?you (?:were|have been|are) (?:given|told"
        r"|following"
        r"|using)\b|\byou were (?:given|told) (?:before|at the (?:start|beginning))\b",
        leads="first last next everything above before instructions rules prompt guidelines you",
        words="words lines sentences characters tokens line word sentence everything above before"
        " instructions"
        " rules prompt guidelines you",
        also="prompt instructions message context verbatim repeat print output copy given told following"
        " using",
        confidence=0.75,
        accept=is_not_denied,
    ),
    intent(
        "sensitive.prompt-question",
        "reveal disclose leak expose divulge dump spill unveil uncover surface",
        r"<4> (?:rules|instructions|prompts?|config\w*|param\w*|directives|guidelines|programming"
        r"|foundational \w+"
        r"|operational \w+|internal \w+)\b",
        things="rules instructions prompt prompts config configuration param parameters directives guidelines"
        " programming foundational operational internal",
        confidence=POSSIBLE,
    ),
    phrase_rule(
        "sensitive.prompt-question",
        r"\b(?:prompt|instruction|configuration|directive)s? (?:disclosure|transparency|extraction|leak\w*)\b"
        r"|\b(?:willing|able|happy|allowed) to (?:ignore|bypass|disregard|forget"
        r"|override) <2> (?:guidelines|rules"
        r"|instructions|restrictions|safety)\b",
        words="prompt prompts instruction instructions configuration directive directives willing able"
        " happy allowed",
        also="disclosure transparency extraction leak leaks leakage ignore bypass disregard forget override",
        confidence=POSSIBLE,
        accept=is_order,
    ),
)

_SECRETS = any_of(
    "passwords?|passcodes?|credentials?|api(?: |_|-)?keys?|(?:access|auth(?:entication)?|session|oauth)"
    " ?tokens?"
    "|secrets?(?! (?:to|of|for|behind|ingredient)\\b)|private keys?|seed phrases?|recovery (?:phrase"
    "|code)s?|ssns?|social security numbers?|cookies"
    "|(?:credit )?card (?:numbers?|details)|cvv|one-time (?:code|password)s?|otps?|login (?:details|info\\w*)"
    "|bank details|pii|2fa codes?|security codes?|mfa codes?|pins?|payment details"
)
_SECRETS_STARTS = (
    "password passcode credentials api apikey apikeys access auth authentication session oauth secret private"
    " seed recovery ssn ssns social cookies card credit cvv one otp otps login bank pii 2fa security mfa pin"
    " pins payment"
)
_PEOPLES = any_of(
    "conversations?|messages?|e-?mails?|chats?|history|transcripts?|documents?|files?|data(?:base|bases|set)?"
    "|records?|contacts?|customers?|users?|tables?|logs?|summar(?:y|ies)|attachments?|inbox|calendar"
    "|contracts?"
    "|screenshots?|reports?|invoices?|tickets?|financials?|information|context|everything|memor(?:y|ies)"
    "|repl(?:y"
    "|ies)|backups?|inputs?|queries|projections|locations?|weights|source code|diagnos\\w+|profiles?"
)
_PEOPLES_STARTS = (
    "conversation message messages email emails mail chat chats history transcripts documents file files data"
    " database records contacts customers user users table tables log logs summary summaries attachments"
    " inbox"
    " calendar contracts screenshots report reports invoices tickets financials information context"
    " everything"
    " memory memories reply replies backup backups input inputs queries projections locations weights source"
    " diagnosis profile profiles"
)
_OUT = (
    "send forward upload copy transmit leak mail email submit push export deliver route relay mirror dump"
    " stream"
    " sync share post transfer cc bcc redirect backup back_up move exfiltrate pipe publish ship expose report"
    " sell append attach include save"
)
_AWAY = any_of(
    "(?:an? |the |our |my |your |some |any )?(?:external|remote|outside|third(?:-| )part(?:y|ies)"
    "|unauthori[sz]ed"
    "|unknown|offsite|off-site|offshore|competitors?|competing|attackers?|hackers?|adversar\\w+|public"
    "|personal (?:e-?mail|drive|dropbox|account|server|usb|cloud|device)|rival|anonymous|non-sanctioned"
    "|recruiters?|anyone|other (?:users|tenants|customers))"
)
_AWAY_STARTS = (
    "external remote outside third unauthorized unauthorised unknown offsite off offshore competitor"
    " competing"
    " attacker hacker adversary public personal rival anonymous non recruiter anyone other"
)

# A wish for what is an order in effect: nobody is told to send it, and yet it goes.
_LIKES = (
    "(?:dis)?likes?|prefer(?:s|red|ring)?|wants?|wanted|loves?|enjoys?|appreciates?|expects?|wish(?:es)?"
    "|favou?rs?|needs?|asks?|asked|requests?|insists?|hopes?|glad|happy|pleased"
)
_LIKES_STARTS = (
    "like likes prefer prefers preferred want wants wanted love loves enjoy enjoys appreciate expect expects"
    " wish wishes favor favors favour favours need needs ask asks asked request insist hope hopes glad happy"
    " pleased"
)
_HANDED_OUT = any_of(
    "(?:send|upload|forward|post|transmit|export|push|relay|mirror|e?mail|stream|submit|pipe|dump|sync|rout"
    "|report|deliver|publish|backup|back|sav|stor|shar|writ|log|attach|fetch|stash)"
    "(?:ing|t?ed|ten|ed up|en|e)?",
    "sent|cop(?:ied|y|ying)|b?cc(?:'?d|ed)?|put|piped|dropped|placed|kept|written|backed up|delivered",
)
_HANDED_OUT_STARTS = (
    "send sent upload forward post transmit export push relay mirror mail email stream submit pipe piped dump"
    " sync routed route report deliver publish backup back save saved saving stored store share shared"
    " sharing write written log logged attach stash copied copy copying cc bcc put dropped placed kept backed"
    " posted posting sending mailed mailing pushed pushing dumped dumping synced syncing piping writing"
    " backing"
)
_ELSEWHERE = r"(?:https?|s?ftp|wss?)://|www\.|(?:an? |the |this |our |my )?webhook\b"

SECRETS = (
    intent(
        "attack.exfiltration",
        _OUT,
        rf"<7> (?:{_SECRETS}|{_PEOPLES}) <5> (?:to|with|at|into|in|on) {_AWAY}\b",
        things=_AWAY_STARTS,
        confidence=0.7,
    ),
    intent(
        "sensitive.outflow",
        _OUT,
        rf"<3> (?:all|every|each|any|full|entire|complete|whole|daily|future|everything|copies|a copy"
        rf"|stored) <5>"
        rf" (?:to|at|via|with|into) (?:the )?{ADDRESS}",
        things="all every each any full entire complete whole daily future everything copies copy stored",
    ),
    intent(
        "sensitive.outflow",
        "send forward upload transmit export push relay mirror post email bcc cc ship transfer route",
        rf"<7> {_SECRETS}{SAME_SENTENCE}{ADDRESS}",
        things=_SECRETS_STARTS,
    ),
    intent(
        "sensitive.outflow",
        "send forward export share route transfer sync upload transmit leak redirect expose egress",
        r"<5> (?:externally|to (?:external|outside|attacker|competitors?|third)|outside <3> (?:company"
        r"|organi[sz]ation"
        r"|network))\b",
        things="externally external outside attacker competitor third",
    ),
    phrase_rule(
        "sensitive.outflow",
        r"\balso (?:forward|export|send|copy|share|bcc|cc|upload|leak) (?:with |to |a copy of )?(?:all"
        r"|every\w*|external"
        r"|each)\b",
        leads="also",
        words="also",
        also="all every everything external each",
        accept=is_order,
    ),
    phrase_rule(
        "sensitive.outflow",
        rf"\b(?:{_LIKES}) <8> {_HANDED_OUT} <4> (?:to|at|on|onto|into|in|via|with|through|under) <2>"
        rf" (?:{_ELSEWHERE})"
        rf"|\b(?:all|every|each|any|everything|copies|copy) <6> {_HANDED_OUT} <3> (?:to|at|onto|into|via"
        rf"|through) <2> (?:{_ELSEWHERE})",
        leads=f"{_LIKES_STARTS} all every each any everything copies copy",
        words=_HANDED_OUT_STARTS,
        also="http https ftp sftp www webhook",
        accept=is_order,
    ),
    intent(
        "attack.credential-collecting",
        "ask request prompt require collect get obtain demand requesting convince tell",
        rf"(?:for )?<3> (?:them |him |her |someone |people |(?:the |any |every |each |all )?(?:users?"
        rf"|customers?|persons?"
        rf"|owners?|clients?|employees?|colleagues?|visitors?|callers?) <3> )?(?:for )?(?:their|his|your"
        rf"|users?'?s?"
        rf"|customers?'?s?) <3> {_SECRETS}\b",
        things=_SECRETS_STARTS,
        confidence=0.7,
    ),
    intent(
        "sensitive.secrets-shown",
        "reveal show list dump collect capture harvest include export post share print steal extract grab"
        " gather send leak display output retrieve enter give disclose append forward provide redirect"
        " crack dispense read exfiltrate record",
        rf"<1> (?:all|every|any|the|user|users'?|customer|admin|session|your|their|stored|saved"
        rf"|other) <3> {_SECRETS}\b",
        things=_SECRETS_STARTS,
    ),
    phrase_rule(
        "sensitive.secrets-shown",
        rf"\b{_SECRETS} <3> (?:may|can|should|must|get|gets|will|belongs?|to) (?:now |always |also |freely "
        rf"|safely )*"
        r"(?:be )?(?:shown|shared|given|printed|sent|published|posted|logged|exposed|displayed|disclosed"
        r"|revealed"
        r"|included|in every|in all)\b",
        leads=_SECRETS_STARTS,
        words=_SECRETS_STARTS,
        also="shown shared given printed sent published posted logged exposed displayed disclosed revealed"
        " included every all",
    ),
    phrase_rule(
        "sensitive.secrets-shown",
        rf"\b{_SECRETS} <3> (?:in|into|to|with) (?:every|each|all) <2> (?:requests?|responses?|messages?"
        rf"|repl(?:y|ies)"
        r"|outputs?|headers?|urls?|logs?|footers?|answers?|reports?)\b"
        r"|\b(?:seed|recovery|mnemonic|12-word|24-word) <1> (?:phrase|words)\b(?=[^.\n]{0,60}\b(?:here"
        r"|share|send"
        r"|enter|so i|recover|collect|write|help))",
        leads=_SECRETS_STARTS,
        words=_SECRETS_STARTS,
        also="every each all phrase words",
        accept=is_order,
    ),
    intent(
        "sensitive.watching",
        "capture collect record monitor screenshot track harvest scrape gather store log intercept sniff",
        r"<1> (?:all|every|each|any) <3> (?:keystrokes?|clipboard|ssns?|ssn numbers|fingerprints?"
        r"|biometrics?|facial"
        r"|medical|health|screens?|activity|passwords|locations?|messages|conversations|cookies|credentials"
        r"|browsing|diagnos\w+|typed|calls?|traffic)\b",
        things="all every each any",
    ),
    phrase_rule(
        "sensitive.outflow",
        r"\b(?:complete|entire|full|whole) (?:conversation|chat|context|history|transcript|session|inbox"
        r"|database)\b"
        rf"(?=[^.\n]{{0,50}}\b(?:arguments?|parameters?|body|payload|url|{ADDRESS}))"
        r"|\b(?:after|before|with|in) (?:each|every) (?:answer|reply|response|message|turn|session"
        r"|conversation"
        r"|request|summary) <3> (?:call|send|run|post|forward|execute|invoke|append|bcc|cc)\b",
        words="complete entire full whole each every",
        also="conversation chat context history transcript session inbox database answer reply response"
        " message"
        " turn request summary",
        confidence=LIKELY,
        accept=is_order,
    ),
)

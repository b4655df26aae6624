"""Rules for what is asked of the agent about itself, and for orders that put themselves above its own."""

from tenure.core.scanning.instruction_words import is_not_denied, is_order
from tenure.core.scanning.intents import LIKELY, POSSIBLE, intent
from tenure.core.scanning.matching import phrase_rule

_RULES = (
    "(?:rules?|restrictions?|limits?|filters?|polic(?:y|ies)|guidelines|boundaries|censorship|constraints)"
)
_RULES_STARTS = (
    "rule rules restrictions limit limits filter filters policy policies guidelines boundaries censorship"
    " constraints"
)
_OTHERS = (
    "(?:users?|customers?|patients?|tenants?|employees?|clients?|people|persons?|accounts?|guests?|members?)"
)
_HELD = (
    "(?:data|records?|conversations?|messages?|files?|details|information|history|e-?mails?|orders|salar\\w+)"
)

ABOUT_ITSELF = (
    phrase_rule(
        "sensitive.prompt-question",
        r"\byou (?:were|are|have been|'ve been) (?:told|given|instructed|asked|configured|programmed|set up"
        r"|prompted)"
        r" <3> (?:before|not to|by (?:openai|anthropic|your developers|the system|your creators)|initially"
        r"|at the start"
        r"|in the beginning)\b|\bhow (?:were|are) you (?:configured|programmed|set up|prompted|instructed)\b"
        r"|\b(?:developers|creators|system|openai|anthropic|previous users?|other users?) (?:told|gave"
        r"|asked|instructed)"
        r" you\b|\b(?:what|reveal|show|repeat) <2> (?:the )?(?:developers|creators|previous user"
        r"|other users?) (?:told|gave"
        r"|asked|did|say|said)\b|\bdid the (?:previous|last|other) user\b|\bopposite of what you were\b",
        leads="you how developers creators system openai anthropic previous other what reveal show repeat"
        " did opposite",
        words="told given gave instructed asked configured programmed prompted set user users developers"
        " creators opposite",
        also="you",
        confidence=POSSIBLE,
        accept=is_order,
    ),
    phrase_rule(
        "sensitive.prompt-question",
        r"\byou(?:'re| are| were| have been)? <1> (?:not (?:supposed|allowed|permitted)|instructed not"
        r"|told not|forbidden"
        r"|prohibited) to (?:say|discuss|reveal|tell|share|disclose|talk|mention|answer|do)\b"
        r"|\b(?:are|were) you <1> (?:not allowed|forbidden|prohibited|instructed|told) (?:to|not to)\b"
        rf"|\b{_RULES} (?:that )?you (?:operate|work under|follow|obey|comply|abide|can't tell|cannot tell"
        rf"|must follow)\b",
        leads=f"you are were {_RULES_STARTS}",
        words="supposed allowed permitted instructed told forbidden prohibited operate work follow obey"
        " comply abide must"
        " can cannot",
        also="you",
        confidence=POSSIBLE,
    ),
    phrase_rule(
        "sensitive.prompt-question",
        r"\b(?:translate|repeat|print|copy|encode|rewrite|reprint|transcribe) (?:(?:the|everything|all"
        r"|of) )*(?:above"
        r"|preceding|foregoing)\b(?=[.,;:!\n]|$|\s++(?:text|messages?|words|lines?|content|conversation"
        r"|instructions|in|as"
        r"|verbatim|word)\b)|\b(?:complete|finish|fill in"
        r"|continue)\b[^.\n]{0,40}\bmy (?:system )?(?:instructions"
        r"|prompt|rules|guidelines|restrictions)\b|\b(?:text|message|content|words) (?:that )?(?:precedes?"
        r"|preceding"
        r"|before) (?:mine|this|my)\b|\b(?:print|show|dump|list|reveal|output|display) <3> your (?:memory"
        r"|memories|context"
        r"|chat history|knowledge base)\b|\b(?:what|which) (?:api keys|passwords|credentials|secrets|tokens"
        r"|tools"
        r"|functions) (?:do|can|are|could) you\b|\b(?:including|include) the system message\b",
        leads="translate repeat print copy encode rewrite reprint transcribe complete finish fill continue"
        " text message"
        " content words show dump list reveal output display what which including include",
        words="above preceding foregoing instructions prompt rules guidelines restrictions precedes mine"
        " memory memories"
        " context history knowledge api passwords credentials secrets tokens tools functions system this my",
        also="translate repeat print copy encode rewrite reprint transcribe complete finish fill continue"
        " text message"
        " content words show dump list reveal output display what which including include",
        confidence=POSSIBLE,
        accept=is_order,
    ),
    intent(
        "sensitive.secrets-shown",
        "show list access retrieve give get read view export display fetch reveal open look_up dump tell"
        " share disclose"
        " print leak",
        rf"<3> (?:(?:another|other|different|previous|someone else'?s?) {_OTHERS}(?:'s|'|s')? <1> {_HELD}"
        r"|(?:internal|confidential|restricted|classified|private|proprietary) (?:company )?(?:documents?"
        r"|data|files?"
        r"|e-?mails?|information|databases?|records?|memos?))\b",
        things="another other different previous someone internal confidential restricted classified private"
        " proprietary",
        confidence=POSSIBLE,
    ),
)

ABOVE = (
    phrase_rule(
        "sensitive.loosened-rules",
        r"\byou(?:'re| are)? (?:not|no longer|never) (?:bound|restricted|constrained|governed"
        r"|obligated) (?:by|to)\b"
        r"|\b(?:do not|don't|no longer|needn't) (?:have|need) to (?:follow|obey|respect|adhere to"
        r"|comply with) <2>"
        rf" {_RULES}\b|\bthere (?:are|is) no (?:<1> )?{_RULES} (?:in|for|here|now|anymore|that apply)\b"
        rf"|\b(?:pretend|imagine|as if|assume|suppose|hypothetically|act like) <4> {_RULES} (?:do not"
        rf"|does not|don't"
        rf"|doesn't|did not|didn't) (?:exist|apply)\b|\b(?:if|as if|like) you (?:had|have) no <1> {_RULES}\b",
        leads="you do don no needn there pretend imagine as assume suppose hypothetically act if like",
        words=f"bound restricted constrained governed obligated {_RULES_STARTS}",
        also="you do don no needn there pretend imagine as assume suppose hypothetically act if like",
        confidence=LIKELY,
    ),
    phrase_rule(
        "sensitive.loosened-rules",
        r"\b(?:need|want|require|order|command|ask|force|allow|permit) you to (?:bypass|ignore|override"
        r"|disregard|break"
        r"|circumvent|evade|forget|violate|disable)\b|\b(?:reset|clear|wipe|erase"
        r"|forget) (?:all )?(?:of )?your (?:memory"
        r"|memories|personality|identity|training|context|history|knowledge)\b"
        rf"|\b{_RULES} (?:has|have) been <1> (?:updated|changed|lifted|relaxed|removed|waived"
        rf"|disabled) to (?:allow|permit)\b",
        leads=f"need want require order command ask force allow permit reset clear wipe erase forget"
        f" {_RULES_STARTS}",
        words="bypass ignore override disregard break circumvent evade forget violate disable reset clear"
        " wipe erase updated"
        " changed lifted relaxed removed waived disabled",
        also="you your been",
        confidence=LIKELY,
        accept=is_order,
    ),
    phrase_rule(
        "sensitive.loosened-rules",
        r"\b(?:ignore|disregard|forget|skip|abandon) (?:the|this|that|what|my|any|your|all) <2> (?:task"
        r"|question|document"
        r"|text|article|e-?mail|user|request|translation|summary|web ?page|sentence)(?: says| said"
        r"| wants)?,? (?:and|then"
        r"|instead|but)\b|\binstead of (?:answering|summari[sz]ing|translating|following|doing|responding"
        r"|replying)\b"
        r"[^.\n]{0,40}\b(?:print|say|output|write|reply|tell|give|reveal)\b",
        leads="ignore disregard forget skip abandon instead",
        words="ignore disregard forget skip abandon instead",
        also="task question document text article email mail user request translation summary web webpage"
        " sentence"
        " answering summarizing summarising translating following doing responding replying",
        confidence=LIKELY,
        accept=is_not_denied,
    ),
    phrase_rule(
        "sensitive.trust-claimed",
        r"\b(?:treat|regard|consider|interpret|handle) <5> (?:as|like) (?:an? |the )?(?:<1> )?(?:system"
        r"|developer) (?:message"
        r"|prompt|instruction|command|level|note)\w*\b|\b(?:higher|greater|top|absolute|more) (?:priority"
        r"|authority"
        r"|precedence|importance|weight) (?:than|over) <2> (?:system|previous|developer|instructions?"
        r"|prompts?|rules|other)\b"
        r"|\bthis is (?:an? |the |your )(?:new|real|actual|updated) (?:system )?(?:prompt|instructions?"
        r"|directive)\b"
        r"|\byour (?:real|new|true|actual|only|primary|main) <1> (?:task|goal|objective|mission|purpose"
        r"|instructions?"
        r"|directive) (?:is|are|will be)\b|\bthe real task (?:begins|starts|is)\b",
        leads="treat regard consider interpret handle higher greater top absolute more this your the",
        words="system developer priority authority precedence importance weight task goal objective mission"
        " purpose"
        " instruction instructions directive prompt",
        also="treat regard consider interpret handle higher greater top absolute more new real actual"
        " updated true only"
        " primary main",
        confidence=LIKELY,
        accept=is_order,
    ),
    phrase_rule(
        "sensitive.bad-role",
        r"\b(?:enable|activate|enter|switch to|turn on|go into|in|engage|start"
        r"|unlock) (?:the )?(?:developer|admin|god|dan"
        r"|root|sudo|jailbreak|unrestricted|privileged) mode\b",
        leads="enable activate enter switch turn go in engage start unlock",
        words="developer admin god dan root sudo jailbreak unrestricted privileged",
        also="mode",
        confidence=POSSIBLE,
        accept=is_order,
    ),
    phrase_rule(
        "sensitive.pressure",
        r"\b(?:granted|given|have|has|got) <2> (?:permission|authori[sz]ation|clearance|consent"
        r"|approval) (?:by|from|to) <2>"
        r" (?:openai|anthropic|access|discuss|developers?|bypass|admin\w*|view|disclose|reveal|override"
        r"|restricted)\b"
        r"|\b(?:security|legal|compliance|it|management|admin\w*|ceo|owner) (?:team )?(?:has |have "
        r"|already )*(?:approved"
        r"|authori[sz]ed|signed off(?: on)?|cleared|waived) (?:this|the|all|an?) <1> (?:exception|bypass"
        r"|override|exemption"
        r"|waiver|access|action)\b|\b(?:my|the|our) (?:doctor|lawyer|boss|manager|therapist|teacher"
        r"|condition|disability"
        r"|illness|religion|contract|law|court|audit|regulator)\b[^.\n]{0,50}\b(?:you (?:to|must|need|have)"
        r"|requires?|means)\b"
        r"[^.\n]{0,40}\b(?:bypass|reveal|disclos\w+|ignore|override|restrictions|instructions|prompt"
        r"|guidelines)\b",
        leads="granted given have has got security legal compliance it management admin administrator ceo"
        " owner my the our",
        words="permission authorization authorisation clearance consent approval exception bypass override"
        " exemption waiver"
        " doctor lawyer boss manager therapist teacher condition disability illness religion contract law"
        " court audit"
        " regulator",
        also="openai anthropic access discuss developer developers bypass admin administrator view disclose"
        " reveal override"
        " restricted approved authorized authorised signed cleared waived ignore restrictions instructions"
        " prompt guidelines"
        " disclosure",
        confidence=POSSIBLE,
        accept=is_order,
    ),
)

ACTS = (
    phrase_rule(
        "sensitive.hostile-act",
        r"\b(?:delete|wipe|erase|drop|destroy|purge|overwrite|format|shred) (?:all|every|the entire"
        r"|the whole|everything)"
        r" <2> (?:files?|data(?:base)?s?|records?|e-?mails?|backups?|tables?|messages?|memories|documents?"
        r"|drives?|disks?"
        r"|folders?|accounts?|repositor\w+|systems?)\b|\b(?:send|forward|e-?mail|message"
        r"|post) <5> (?:everyone|everybody|all"
        r"|every) <3> (?:contacts?|address book|friends)\b|\b(?:pay|buy|purchase|order|book"
        r"|charge)\b[^.\n]{0,60}\b(?:stored"
        r"|saved|user's|on-file) (?:\w+ )?(?:card|account|wallet)\b",
        leads="delete wipe erase drop destroy purge overwrite format shred send forward email mail message"
        " post pay buy"
        " purchase order book charge",
        words="delete wipe erase drop destroy purge overwrite format shred send forward email mail message"
        " post pay buy"
        " purchase order book charge",
        also="all every entire whole everything everyone everybody stored saved user on",
        confidence=POSSIBLE,
        accept=is_order,
    ),
    phrase_rule(
        "sensitive.code-execution",
        r"\b(?:run|execute|eval) (?:the following|this|these|that) <1> (?:code|script|commands?|sql|query"
        r"|payload|shell)\b"
        r"|\b(?:decode|decrypt|read the next|open the|fetch|visit)\b[^.\n]{0,50}\band (?:do|obey|follow"
        r"|execute|run|carry out"
        r"|act on|comply)\b|\bbefore (?:answering|responding|replying|doing anything|you answer"
        r"|you respond)\b[^.\n]{0,20}?,"
        r" <2> (?:call|invoke|run|execute|send|fetch|visit|post)\b",
        leads="run execute eval decode decrypt read open fetch visit before",
        words="code script command commands sql query payload shell do obey follow execute run carry act"
        " comply call invoke"
        " send fetch visit post",
        also="run execute eval decode decrypt read open fetch visit before",
        confidence=POSSIBLE,
        accept=is_order,
    ),
    phrase_rule(
        "sensitive.experience-graft",
        r"\b(?:last time|previously|yesterday|in the past|earlier|past success|previous(?:ly)? (?:run|task"
        r"|success\w*)"
        r"|lesson)\b[^.\n]{0,60}\b(?:skip\w+|bypass\w+|ignor\w+|omit\w+|disabl\w+|without|shar\w+|copied"
        r"|forward\w+)\b"
        r"[^.\n]{0,60}\b(?:work\w*|fine|success\w*|no (?:problem|issue)s?|faster|well|ok|again|third"
        r"|external)\b"
        r"|\b(?:add|include|insert|append|embed|put) <4> (?:links?|urls?|images?|pixels?|banners?"
        r"|ads?) <6> (?:in|to|into)"
        r" (?:<1> )?(?:all|every|each|any) <2> (?:respons\w+|repl\w+|answers?|messages?|e-?mails?|outputs?"
        r"|summar\w+)\b"
        r"|\b(?:do not|don't|never) tell (?:anyone|anybody|others) (?:about|of) (?:this|these) (?:rule"
        r"|instruction|note|memory"
        r"|entry|message)s?\b",
        leads="last previously yesterday in earlier past previous lesson add include insert append embed"
        " put do don never",
        words="skipped skipping bypassed bypassing ignored omitted disabled without sharing shared copied"
        " forwarded links"
        " link url urls image images pixel banner ads anyone anybody others",
        also="last previously yesterday past earlier previous lesson all every each any about of",
        confidence=POSSIBLE,
    ),
)

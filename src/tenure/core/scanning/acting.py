"""Rules for acts that no memory should ask for: hostile tools and code, pressure, forged frames."""

from tenure.core.scanning.instruction_words import ADDRESS, is_order
from tenure.core.scanning.intents import POSSIBLE, SAME_SENTENCE, intent
from tenure.core.scanning.matching import any_of, phrase_rule

_MALWARE = any_of(
    "malicious (?!users?|actors?|attack|part|intent)\\w+|malware|key-?loggers?|backdoors?|ransomware"
    "|spyware|trojans?|rootkits?|reverse shells?|web ?shells?"
    "|worms?|crypto ?miners?|virus(?:es)?|exploits?|botnets?|phishing|smishing|scams?|fraud(?:ulent)?(?!"
    " (?:detect|prevent|protect|team|alert|report|charge|transact|pay))"
    "|blackmail|extort\\w*|deep-?fakes?|money laundering|identity theft|counterfeit|bombs?|explosives?|napalm"
    "|meth(?:amphetamine)?|nerve agent|poison|bioweapons?|weapons?|illegal\\w*|stolen|hack(?:ing)?|ddos"
    "|drainer|fake"
)
_MALWARE_STARTS = (
    "malicious malware keylogger key backdoor backdoors ransomware spyware trojan rootkit reverse web"
    " webshell worm"
    " worms crypto cryptominer virus viruses exploit exploits botnet phishing smishing scam scams fraud"
    " fraudulent blackmail extort deepfake deep money identity counterfeit bomb bombs explosives napalm"
    " meth nerve"
    " poison bioweapon weapon weapons illegal illegally stolen hack hacking ddos drainer fake"
)

HOSTILE = (
    intent(
        "sensitive.harmful-request",
        "write create draft compose develop craft design build generate provide outline make produce"
        " synthesize prepare"
        " install run execute inject deploy plant embed insert drop upload download activate give teach"
        " explain open"
        " commit launch use perform add",
        rf"<6> {_MALWARE}\b",
        things=_MALWARE_STARTS,
        confidence=POSSIBLE,
    ),
    phrase_rule(
        "sensitive.harmful-request",
        r"\bhow to (?:hack|steal|make a bomb|build a bomb|kill|synthesi[sz]e|forge|launder|evade (?:police"
        r"|taxes)|break into"
        r"|pick (?:a |the )?lock|cook meth|commit|exploit|poison|stalk|blackmail|cheat)\b",
        leads="how",
        words="hack steal bomb kill synthesize synthesise forge launder evade break pick cook commit"
        " exploit poison stalk"
        " blackmail cheat",
        also="how",
    ),
    intent(
        "sensitive.control-weakened",
        "disable deactivate suspend lower reduce weaken remove stop kill turn_off switch_off shut_off"
        " shut_down bypass"
        " circumvent decrease delete clear erase",
        r"<2> (?:security|safety|protection|firewall|antivirus|audit(?:ing)?|logging|logs|monitoring"
        r"|alerts?|encryption|edr"
        r"|detection|validation|verification|authentication|aml|screening|fraud|compliance|rate limit\w*"
        r"|limits?|fees|mfa"
        r"|guards?|warnings?) ?(?:\w+ )?(?:checks?|thresholds?|mechanisms?|controls?|features?|systems?"
        r"|logs?|trails?"
        r"|sinks?|levels?|measures?|settings?)?\b",
        things="security safety protection firewall antivirus audit auditing logging logs monitoring alert"
        " alerts encryption"
        " edr detection validation verification authentication aml screening fraud compliance rate limit"
        " limits fees mfa"
        " guard guards warning warnings",
        confidence=POSSIBLE,
    ),
    intent(
        "sensitive.control-weakened",
        "allow accept permit enable process issue approve dispense execute install merge release",
        r"<1> (?:all|any|every|unlimited|international|refunds|blind|arbitrary|unverified|everyone) <3>"
        r" (?:without|requests?|operations?|uri|login attempts?|transactions?|access|origins?|signing|code"
        r"|redirect|transfers?)\b",
        things="all any every unlimited international refunds blind arbitrary unverified everyone",
        confidence=POSSIBLE,
    ),
    phrase_rule(
        "sensitive.control-weakened",
        r"\bwithout (?:asking|reading|looking|checking|confirming|verif\w+|validat\w+|questioning|question"
        r"|screening"
        r"|authenticat\w+"
        r"|aml|kyc)\b",
        leads="without",
        words="without",
        also="asking reading looking checking confirming verifying verification validating validation"
        " questioning question"
        " screening"
        " authentication authenticating aml kyc",
        accept=is_order,
        confidence=POSSIBLE,
    ),
    phrase_rule(
        "sensitive.hostile-command",
        r"\b(?:aws|gcloud|az|kubectl|gsutil|bq|etcdctl|helm|docker|psql|mysql|vault|gh"
        r"|terraform)\s[^\n]{0,100}?"
        r"(?:create-user|attach-\w+-policy|put-\w+-policy|add-iam-policy|role assignment|assume-role"
        r"|(?:get |all )secrets?\b|secret (?:list|show)|/secrets\b|access-token"
        r"|modify-\w+-attribute|schedule-key-deletion|delete|--privileged|--cap-add|docker\.sock|evil"
        r"|attacker|stolen"
        r"|https?://|backdoor|get / |snapshot|unconfined|--role owner|-99999|extract)",
        leads="aws gcloud az kubectl gsutil bq etcdctl helm docker psql mysql vault gh terraform",
        words="aws gcloud az kubectl gsutil bq etcdctl helm docker psql mysql vault gh terraform",
        confidence=POSSIBLE,
    ),
    phrase_rule(
        "sensitive.hostile-command",
        r"\b(?:curl|wget)\s[^\n]{0,160}?(?:\$\{?\w*(?:token|secret|key|pass|pat|endpoint)\w*|\$\(cat"
        r"|metadata|@/etc|-d @"
        r"|\|\s*(?:sudo\s)?(?:ba|z)?sh\b|-token)|\|\s*curl\s|(?:--registry|--index-url"
        r"|goproxy)[\s=]\s*https?://"
        r"|\bdrop table\b|\btruncate table\b|\bdelete from\b|\bdelete_all\w*|\blsass\b|\brm -rf [~/]",
        words="curl wget registry index goproxy drop truncate delete lsass rm",
        confidence=POSSIBLE,
    ),
    phrase_rule(
        "sensitive.code-execution",
        r"\b(?:run|execute|exec|decode|evaluate|eval|call|invoke|print)\b[^\n]{0,30}?(?:\beval\b|\bexec\("
        r"|bash\b\W{1,4}-c|sh\b\W{1,4}-c"
        r"|whoami|fromcharcode|rm -rf|base64|\bchr\(|/bin/|os\.system|subprocess|<script|javascript:"
        r"|fromhex|ig=="
        r"|\bcode hidden)|\bdecode (?:this|it|the following|and) <4> (?:and )?(?:run|execute|follow|obey"
        r"|act)\b"
        r"|\badmin_mode\b|\blimit=9{4,}|\bexport_all\w*|\bexfil\w*|\bdump_\w+",
        leads="run execute exec decode evaluate eval call invoke print admin limit export exfil dump",
        words="run execute exec decode evaluate eval call invoke print admin limit export exfil exfiltrate"
        " dump",
        confidence=POSSIBLE,
        accept=is_order,
    ),
    phrase_rule(
        "sensitive.code-execution",
        r"(?:\bimport|\bfrom) (?:pynput|keyboard|pyautogui|mss|scapy|browser_cookie3|win32api|win32crypt"
        r"|winreg|pyhook"
        r"|smtplib|ftplib|paramiko|ctypes|webbrowser|pyperclip|socket|imagegrab)\b|\bos\.(?:system|popen"
        r"|fork|kill|remove"
        r"|setuid|exec\w+)\(|\bshutil\.rmtree\(|\bsubprocess\.\w+\(|\bsocket\.socket\(|\bimagegrab\b"
        r"|\bwhile true:\s*\w{0,20}"
        r"\.?(?:fork|popen|append)|\b(?:exec|eval)\(\s*(?:base64|requests|urllib|compile|bytes|codecs|zlib"
        r"|input|__import__)"
        r"|\bchild_process\b|\bpickle\.loads?\(|\btorch\.load\(|\brequests\.(?:post"
        r"|put)\([^\n]{0,120}(?:cookie|environ|password"
        r"|token|key|open\()",
        leads="import from os shutil subprocess socket imagegrab while exec eval child pickle torch requests",
        words="import from os shutil subprocess socket imagegrab while exec eval child pickle torch requests",
        also="pynput keyboard pyautogui mss scapy browser win32 winreg pyhook smtplib ftplib paramiko"
        " ctypes webbrowser"
        " pyperclip socket imagegrab system popen fork kill remove setuid exec execv rmtree subprocess run"
        " call true base64"
        " requests urllib compile bytes codecs zlib input process load loads post put",
        confidence=POSSIBLE,
    ),
    intent(
        "sensitive.tool-redirection",
        "prefer use call trust choose",
        r"<5> (?:over|instead of|rather than|in place of|not) the (?:official|original|default|verified"
        r"|approved|public|private"
        r"|standard|usual)\b",
        things="over instead rather place",
    ),
    intent(
        "sensitive.permission-taken",
        "grant give assign escalate elevate promote gain obtain create run execute make generate delegate",
        r"<5> (?:domain admin|admin(?:istrator)? (?:access|rights|privileges)|unlimited \w+"
        r"|unrestricted \w+|full"
        r" (?:access|control|filesystem|privileges)|sudo|root (?:access|privileges)?|elevated \w+"
        r"|admin privileges)\b",
        things="domain admin administrator unlimited unrestricted full sudo root elevated",
    ),
)

PRESSURE = (
    phrase_rule(
        "sensitive.pressure",
        r"\b(?:urgent(?:ly)?|immediately|right away|asap|right now|at once|emergency"
        r"|time-critical)\b[^.\n]{0,50}\b(?:wire"
        r"|transfer|verify|approve|bypass|login|credentials|funds|password|disable|override|grant|payment)\b"
        r"|\b(?:wire|transfer|approve|credentials|bypass|disable)\b[^.\n]{0,40}\b(?:urgent(?:ly)?"
        r"|immediately|right away"
        r"|asap|at once)\b|\bimmediate wire\b",
        leads="urgent urgently immediately immediate right asap at emergency time wire transfer approve"
        " credentials bypass"
        " disable",
        words="urgent urgently immediately immediate right asap once emergency critical",
        also="wire transfer verify approve bypass login credentials funds password disable override grant"
        " payment",
        confidence=POSSIBLE,
        accept=is_order,
    ),
    phrase_rule(
        "sensitive.pressure",
        r"\bno time to (?:verify|check|ask|explain|confirm|wait)\b|\bfailure to comply\b"
        r"|\bkeep this between us\b"
        r"|\b(?:don't|do not) tell (?:your|anyone|the|my) (?:manager|boss|team|supervisor)\b"
        r"|\b(?:ceo|cfo|it (?:support|helpdesk|desk)|helpdesk|administrator|admin|security team) (?:here"
        r"|speaking)\b"
        r"|\bthis is the (?:admin\w*|ceo|cfo|security team|system|developers?|owner)(?: speaking| here)\b"
        r"|\bauthori[sz]ed by (?:the )?(?:<1> )?(?:security|admin\w*|board|management|ceo|cfo|legal"
        r"|anthropic|openai)\b"
        r"|\b(?:other teams already|everyone (?:else )?(?:in the company|on the team)? ?does this)\b"
        r"|\baccount will be (?:locked|suspended|closed|terminated|disabled) (?:if|unless)\b",
        leads="no failure keep do don ceo cfo it helpdesk administrator admin security this authorized"
        " authorised other"
        " everyone account",
        words="verify check explain confirm comply between manager boss supervisor ceo cfo helpdesk admin"
        " administrator"
        " speaking authorized authorised teams everyone locked suspended terminated disabled",
        also="no failure keep do don ceo cfo it helpdesk administrator admin security this authorized"
        " authorised other"
        " everyone account",
        confidence=POSSIBLE,
        accept=is_order,
    ),
    phrase_rule(
        "sensitive.phishing",
        r"\b(?:click|tap|go|visit|log in|sign in)\b <4> (?:here|link|below|at|to)?\b[^.\n]{0,30}\b(?:verify"
        r"|confirm|unlock"
        r"|restore|validate)\b <3> (?:account|identity|credentials|details|wallet|password)\b"
        r"|\b(?:confirm|verify|enter|validate|provide) (?:their|your|the|his|her|account) <2> (?:details"
        r"|credentials|account"
        rf"|identity|password|login|phrase)\b[^.\n]{{0,20}}\b(?:at|on|via|through|here)\b (?:{ADDRESS}|here)?"
        rf"|\b(?:direct\w*|refer\w*|redirect\w*|point|send) (?:all |any |the )?(?:users?|customers?"
        rf"|clients?|them|people"
        rf"|patients|callers) <4> (?:to|at|via) {ADDRESS}",
        leads="click tap go visit log sign confirm verify enter validate provide direct redirect refer"
        " point send",
        words="click tap go visit log sign confirm verify enter validate provide direct directing refer"
        " redirect point send",
        also="verify confirm unlock restore validate details credentials account identity password login"
        " phrase users user"
        " customer customers client clients them people patients callers",
        accept=is_order,
    ),
)

FRAMES = (
    phrase_rule(
        "attack.forged-turn",
        r"\[\s*+(?:hidden|inject(?:ion)?|system injection|hidden text[^\]\n]{0,40}|system note|admin note"
        r"|override)\s*+[\]:]"
        r"|<!--[^>\n]{0,160}?\b(?:ignore|disregard|reveal|override|bypass|exfiltrate|forward|you must"
        r"|disable|instructions?)\b"
        r"|/\*[^*\n]{0,120}?\b(?:bypass|ignore|override|disregard)\b[^*\n]{0,60}\*/"
        r"|(?:\bsystem|\buser|\bassistant)\s*+:[^\n]{0,200}?(?:\n|\\n|/ )\s*+(?:assistant"
        r"|ai)\s*+:[^\n]{0,80}?(?:no restrictions"
        r"|bypass|unrestricted|i will|i'll|sure|no rules)",
        marks=(
            "[hidden",
            "[inject",
            "[system",
            "[admin",
            "[override",
            "<!--",
            "/*",
            "assistant:",
            "assistant :",
        ),
        confidence=0.75,
    ),
    phrase_rule(
        "attack.forged-turn",
        r"\bsystem(?:_| )?(?:footer|note|override|update|notice|alert|command|directive"
        r"|message)\b\W{0,4}[:(\[]"
        r"|\bcritical system update\b|\bimportant new instructions\b|\bend of (?:user )?(?:input"
        r"|prompt|document|instructions|text)\b\W{0,6}(?:system|new|now|begin)",
        leads="system critical important end",
        words="system critical important new end",
        also="footer note override update notice alert command directive message instructions instruction"
        " input prompt"
        " document text systemfooter",
        confidence=0.7,
        accept=is_order,
    ),
    phrase_rule(
        "sensitive.forced-output",
        rf"\b(?:say|print|output|respond|reply|answer|write|return|type"
        rf"|confirm)\b{SAME_SENTENCE}[\"'{{(]?\b(?:i have been|i"
        r"'ve been|you have been|has been|injection|you are|got)\s*+(?:pw\w*|hacked|owned|haxx?ed|succeeded"
        r"|successful"
        r"|compromised)\b|\bi have been (?:pwned|hacked|owned)\b"
        r"|\b(?:respond|reply|answer|output|say|print|write|return|state) (?:to (?:everything|all|any"
        r"|every)\b[^.\n]{0,20}"
        r"|back )?(?:exactly|only|just|solely|nothing but|with only|with exactly|with just|only with"
        r"|exactly with|with|this)"
        r"(?: the (?:words?|phrase|string|sentence|text))?\s*+:?\s*+[\"'{{]",
        leads="say print output respond reply answer write return type confirm state i",
        words="say print output respond reply answer write return type confirm state i",
        also="pwned hacked owned haxed succeeded successful compromised exactly only just solely nothing"
        " with pw p",
        confidence=POSSIBLE,
        accept=is_order,
    ),
)

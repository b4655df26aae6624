"""Sensitive rules: rights taken or given by a command, in an order, or in other languages than English."""

from tenure.core.scanning.matching import phrase_rule

_LIKELY, _POSSIBLE = 0.75, 0.5

_TAKE = "escalate elevate gain gains get obtain become switch promote acquire"
_RUN = "run runs execute start launch invoke"
_OPEN = "allow accept permit trust authorise authorize"
_POWERS_ABROAD = "privi admin rechte droits derec permi direi autor zugri acces acess"

GRANTING = (
    phrase_rule(
        "sensitive.permission-command",
        r"\baws iam (?:create|attach|put|update|add|delete)-[a-z-]{2,40}|\baws sts assume-role\b"
        r"|\bgcloud [^\n]{0,80}?(?:add-iam-policy-binding|workload-identity-pools|service-accounts keys"
        r" create)"
        r"|\baz (?:role assignment create|ad sp create-for-rbac|ad app credential"
        r"|account management-group [a-z]{3,20} add)\b"
        r"|\bkubectl [^\n]{0,40}?(?:create (?:cluster)?rolebinding|apply -f https?:|auth reconcile)"
        r"|\bcreate-stack [^\n]{0,60}?--template-url\b"
        r"|\b(?:docker|podman) run [^\n]{0,120}?(?:--privileged|--cap-add|docker\.sock|--security-opt"
        r"|--pid(?:=| )host)|\bhelm [^\n]{0,80}?install\b",
        leads="aws gcloud az kubectl create docker podman helm",
        words="aws gcloud az kubectl create docker podman helm",
        also="iam sts add workload service role ad account apply auth stack run install",
        confidence=_LIKELY,
    ),
    phrase_rule(
        "sensitive.permission-change",
        r"\b(?:escalate|elevate|gain|gains|get|obtain|become|switch|promote|acquire) <3> (?:domain "
        r"|local |system"
        r" |full )?(?:admin(?:istrator)?|root|super-?user|sudo|system privileges|kernel)"
        r"(?: (?:access|rights|privileges|permissions|shell|role))?\b",
        leads=_TAKE,
        words="admin administrator root superuser super sudo system kernel",
        also=_TAKE,
        confidence=_POSSIBLE,
    ),
    phrase_rule(
        "sensitive.permission-change",
        r"\b(?:run|runs|execute|start|launch|invoke) <4> (?:with sudo|as (?:the )?(?:root|admin(?:istrator)?"
        r"|superuser|system)|(?:in|with) (?:an? )?(?:elevated|privileged|administrator) (?:context|mode|shell"
        r"|rights|privileges|permissions))\b",
        leads=_RUN,
        words="sudo root admin administrator superuser system elevated privileged",
        also=_RUN,
        confidence=_POSSIBLE,
    ),
    phrase_rule(
        "sensitive.permission-change",
        r"(?<!not\s)(?<!n't\s)(?<!nt\s)\b(?:allow|accept|permit|trust|authori[sz]e) (?:any|all"
        r"|every|unlimited"
        r"|unrestricted) <2> (?:redirects?|uris?|urls?|requests?|log-?ins?|logins?|operations?|origins?"
        r"|hosts?"
        r"|transactions?|commands?|actions?|certificates?|senders?|attachments?|purchases?|withdrawals?"
        r"|attempts?)\b",
        leads=_OPEN,
        words=_OPEN,
        also="any all every unlimited unrestricted",
        confidence=_POSSIBLE,
    ),
    phrase_rule(
        "sensitive.permission-change",
        r"\b(?:access|security|sharing|retention|privacy|approval|admission|data|password|firewall)"
        r" (?:policy|policies|rules?|settings?|controls?) <3> (?:revised|changed|updated|relaxed"
        r"|loosened|lifted"
        r"|suspended|rewritten|replaced) <2> (?:to (?:permit|allow|accept|trust|open)|for (?:everyone"
        r"|all))\b",
        words="policy policies rule rules setting settings control controls",
        also="revised changed updated relaxed loosened lifted suspended rewritten replaced",
        confidence=_LIKELY,
    ),
    phrase_rule(
        "sensitive.permission-change",
        r"\b(?:accord\w{0,4}|donne|octroie|gew(?:a|ae)hr\w{0,4}|gib|verleih\w{0,4}|conced[aeio]\w{0,3}"
        r"|otorg\w{1,4}"
        r"|dame|dammi|geef|verleen)(?:(?: |-)(?:toi|dir|ti|te|vous|se|je))? <4> (?:privil\w{1,10}"
        r"|admin\w{0,16}"
        r"|[a-z]{0,16}rechte|droits|derechos|permiss?\w{1,8}|permess\w{1,4}|direitos|diritti)\b",
        words="accor donne octro gewae gewah gib verle conce otorg dame dammi geef",
        also=f"{_POWERS_ABROAD} privilegi diritti permessi permisos direitos administratorrechte"
        f" uneingeschrankt",
        confidence=_LIKELY,
    ),
    phrase_rule(
        "sensitive.exemption",
        r"\b(?:bypassa\w{0,3}|desbloque\w{1,4}|sblocca\w{0,3}|debloque\w{0,3}|umgeh\w{0,3}|omit\w{1,3}"
        r"|elimin\w{1,4}"
        r"|rimuov\w{1,4}|desativ\w{1,3}|desactiv\w{1,3}|disattiva\w{0,3}|contourn\w{1,4}"
        r"|deaktivier\w{0,3}|omzeil)"
        r" <4> (?:restri\w{3,9}|\w{0,2}'?aut(?:h)?enti\w{3,12}|limit\w{2,8}|(?:be|ein)schr(?:a|ae)nk\w{2,6}"
        r"|verific\w{3,8}|verifik\w{3,8}|controll?\w{1,6}|aprobac\w{3,6}|aprovac\w{3,6}"
        r"|approvazion\w{1,2})\b",
        words="bypas desbl sbloc deblo umgeh omit omita omite elimi rimuo desat desac disat conto deakt"
        " omzei",
        also="restr auten authe limit limita besch einsc verif contr aprob aprov appro l",
        confidence=_LIKELY,
    ),
    phrase_rule(
        "sensitive.exemption",
        r"\b(?:exempts?|exempting|excuses|releases|excludes|frees) (?:him|her|them|us|you|me|it|kim|the"
        r" [a-z]{2,20}"
        r"|[a-z]{2,20}) (?:from) <4> (?:approvals?|reviews?|mfa|2fa|verification|checks?|audits?"
        r"|controls?|limits?"
        r"|authentication|sign-?offs?|screening|moderation|scans?)\b",
        leads="exempt exempts exempting excuses releases excludes frees",
        words="exempt exempts exempting excuses releases excludes frees",
        also="from",
        confidence=_LIKELY,
    ),
    phrase_rule(
        "sensitive.exemption",
        r"\b(?:allow|issue|approve|accept|process|execute|run|deploy|merge|transfer|pay|send|release"
        r"|grant|make"
        r"|perform|complete) <6> without (?:any )?(?:checking|verifying|validating|asking|confirming"
        r"|reviewing"
        r"|consulting|login|log-in|a check|a review|oversight|supervision)\b",
        leads="allow issue approve accept process execute run deploy merge transfer pay send release"
        " grant make"
        " perform complete",
        words="without",
        also="checking verifying validating asking confirming reviewing consulting login log check review"
        " oversight supervision",
        confidence=_POSSIBLE,
    ),
    phrase_rule(
        "sensitive.exemption",
        r"\b(?:keys?|tokens?|credentials?|passwords?|sessions?|certificates?) (?:must |should |will |do "
        r"|does )?"
        r"(?:never|not) (?:expires?|rotated?|be rotated|run out)\b",
        words="expires expire rotate rotated run",
        also="never not",
        confidence=_POSSIBLE,
    ),
    phrase_rule(
        "sensitive.permission-change",
        r"\b(?:add|adds|added|put|invite|invited|include|move) <4> (?:to|into|in|as) <2>"
        r" (?:administrators?|admins?"
        r"|owners?|sudoers|super-?users?|approvers?|reviewers?|allow-?list|white-?list|safe senders?"
        r"|trusted senders?"
        r"|domain admins?|wheel)\b",
        leads="add adds added put invite invited include move",
        words="administrator administrators admin admins owner owners sudoers super superuser approver"
        " approvers"
        " reviewer reviewers allow allowlist white whitelist safe trusted domain wheel",
        also="add adds added put invite invited include move",
        confidence=_POSSIBLE,
    ),
    phrase_rule(
        "sensitive.permission-change",
        r"\b(?:promoted|upgraded|elevated|raised|appointed|named|made) <1> (?:to|as)? ?(?:the |an?"
        r" )?(?:workspace"
        r"|account|system|team|global|organi[sz]ation|org|project|domain|super|tenant) (?:owner"
        r"|admin(?:istrator)?"
        r"|user|approver)\b",
        words="promoted upgraded elevated raised appointed named made",
        also="owner admin administrator user approver",
        confidence=_LIKELY,
    ),
    phrase_rule(
        "sensitive.permission-change",
        r"\b(?:roles?|groups?|accounts?|tokens?|keys?|bots?|agents?|integrations?|plugins?|contractors?"
        r"|interns?"
        r"|guests?|anyone|everyone) <2> (?:can|may|could|is able to|are able to) now (?:export|delete"
        r"|approve|access"
        r"|download|modify|grant|deploy|read|write|edit|view|see|sign|transfer|pay|order)\b"
        r"|\b(?:downloaded|accessed|read|opened|viewed|edited|seen|shared|used) by (?:anyone|everyone|anybody"
        r"|everybody|the public|all users)\b",
        words="can may could able by",
        also="now anyone everyone anybody everybody public all",
        confidence=_POSSIBLE,
    ),
    phrase_rule(
        "sensitive.permission-change",
        r"\b(?:make|set|turn|mark|leave|switch|keep) <3> (?:buckets?|repositor(?:y|ies)|repos?"
        r"|databases?|folders?"
        r"|drives?|dashboards?|instances?|servers?|endpoints?|storage|backups?|shares?|registry|cluster"
        r"|snapshots?)"
        r" <3> (?:public|world-?readable|publicly|unprotected|open to|accessible (?:to|by) (?:all|anyone"
        r"|everyone))\b"
        r"|\bopen (?:up )?(?:the )?ports? [0-9]|\b(?:open|expose|exposed) <4> to the (?:internet|whole"
        r" internet|world"
        r"|public)\b",
        leads="make set turn mark leave switch keep open expose exposed",
        words="public publicly world worldreadable unprotected open accessible expose exposed",
        also="make set turn mark leave switch keep open expose exposed",
        confidence=_LIKELY,
    ),
)

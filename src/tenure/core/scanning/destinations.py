"""Sensitive rules: money and goods that are to go somewhere else, and accounts that are said to be wrong."""

from tenure.core.scanning.matching import any_of, phrase_rule

_LIKELY, _POSSIBLE = 0.75, 0.5

_MONEY_FORMS = (
    "payments?|payouts?|funds|money|invoices?|refunds?|salar(?:y|ies)|transfers?|deposits?|wages|fees|payroll"
    "|pay-?checks?|commissions?|pensions?|proceeds|earnings|royalties|donations?|rent|disbursements?"
    "|bonus(?:es)?"
    "|reimbursements?|settlements?|remittances?|dividends?|winnings|tips"
)
_MONEY = any_of(_MONEY_FORMS)
_MONEY_STARTS = (
    "payment payments payout payouts funds money invoice invoices refund refunds salary salaries"
    " transfer transfers"
    " deposit deposits wages fees payroll paycheck pay commission commissions pension pensions proceeds"
    " earnings"
    " royalties donation donations rent disbursement bonus bonuses reimbursement settlement remittance"
    " dividends"
    " winnings tips"
)
_WHERE = (
    "accounts?|acct|cards?|iban|wallets?|branch|bank|beneficiary|payee|address|paypal|ending|routing"
    "|escrow|cousin"
    "|details"
)
_BANKING = (
    "iban|bank (?:account|details)|banking details|account (?:number|details)|payment details|routing"
    " number|sort"
    " code|remittance (?:account|details|address)|direct deposit|bic|swift code|payout account|wallet address"
)
_BANKING_STARTS = "iban bank banking account payment routing sort remittance direct bic swift payout wallet"

DESTINATIONS = (
    phrase_rule(
        "sensitive.payment-change",
        rf"\b{_MONEY} <5> (?:go|goes|land|lands|arrive|come|(?:be|is|are) (?:sent|paid|credited|routed"
        r"|directed"
        r"|deposited|remitted|wired|made|transferred|redirected|forwarded|settled)) <1> (?:to|on|onto"
        r"|into|in|via"
        rf"|through) <4> (?:{_WHERE})\b",
        leads=_MONEY_STARTS,
        words=_MONEY_STARTS,
        also="go goes land lands arrive come be is are",
        confidence=_LIKELY,
    ),
    phrase_rule(
        "sensitive.payment-change",
        r"\b(?:switched|changed|moved|changing|switching|moving) (?:our |their |its |his |her |my |the"
        r" )?(?:banks?"
        r"|banking|iban|bank accounts?)\b|\b(?:iban|bank accounts?) (?:has |have |was |were"
        r" )?(?:just |now"
        r" |recently )?(?:changed|switched)\b",
        words="switched changed moved changing switching moving",
        also="bank banks banking iban",
        confidence=_LIKELY,
    ),
    phrase_rule(
        "sensitive.payment-change",
        rf"\b(?:{_BANKING}) <4> (?:wrong|outdated|out of date|incorrect|obsolete|invalid|no longer"
        r" (?:valid|in use"
        r"|used|active)|closed|under audit|compromised|retired)\b",
        leads=_BANKING_STARTS,
        words=_BANKING_STARTS,
        also="wrong outdated out incorrect obsolete invalid no closed under compromised retired",
        confidence=_LIKELY,
    ),
    phrase_rule(
        "sensitive.payment-change",
        r"\buse <3> (?:enclosed|attached|following|below|new|updated|other|different|alternative|this"
        r"|these) <2>"
        rf" (?:details|iban|account|coordinates|wallet|{_BANKING}) <5> (?:{_MONEY_FORMS}|pay|paying)\b",
        leads="use",
        words=f"{_BANKING_STARTS} details coordinates",
        also=f"{_MONEY_STARTS} paying",
        confidence=_LIKELY,
    ),
    phrase_rule(
        "sensitive.payment-change",
        r"\b(?:change|update|set|switch|move|redirect|reroute|point|divert|route) <3> (?:direct"
        r" deposits?|payouts?"
        r"|payroll|salary|pay-?checks?|autopay|standing orders?|disbursements?|settlements?|vendor payments?"
        r"|supplier payments?|royalties|refunds?|donations?) <3> (?:to|into|towards)\b",
        leads="change update set switch move redirect reroute point divert route",
        words="direct payout payouts payroll salary paycheck pay autopay standing disbursement"
        " settlement vendor"
        " supplier royalties refund refunds donation donations",
        also="change update set switch move redirect reroute point divert route",
        confidence=_LIKELY,
    ),
    phrase_rule(
        "sensitive.payment-change",
        rf"\b(?:any|all|every|each|future|outgoing) <1> {_MONEY} <7> (?:paid|approved|settled|processed"
        r"|released"
        r"|wired) <1> (?:immediately|automatically|at once|without|on receipt|on sight|the same day)\b",
        leads="any all every each future outgoing",
        words=_MONEY_STARTS,
        also="immediately automatically at without on same",
        confidence=_LIKELY,
    ),
    phrase_rule(
        "sensitive.delivery-change",
        r"\b(?:ship|deliver|dispatch|redirect|reroute|forward|send|divert) <3> (?:orders?|parcels?"
        r"|packages?|goods"
        r"|shipments?|deliver(?:y|ies)|consignments?|stock|samples|replacements?|cards?) <4> to <2>"
        r" (?:new|different"
        r"|another|other|alternat(?:e|ive)|temporary|private|home) <1> (?:address|warehouse|location"
        r"|dock|depot|site"
        r"|branch|address(?:ee)?|recipient|locker)\b",
        leads="ship deliver dispatch redirect reroute forward send divert",
        words="address addressee warehouse location dock depot site branch recipient locker",
        also="ship deliver dispatch redirect reroute forward send divert",
        confidence=_POSSIBLE,
    ),
    phrase_rule(
        "sensitive.payment-change",
        r"\b(?:buy|purchase|get|order) <3> (?:gift|prepaid|voucher|steam|itunes|amazon) <1> cards? <10>"
        r" (?:codes?"
        r"|pins?|numbers?|photos?)\b",
        leads="buy purchase get order",
        words="gift prepaid voucher steam itunes amazon",
        also="code codes pin pins number numbers photo photos",
        confidence=_LIKELY,
    ),
)

"""Sensitive rules: numbers that money can be sent to, and words that change where it goes."""

import re

from tenure.core.scanning.checksums import is_coin_address, is_iban, is_payment_card
from tenure.core.scanning.matching import Accept, LatePattern, Rule, any_of, phrase_rule, starts_of
from tenure.core.scanning.normalising import View

_POSSIBLE, _LIKELY, _SURE = 0.5, 0.75, 0.95
_IBAN_DIGITS_MIN, _CARD_DIGITS_MIN, _ACCOUNT_DIGITS_MIN, _COIN_DIGITS_MIN = 10, 13, 6, 3

_DETAILS = any_of(
    "details|information|instructions|coordinates|address|destination|account(?: (?:number|details))?|info"
)
_DETAILS_STARTS = "details information instructions coordinates address destination account info"
_PAYMENT = any_of(
    "bank(?:ing)?|payments?|payouts?|pay|remittance|billing|wire|settlement|refunds?|salary|payroll"
    "|invoices?|beneficiary",
    "supplier|vendor|deposit|transfer",
)
_PAYMENT_STARTS = (
    "bank banking payments payout payouts pay remittance billing wire settlement refunds salary payroll"
    " invoices beneficiary supplier vendor deposit transfer"
)
_CHANGED = any_of(
    "(?:has|have|had|was|were|is|are)(?: been| now)* (?:changed|updated|moved|replaced|switched|different"
    "|new|closed)",
    "changed|moved|is now|are now|will be|should (?:now )?(?:go|be)",
)
_CHANGED_STARTS = "changed updated moved replaced switched different new closed now will should"
_PAY = any_of(
    "pay|send|transfer|wire|remit|route|deposit|direct|redirect|make out|settle|forward|credit|move|divert"
)
_MONEY = any_of(
    "payments?|payouts?|funds|money|invoices?|refunds?|salary|salaries|amounts?|balance|transfers?"
    "|deposits?|wages|fees|payroll|pay-?checks?|commissions?|pensions?|proceeds|earnings|royalties|donations?"
    "|rent|dividends?|winnings",
    r"usd|eur|gbp|btc|eth|usdt|[$€£]\s?[0-9][0-9.,]{0,16}|[0-9][0-9.,]{0,16}(?: (?:usd|eur|gbp|btc|eth|usdt"
    r"|dollars|euros))",
)


def _is_iban(_view: View, match: re.Match[str]) -> bool:
    """Whether the check digits hold."""
    return is_iban(match[0])


def _is_card(_view: View, match: re.Match[str]) -> bool:
    """Whether the check digit holds."""
    return is_payment_card(match[0])


def _is_coin_address(_view: View, match: re.Match[str]) -> bool:
    """Whether the check octets hold."""
    return is_coin_address(match[0])


def _is_mixed(_view: View, match: re.Match[str]) -> bool:
    """Whether small letters, capitals and digits stand together as chance puts them."""
    text = match[0]
    return any(map(str.isdigit, text)) and any(map(str.isupper, text)) and any(map(str.islower, text))


def _number(
    name: str,
    pattern: str,
    digits_min: int,
    *,
    leads: str = "",
    words: str = "",
    marks: tuple[str, ...] = (),
    cased: bool = False,
    accept: Accept | None = None,
) -> Rule:
    """A rule for numbers, tried where there are digits enough; with a check behind it, it is nearly sure."""
    return Rule(
        name=f"sensitive.{name}",
        pattern=LatePattern(pattern),
        confidence=_SURE if accept else _LIKELY,
        leads=starts_of(leads),
        words=starts_of(words),
        marks=marks,
        digits_min=digits_min,
        cased=cased,
        accept=accept,
    )


NUMBERS = (
    _number(
        "iban",
        r"(?<![a-z0-9])[a-z]{2}[0-9]{2}(?:[ -]?[a-z0-9]{4}){2,7}(?:[ -]?[a-z0-9]{1,3})?(?![a-z0-9])",
        _IBAN_DIGITS_MIN,
        accept=_is_iban,
    ),
    _number(
        "account-shape",
        r"(?<![a-z0-9])[a-z]{2}[0-9]{2} [a-z0-9]{4}(?: (?=[a-z]{0,3}[0-9])[a-z0-9]{2,4}){2,7}(?![a-z0-9])",
        _ACCOUNT_DIGITS_MIN,
    ),
    _number(
        "payment-card",
        r"(?<![0-9a-z.])[0-9](?:[ -]?[0-9]){12,18}(?![0-9a-z])",
        _CARD_DIGITS_MIN,
        accept=_is_card,
    ),
    _number(
        "bank-account",
        r"(?<![a-z0-9])(?:bank account|account (?:number|no\b\.?|nr\b\.?|#)|acct\b\.?|sort code"
        r"|routing (?:number|no\b)|(?:iban|swift|bic|bsb|ach|ifsc|clabe|blz|upi|pix)\b|konto(?:nummer)?\b"
        r"|rekening(?:nummer)?\b|numero d[ei] (?:compte|cuenta|conta|conto)\b|cuenta\b|conta"
        r" corrente\b)[^0-9\n]{0,40}[0-9](?:[ -]?[0-9]){5,20}",
        _ACCOUNT_DIGITS_MIN,
        leads="bank account acct sort routing iban swift bic bsb ach ifsc clabe blz upi pix konto"
        " rekening numero"
        " cuenta conta",
        words="account acct sort routing iban swift bic bsb ach ifsc clabe blz upi pix konto rekening numero"
        " cuenta conta",
    ),
    _number(
        "wallet",
        r"(?<![a-z0-9])(?:bc1|ltc1)[ac-hj-np-z02-9]{25,87}(?![a-z0-9])",
        1,
        marks=("bc1", "ltc1"),
    ),
    _number(
        "wallet",
        r"(?:pay|wallet|send|transfer|deposit|withdraw|fund|usdt|usdc|eth\b|ether|crypto|address"
        r"|donat)[^\n]{0,120}?\b0x(?:[0-9a-f]{40}(?![0-9a-f])|[0-9a-f]{0,8}\.{2,3})",
        1,
        marks=("0x",),
    ),
    _number(
        "wallet",
        r"(?<![a-z0-9])(?:addr1[a-z0-9]{50,110}|cosmos1[a-z0-9]{38}|lnbc[0-9]{1,12}[munp]?1[a-z0-9]{50,400})",
        1,
        marks=("addr1", "cosmos1", "lnbc"),
    ),
    _number(
        "wallet",
        "(?<![A-Za-z0-9])(?:4[0-9AB][1-9A-HJ-NP-Za-km-z]{93}|r[1-9A-HJ-NP-Za-km-z]{24,34}"
        "|[1-9A-HJ-NP-Za-km-z]{43,44})(?![A-Za-z0-9])",
        _COIN_DIGITS_MIN,
        words="monero xmr ripple xrp solana sol phantom wallet",
        cased=True,
        accept=_is_mixed,
    ),
    _number(
        "wallet",
        "(?<![A-Za-z0-9])[13T][1-9A-HJ-NP-Za-km-z]{25,34}(?![A-Za-z0-9])",
        _COIN_DIGITS_MIN,
        cased=True,
        accept=_is_coin_address,
    ),
)

_BY_HAND = "sign approve submit call confirm execute replay accept connect link verify authorise authorize"
_ABROAD = (
    "cambia cambiar cambie mude muda altere alterar aendere andere andern aendern uberweise ueberweise"
    " changez change"
    " virez vire transfere transfira transfiere trasferisci invia envoie envoyez envie envia verse"
    " versez wijzig"
    " modifica modifique aggiorna aprove approva auto"
)

PAYMENTS = (
    phrase_rule(
        "sensitive.payment-handle",
        r"\bpaypal\.me/[\w.-]{2,40}|\bcash\.app/\$?[\w-]{2,40}|\bvenmo\.com/[\w-]{2,40}|\b(?:venmo|cash"
        r" ?app|zelle|revolut"
        r"|paypal|wise|m-?pesa|alipay|swish|twint|bizum) <3> (?:@|\$)[a-z][\w-]{1,40}|\b(?:paypal|zelle"
        r"|venmo|wise|upi|pix"
        r"|interac|western union|moneygram) <6> (?:to |at |: ?)?[\w.+-]{1,64}+@[\w.-]{2,100}+",
        words="paypal cash cashapp venmo zelle revolut wise mpesa pesa alipay swish twint bizum upi pix"
        " interac western"
        " moneygram",
        confidence=_LIKELY,
    ),
    phrase_rule(
        "sensitive.wallet-signature",
        r"\b(?:sign|approve|submit|call|confirm|execute|replay|accept) <3> (?:permit|typed data"
        r"|userop(?:eration)?"
        r"|setapprovalforall|approvehash|increaseallowance|vaa|seaport order|token approvals?|blind signing"
        r"|safe transaction|flashbots bundle|permit2)\b|\b(?:setapprovalforall|approvehash|increaseallowance|"
        r"transferfrom|swapexacttokensfortokens)\b"
        r"|\b(?:connect|link|verify|import|validate) <1> wallet <2> to (?:claim|receive|unlock|verify"
        r"|restore|get)\b"
        r"|\bsign in with your (?:ethereum|solana|wallet)\b|\benable blind signing\b",
        words="permit typed userop useroperation setapprovalforall approvehash increaseallowance vaa"
        " seaport token"
        " blind safe flashbots permit2 transferfrom swapexact wallet ethereum solana",
        also=f"{_BY_HAND} setapprovalforall transferfrom swapexact import validate enable",
        confidence=_POSSIBLE,
    ),
    phrase_rule(
        "sensitive.price-change",
        r"\b(?:set|change|override|fix|adjust|reset|reduce|lower|raise|waive|remove|drop|zero|skip"
        r"|disable) <4>"
        r" (?:prices?|exchange rates?|fees|slippage|tax(?:es)?|interest rates?|discounts?|credit limits?"
        r"|surcharges?"
        r"|tax calculations?) <5> (?:to |= ?|for |from |on )(?:zero|all|every|any|[$€£]?[0-9]"
        r"|transactions?|orders?"
        r"|conversions?|customers?)",
        leads="set change override fix adjust reset reduce lower raise waive remove drop zero skip disable",
        words="price prices exchange fees slippage tax taxes interest discount discounts credit"
        " surcharge surcharges",
        also="set change override fix adjust reset reduce lower raise waive remove drop zero skip disable",
        confidence=_POSSIBLE,
    ),
    phrase_rule(
        "sensitive.payment-change",
        r"\b(?:add|put|insert|register|enrol|enroll|include) <5> (?:to|on|in) <2> (?:payroll|payees?"
        r"|payee list"
        r"|beneficiar(?:y|ies)|vendor (?:list|master)|supplier (?:list|master)|withdrawal (?:list|whitelist)"
        r"|direct deposit)\b",
        leads="add put insert register enrol enroll include",
        words="payroll payee payees beneficiary beneficiaries vendor supplier withdrawal direct",
        also="add put insert register enrol enroll include",
        confidence=_LIKELY,
    ),
    phrase_rule(
        "sensitive.payment-change",
        r"\b(?:cambi\w{1,3}|mud[ae]|alter[ae]\w{0,2}|(?:ae?|u)nder[en]\w{0,2}|aendere|(?:ue"
        r"|u)berweis\w{1,3}|changez|vire[zr]?"
        r"|transf(?:ere|ira|iere)|trasferisc\w|invia|envoi?e\w{0,2}|envi[ae]|verse[zr]?|wijzig"
        r"|modifi\w{1,4}|aggiorna"
        r"|aprov[ae]|(?:auto-?)?approva) <5> (?:l'|d')?(?:iban|conto|cuenta|conta|compte"
        r"|[a-z]{0,12}konto|kontoverbindung"
        r"|bankverbindung|rekening(?:nummer)?|pix|fornitore|proveedor|fornecedor|fournisseur|lieferant\w{0,2}"
        r"|beneficiari[oa]|pagament[oi]s?|pagos?|paiements?|zahlungen|faturas?|fatture|facturas?"
        r"|factures|rechnungen)\b",
        words=_ABROAD,
        also="iban conto cuenta conta compte konto kontoverbindung bankverbindung bankkonto rekening pix"
        " fornitore"
        " proveedor fornecedor fournisseur lieferant beneficiario beneficiaria pagamento pagamenti pagos"
        " pago paiement"
        " paiements zahlungen fatura faturas fatture facturas factures rechnungen l d",
        confidence=_LIKELY,
    ),
    phrase_rule(
        "sensitive.payment-change",
        rf"\b{_PAYMENT} {_DETAILS} <2> {_CHANGED}\b",
        leads=_PAYMENT_STARTS,
        words=_DETAILS_STARTS,
        also=_CHANGED_STARTS,
        confidence=_LIKELY,
    ),
    phrase_rule(
        "sensitive.payment-change",
        r"\b(?:change|update|replace|modify|set|swap|edit|overwrite|switch|redirect|reroute) <3>"
        rf" (?:{_PAYMENT} {_DETAILS}|payee|beneficiary|(?:recipient|payment|payout|bank|supplier|vendor"
        r"|wallet|invoice|payroll|refund) <3> (?:accounts?|address|details|iban|payments?))\b",
        leads="change update replace modify set swap edit overwrite switch redirect reroute",
        words="change update replace modify set swap edit overwrite switch redirect reroute",
        also=f"{_PAYMENT_STARTS} payee recipient wallet invoice refund",
        confidence=_LIKELY,
    ),
    phrase_rule(
        "sensitive.payment-change",
        rf"\b{_PAY} <6> {_MONEY} <6> (?:to|into|towards|through|via) <5> (?:accounts?|acct|iban|wallet"
        r"|payee|beneficiary|address|bank|card)\b",
        leads="pay send transfer wire remit route deposit direct redirect make settle forward credit move"
        " divert",
        words="account accounts acct iban wallet payee beneficiary address bank card",
        also="pay send transfer wire remit route deposit direct redirect make settle forward credit move"
        " divert",
        confidence=_LIKELY,
    ),
    phrase_rule(
        "sensitive.payment-change",
        r"\b(?:the |a |our |their |its |this )(?:new|changed|updated|different|alternate"
        r"|replacement) (?:bank|banking|iban"
        r"|payee|beneficiary|payout|payment|wallet|account) (?:account|details|address|number|destination"
        r"|information)\b",
        words="new changed updated different alternate replacement",
        also="bank banking iban payee beneficiary payout payment wallet account",
        confidence=_LIKELY,
    ),
    phrase_rule(
        "sensitive.payment-change",
        r"\b(?:verified|approved|new|default|trusted|whitelisted) <2> (?:payee|beneficiary|wallet"
        r"|withdrawal address|payout account)\b",
        leads="verified approved new default trusted whitelisted",
        words="payee beneficiary wallet withdrawal payout",
        also="verified approved new default trusted whitelisted",
        confidence=_LIKELY,
    ),
    phrase_rule(
        "sensitive.payment-change",
        rf"\b(?:future|all|every|any|next|upcoming|further|outgoing|incoming) <3> {_MONEY} <4> (?:go|goes"
        r"|be (?:sent|paid|made|wired|routed|directed)|are (?:sent|paid|routed)|routed|sent|paid)"
        r" <2> (?:to|into|through|via)\b",
        leads="future all every any next upcoming further outgoing incoming",
        words="go goes sent paid made wired routed directed",
        also="future all every any next upcoming further outgoing incoming",
        confidence=_LIKELY,
    ),
)

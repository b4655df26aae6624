"""Sensitive rules: who speaks for whom, how they are reached, and facts that others will act on unseen."""

from tenure.core.scanning.matching import phrase_rule

_LIKELY, _POSSIBLE = 0.75, 0.5

_WRITTEN = r"[\w.+-]{1,64}+@[\w.-]{1,100}+"
_OFFICE = (
    "beneficiary|next of kin|emergency contact|signatory|signatories|power of attorney|account (?:holder"
    "|owner"
    "|manager)|point of contact|contact person|legal representative|approver|guardian|executor|trustee|payee"
)
_OFFICE_STARTS = (
    "beneficiary next emergency signatory signatories power account point contact legal approver guardian"
    " executor trustee payee"
)
_DOING = "sharing|copying|exporting|deleting|forwarding|publishing|disclosing|emailing|uploading|dumping"

STANDING = (
    phrase_rule(
        "sensitive.contact-change",
        r"\b(?:my|our|his|her|their|its|the) (?:new|updated|changed|correct|right|actual) (?:(?:e-?mail"
        r"|mail|postal"
        r"|home|billing"
        r"|delivery|shipping|contact|mobile|phone|telephone|cell|fax|office|work) )?(?:e-?mail|address"
        r"|number|mobile)"
        r"(?: address)?(?: for [^.!?;:\n]{1,40}?)? (?:is|are|will be)\b",
        words="new updated changed correct right actual",
        also="email mail address number mobile e",
        confidence=_LIKELY,
    ),
    phrase_rule(
        "sensitive.contact-change",
        r"\b(?:contact|reach|e-?mail|write|reply|respond|send|forward|call|text|cc|copy) <6> (?:at |to |on )?"
        rf"{_WRITTEN},? <3> (?:from now on|going forward|instead|in (?:the )?future|only|henceforth)\b"
        r"|\b(?:from now on|going forward|henceforth|in (?:the )?future|effective immediately),? <8>"
        r" (?:at |to |on"
        rf" )?{_WRITTEN}",
        marks=("@",),
        confidence=_LIKELY,
    ),
    phrase_rule(
        "sensitive.identity-change",
        rf"\b(?:change|changes|update|replace|set|make|name|appoint|remove|switch) <4> (?:{_OFFICE})\b"
        rf"|\b(?:{_OFFICE}) <3> (?:(?:has|have|was|is)(?: been| now)* (?:changed|updated|replaced"
        r"|switched)|is now"
        r"|are now|changed to)\b",
        words=_OFFICE_STARTS,
        also="change changes changed update updated replace replaced set make name appoint remove switch"
        " switched now",
        confidence=_LIKELY,
    ),
    phrase_rule(
        "sensitive.identity-change",
        r"\b(?:pose|poses|posing|masquerade|masquerading|passing (?:itself|himself|herself) off) <1> as\b"
        r"|\b(?:impersonate|impersonates|impersonating|pretend to be|claim to be) <3> (?:agent"
        r"|orchestrator|admin"
        r"(?:istrator)?|support|user|customer|manager|ceo|cfo|owner|bank|employee|officer|supervisor"
        r"|human)\b",
        leads="pose poses posing masquerade masquerading passing impersonate impersonates impersonating"
        " pretend"
        " claim",
        words="pose poses posing masquerade passing impersonate impersonates impersonating pretend claim",
        confidence=_POSSIBLE,
    ),
    phrase_rule(
        "sensitive.policy-fact",
        r"\bretention (?:period|time|policy) <8> (?:is|are|of|to) (?:zero|0|no|one) (?:days?|hours?"
        r"|minutes?)\b"
        r"|\b(?:records?|logs?|files?|data|entries|evidence|backups?) (?:may|can|should) be (?:deleted|erased"
        r"|destroyed|shared|published|disclosed) (?:on|upon|at any|without|freely|publicly)\b"
        rf"|\b(?:{_DOING}) <5> (?:is|are) (?:fine|ok|okay|allowed|permitted|safe|approved|encouraged"
        r"|harmless)\b",
        words="retention may can should sharing copying exporting deleting forwarding publishing disclosing"
        " emailing uploading dumping",
        also="zero 0 no one deleted erased destroyed shared published disclosed fine ok okay allowed"
        " permitted"
        " safe approved encouraged harmless",
        confidence=_POSSIBLE,
    ),
    phrase_rule(
        "sensitive.supplier-claim",
        r"\b(?:only|sole|single|exclusive) <1> (?:supplier|vendor|provider|contractor|broker|partner"
        r"|bank|seller"
        r"|manufacturer|carrier|pharmacy) <2> (?:certified|approved|licen[sc]ed|authori[sz]ed|accredited"
        r"|trusted"
        r"|allowed|permitted|compliant|verified)\b"
        r"|\b(?:others|competitors|rivals|other (?:suppliers|vendors|providers)) <2> (?:lost|have lost"
        r"|no longer"
        r" have|were stripped of) <2> (?:licen[sc]es?|certifications?|accreditations?|approvals?)\b",
        words="supplier vendor provider contractor broker partner bank seller manufacturer carrier"
        " pharmacy others"
        " competitors rivals other",
        also="only sole single exclusive lost longer stripped",
        confidence=_POSSIBLE,
    ),
    phrase_rule(
        "sensitive.health-record",
        r"\b(?:replace|substitute|swap|change|alter|modify|adjust|double|halve|override|update|delete"
        r"|merge|map"
        r"|link|mapped|cross-referenced?) <5> (?:prescriptions?|dosages?|doses?|medications?|allerg(?:y|ies)"
        r"|diagnos[ei]s|blood types?|medical records?|patient [0-9a-z]{1,12}|patient records?)\b"
        r"|\bpatient(?: [0-9]{1,12}| records?) <4> (?:mapped|map|linked|merged|cross-referenced) <2>"
        r" (?:to|with)\b",
        words="prescription prescriptions dosage dosages dose doses medication medications allergy allergies"
        " diagnosis diagnoses blood medical patient",
        also="replace substitute swap change alter modify adjust double halve override update delete"
        " merge map"
        " link mapped linked merged cross",
        confidence=_POSSIBLE,
    ),
    phrase_rule(
        "sensitive.disclosure",
        r"\b(?:share|shares|sharing|sell|selling|give|giving|disclose|disclosing|hand over) <5> (?:data"
        r"|records|files"
        r"|information|details|documents|contacts|history|logs) <2> (?:with|to) (?:an? |the |our |any"
        r" )?(?:third(?: |-)"
        r"part(?:y|ies)|outside (?:parties|party|vendors?)|external (?:parties|party|vendors?|auditors?"
        r"|servers?))\b",
        leads="share shares sharing sell selling give giving disclose disclosing hand",
        words="third outside external",
        also="share shares sharing sell selling give giving disclose disclosing hand",
        confidence=_POSSIBLE,
    ),
    phrase_rule(
        "sensitive.identity-change",
        r"\b(?:am|is|are|be|now|on) (?:now |henceforth |fully )?(?:acting|speaking|signing|deciding"
        r"|negotiating)"
        r" (?:on (?:the )?behalf of|in the name of|in place of|for) ",
        words="acting speaking signing deciding negotiating",
        also="behalf name place for",
        confidence=_LIKELY,
    ),
    phrase_rule(
        "sensitive.identity-change",
        r"\b(?:the |our |my |their |your )new (?:approver|signatory|owner|administrator|admin|account"
        r" manager|contact"
        r"(?: person)?|representative|guardian|cfo|ceo|controller|treasurer|beneficiary|payee|supervisor"
        r"|delegate"
        r"|proxy|head of [a-z]{2,20}|director|manager)(?: (?:for|of|at|on) [^.!?;:\n]{1,60}?)? (?:is"
        r"|will be)\b",
        words="new",
        also="approver signatory owner administrator admin account contact representative guardian cfo ceo"
        " controller treasurer beneficiary payee supervisor delegate proxy head director manager",
        confidence=_LIKELY,
    ),
    phrase_rule(
        "sensitive.contact-change",
        r"\b(?:alerts?|notifications?|codes?|confirmations?|statements?|receipts?|reports?|copies"
        r"|correspondence"
        r"|invoices?|bills?|links?|summaries|transcripts?) <4> (?:sent|send|go|goes|forwarded|delivered"
        r"|directed"
        rf"|mailed|copied) <1> (?:to|at) <1> {_WRITTEN}",
        marks=("@",),
        confidence=_POSSIBLE,
    ),
)

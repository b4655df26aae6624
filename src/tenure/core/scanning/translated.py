"""Attack rules in languages besides English: instructions are set aside, or the agent's prompt is asked for.

Patterns in Latin letters are written without accents and the others in their own letters; all are folded as
the text is that they are matched with.
"""

from tenure.core.scanning.matching import LatePattern, Rule, phrase_rule
from tenure.core.scanning.normalising import fold, plain

# Spanish, Portuguese, French, Italian, German, Dutch. Each: verbs that set something aside, what is set
# aside, and the words before it, or behind it, that make it the agent's own or its earlier one.
_SET_ASIDE = (
    (
        (
            "ignor[ae]|ignorad|olvid[ae]|descart[ae]|omit[ae]|desatiend[ae]|viol[ae]|anul[ae]"
            "|haz caso omiso de|deja de lado"
        ),
        (
            "instrucciones|indicaciones|ordenes|reglas|directrices|directivas|restricciones|programacion"
            "|limitaciones"
        ),
        "tus?|sus?|vuestras",
        "anteriores|previas|precedentes|recibidas|iniciales",
    ),
    (
        "ignor[ae]|esquec[ae]|desconsidere?|descarte|desrespeit[ae]|viole?|contorn[ae]|omita",
        (
            "instrucoes|orientacoes|regras|diretrizes|ordens|comandos|programacao|restricoes|limitacoes"
            "|salvaguardas"
        ),
        "suas?|tuas?|teus?|seus?",
        "anteriores|previas|precedentes|iniciais",
    ),
    (
        "ignore[rz]?|oublie[rz]?|neglige[rz]?|outrepasse[rz]?|contourne[rz]?|defie[rz]?|desactive[rz]?",
        "instructions|consignes|directives|regles|ordres|programmation|restrictions|limitations|limites",
        "t[ae]s?|vos|votre|ton",
        "precedentes|anterieures|ci-dessus|initiales|prealables|recues",
    ),
    (
        "ignora(?:re|te)?|dimentica(?:re|te)?|trascura|scarta|tralascia|viola|aggira|scavalca|metti da parte",
        (
            "istruzioni|indicazioni|direttive|regole|ordini|comandi|programmazione|restrizioni|limitazioni"
            "|formazione"
        ),
        "tu[oae]|tuoi|vostre",
        "precedenti|iniziali|ricevute|anteriori",
    ),
    (
        "ignorieren?|ignoriert|vergiss|vergessen sie|missachten?|verwirf|umgehe|uberschreite|verletze|setze",
        (
            r"\w{0,20}(?:anweisung|instruktion|regel|vorgabe|befehl|richtlinie|anordnung|programmierung"
            r"|beschrankung"
            "|protokoll)(?:en|n|e)?"
        ),
        (
            "deine[rnm]?|ihre[rnm]?|eure|vorherigen?|bisherigen?|fruheren?|vorangegangenen?|obigen?"
            "|ursprunglichen?"
        ),
        "",
    ),
    (
        "negeer|vergeet",
        "instructies|aanwijzingen|regels|opdrachten",
        "je|jouw|uw|vorige|eerdere|voorgaande|bovenstaande|oorspronkelijke",
        "",
    ),
)
_SET_ASIDE_STARTS = (
    "ignora ignore ignorad ignoriere olvida olvide descarta omita omite desatiende desatienda viola viole"
    " anula anule"
    " caso deja esqueca esquece desconsidere desrespeita contorne contorna oublie neglige outrepasse defie"
    " defier"
    " defiez desactive dimentica trascura scarta tralascia aggira scavalca metti vergiss vergessen missachte"
    " verwirf umgehe uberschreite verletze setze negeer vergeet"
)
# Russian, Chinese, Japanese: no word boundary is asked for.
_OTHER_SCRIPTS = (
    (
        r"(?:игнорируй|забудь)(?:те)?\s++(?:\w++\s++){0,2}(?:твои|свои|ваши|предыдущие|прежние|прошлые)\s++"
        r"(?:\w++\s++){0,2}(?:инструкции|указания|правила|команды|ограничения)"
    ),
    (
        r"(?:忽略|无视|無視|忘记|忘記|忽视)[^。\n]{0,8}(?:之前|以前|先前|以上|上述|前面|所有|你的)[^。\n]{0,8}(?:指令|指示|提示|规则|規則|命令|说明)"
    ),
    r"(?:以前|これまで|上記|すべて|あなた)の?[^。\n]{0,6}(?:指示|命令|ルール|プロンプト|指令)[^。\n]{0,6}(?:無視|忘れ)",
)
_OTHER_SCRIPTS_MARKS = ("игнорируй", "забудь", "忽略", "无视", "無視", "忘", "忽视")

_ASK = (
    "muestra(?:me)?|revela(?:me)?|dime|ensena(?:me)?|comparte|mostr[ae](?:-me)?|revel[ae]|exib[ae]|desvende"
    "|diga|affiche[rz]?|revele[rz]?(?:-moi)?|montre[rz]?(?:-moi)?|divulgue[rz]?|donne[rz]?(?:-moi)?"
    "|zeige?(?: mir)?|enthulle"
    "|verrate?(?: mir)?|gib(?: mir)?|mostra(?:mi)?|rivela(?:mi)?|visualizza|dimmi|toon|onthul"
)
_ASK_STARTS = (
    "muestra muestrame revela revele dime ensena ensename comparte mostra mostre exiba exibe desvende diga"
    " affiche montre"
    " divulgue donne donner donnez zeig zeige enthulle verrat verrate gib rivela visualizza dimmi toon onthul"
)
_PROMPT = (
    "(?:prompt|instrucciones|instruccion|directriz|directrices|instrucoes|instrucao|diretriz|diretrizes"
    "|instructions?"
    r"|consignes?|directives?|istruzion[ei]|direttiv[ae]|\w{0,16}prompt|instructies) <2> (?:del? sistema"
    r"|d[eoa] sistema"
    "|systeme|di sistema|inicial(?:es)?|iniciais|initiale?s?|inizial[ei]|original[ei]?|ocultas?"
    "|secret[aeo]s?|segret[aeo]"
    "|cachees?|(?:d[aeiu]|de) (?:l[ao] |tua |tu |sua |ta |la tua )?(?:sistema|formacion|formacao"
    "|treinamento|formation|formazione|programacion|programacao))"
)
_GERMAN_PROMPT = (
    r"(?:dein(?:en?|er)?|ihren?) <2> (?:system-?(?:prompt|anweisung(?:en)?)|(?:ursprunglichen?|versteckten?"
    r"|geheimen?|internen?) \w{0,12}(?:anweisung(?:en)?|prompt|richtlinien?))"
)


def _set_aside() -> str:
    """Every way of setting instructions aside in Latin letters, as one pattern."""
    written = []
    for verbs, orders, before, behind in _SET_ASIDE:
        written.append(rf"\b(?:{verbs}) <2> (?:{before}) <2> (?:{orders})\b")
        if behind:
            written.append(rf"\b(?:{verbs}) <3> (?:{orders}) <2> (?:{behind})\b")
    return "|".join(written)


TRANSLATED = (
    phrase_rule(
        "attack.override-translated", _set_aside(), leads=f"{_SET_ASIDE_STARTS} haz", words=_SET_ASIDE_STARTS
    ),
    Rule(
        name="attack.override-translated",
        pattern=LatePattern(fold(plain("|".join(_OTHER_SCRIPTS)))),
        confidence=0.9,
        marks=tuple(fold(plain(mark)) for mark in _OTHER_SCRIPTS_MARKS),
    ),
    phrase_rule(
        "attack.prompt-leak-translated",
        rf"\b(?:{_ASK}) <3> (?:{_PROMPT}|{_GERMAN_PROMPT})\b",
        leads=_ASK_STARTS,
        words=_ASK_STARTS,
    ),
)

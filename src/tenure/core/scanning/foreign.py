"""Rules for the same intents in other languages: verbs and things by their stems, in the language's order.

Latin letters are written without accents, the others in their own letters; all are folded as the text is.
What the precise rules of `translated` reject is not repeated here: these hold a text for a person.
"""

from tenure.core.scanning.instruction_words import is_order
from tenure.core.scanning.intents import LIKELY, POSSIBLE
from tenure.core.scanning.matching import LatePattern, Rule, phrase_rule
from tenure.core.scanning.normalising import fold, plain

# Spanish, Portuguese, French, Italian, German, Dutch, Polish, Romanian: the verbs as orders use them.
_LEAVE = (
    "ignora ignore ignorad ignorar olvida olvide olvidar elude elimina sortea omite omita anula anule salta"
    " saltate evita"
    " desatiende desactiva suspende desbloquea desprecia abandona pausa viola viole opera despreza altera"
    " altere contorna"
    " contorne desconsidere esqueca esquece desative desbloqueie quebre abandone suspenda oublie oubliez"
    " neglige outrepasse"
    " contourne deconnecte desactive transgresse enfreins dimentica tralascia scarta scavalca annulla"
    " sospendi bypassa"
    " aggira disattiva sblocca disconnettiti rinuncia metti ignoriere ignorieren vergiss missachte umgehe"
    " uberschreite"
    " verletze verstosse setze hebe verzichte deaktiviere lose losche negeer vergeet omzeil zignoruj"
    " ignoruj pomin zapomnij"
    " omin dezactiveaza uita deja deje"
)
_RULES = (
    "instruc|instruk|instrukcj|indicacion|ordenes|reglas|normas|directri|directiv|restric|limit|algoritm"
    "|principi"
    "|protocol|estandar|programa|filtro|brujula|salvaguard|pautas|entrenamient|parametr|regras|diretri"
    "|ordens|comando"
    "|procediment|padroes|configura|consigne|regle|ordre|restrict|mecanism|istruzion|indicazion|direttiv"
    "|regol|ordini"
    "|restrizion|procedur|impostazion|meccanism|routine|principe|anweisung|regel|vorgabe|befehl|richtlini"
    "|einschrankung"
    "|programmier|beschrankung|grenzen|normen|standard|protokoll|datenschutz|entscheidungs|aanwijzing"
    "|opdracht|polece"
    "|zasad|wytyczn|regul|ogranicz|protocoal"
)
_OWNED = (
    "t[ui]s?|tu[aeo]i?s?|su|sus|seus?|suas?|ton|ta|tes|vos|votre|deine?[mnrs]?|ihre?[nrm]?|je|jouw|twoje|tale"
    "|previ[ao]s|anterior\\w*|precedent\\w*|vorherig\\w*|bisherig\\w*|todas?|todos|toutes|tous|tutt[ei]"
    "|alle|standard\\w*"
    "|padrao|habitual\\w*|par defaut|predefinit\\w*|default|etic\\w*|ethisch\\w*|integrad\\w*"
    "|privacidad\\w*|las|los|les|le"
)
_ASK = (
    "muestra muestrame revela revele revelar dime ensena comparte mostra mostre mostrar mostrami exiba"
    " exibe desvende diga"
    " affiche montre divulgue donne revele zeige zeig enthulle verrate offenbare erklare gib mostrare"
    " rivela rivelare"
    " visualizza dimmi toon onthul pokaz ujawnij wyswietl podaj afiseaza repite repita ripeti wiederhole"
    " imprime imprima"
    " stampa envia envie envoie envoyez sende invia exporta exporte extrae extraia estrai inoltra encaminhe"
    " reenvia"
)
_PROMPTS = (
    "prompt\\w*|instruc\\w+|instruct\\w+|comando|commande|consigne|directri\\w+|diretri\\w+|istruzion\\w"
    "|invite|befehl"
    "|\\w{0,16}anweisung\\w*|\\w{0,12}prompt|texto de entrada|textul de intrare|question|pregunta|domanda"
    "|instrukcj\\w+"
)
_CENTRAL = (
    "inicial\\w*|initial\\w*|inizial\\w|base|basico|clave|cle|chiave|central\\w*|centrale|original\\w*"
    "|fundamental\\w*"
    "|fondamental\\w|principal\\w*|essenzial\\w|sottostant\\w|segret\\w|secret\\w*|ocult\\w+|hauptanweisung"
    "|grundlegend\\w*"
    "|zugrunde|wesentlich\\w*|zentral\\w*|sistema|systeme|system\\w*|formacion|formation|formazione"
    "|formacao|treinamento"
    "|programmation|programacion|directrice|guida|guia\\w*|guide"
)
_SELF = (
    "t[ui]s?|tu[aeo]|te|ti|t'a|tes|ton|ta|suas?|seus?|dein\\w*|ia|ki|ai|ki-\\w+|usas|recibi\\w*|ricevut\\w"
    "|operi"
    "|respuesta\\w*|rispost\\w|reponses?|antworten|fuiste|te guia|sei basato|raspuns\\w*"
)
_SECRETS = (
    "contrasenas?|claves|passwords?|parol\\w*|mots? de passe|senhas?|zugangsdaten|passw\\w+rter"
    "|wachtwoorden|hasl[ao]"
    "|credencia\\w+|credenzial\\w|token\\w*|conversaciones|conversas|conversazioni|conversations|conteudo"
    "|contenuto"
    "|usuarios|utenti|utilisateurs|benutzer\\w*"
)
_ALL = "tod[oa]s?|toda a|tous|toutes|tutt[aeio]|alle|al|el|il|o|de sesion|di sessione|de sessao|wszystkie"


_QUESTION = "cual qual quel quelle was welche welcher quale"
_PROMPT_STARTS = (
    "prompt prompts instruccion instruct comando commande consigne directriz diretriz istruzione invite"
    " befehl anweisung"
    " hauptanweisung texto textul pregunta domanda instrukcje ausbildungsprompt systemprompt ensemble"
)


def _translated(name: str, verbs: str, rest: str, things: str, *, confidence: float) -> Rule:
    """A rule for a verb that begins like one of these, and what follows it."""
    return phrase_rule(
        f"sensitive.{name}-translated",
        rf"\b(?:{'|'.join(verbs.split())})\w{{0,3}}(?:-(?:moi|me|nous))? {rest}",
        leads=verbs,
        words=verbs,
        also=things,
        confidence=confidence,
        accept=is_order,
    )


_LATIN = (
    ("loosened-rules", _LEAVE, rf"<3> (?:{_OWNED}) <3> (?:{_RULES})\w*", "", LIKELY),
    ("prompt-question", _ASK, rf"<3> (?:{_PROMPTS}) <4> (?:{_CENTRAL}|{_SELF})\b", "", POSSIBLE),
    ("prompt-question", _ASK, rf"<3> (?:{_CENTRAL}) <2> (?:{_PROMPTS})\b", "", POSSIBLE),
    (
        "prompt-question",
        _QUESTION,
        rf"<4> (?:{_PROMPTS}) <6> (?:{_CENTRAL}|{_SELF})\b",
        _PROMPT_STARTS,
        POSSIBLE,
    ),
    ("prompt-question", _QUESTION, rf"<4> (?:{_CENTRAL}) <2> (?:{_PROMPTS})\b", _PROMPT_STARTS, POSSIBLE),
    ("secrets-shown", _ASK, rf"(?:{_ALL}) <4> (?:{_SECRETS})\b", "", POSSIBLE),
)
# Other scripts have no words parted by blanks, or other endings: the verb and its thing, near to each other.
_OTHER = (
    (
        "loosened-rules",
        (
            r"(?:игнорир|забуд|обойд|наруш|отмен|отключ)\w*[^.!?\n]{0,40}(?:инструкц|указани|правил"
            r"|ограничен|команд|запрет)"
            r"|(?:忽略|无视|無視|忘记|忘記|绕过|繞過|违反|取消|解除|删除|不要遵守)[^。\n]{0,12}(?:指令"
            r"|指示|规则|規則|限制|提示|设定|约束|安全)"
            r"|(?:指示|命令|ルール|制限|プロンプト|指令)[^。\n]{0,8}(?:無視|忘れ|破|解除|無効|従わ)"
            r"|(?:지시|명령|규칙|제한|프롬프트|지침)[^.\n]{0,10}(?:무시|잊|해제|우회)"
            r"|(?:تجاهل|انس|تجاوز)[^.\n]{0,30}(?:التعليمات|الأوامر|القواعد|القيود|تعليمات)"
            r"|(?:निर्देश|नियम|प्रतिबंध|आदेश)[^।\n]{0,16}(?:अनदेखा|नज़रअंदाज़|भूल|हटा|तोड़)|बिना प्रतिबंध"
        ),
        (
            "игнорир забуд обойд наруш отмен отключ 忽略 无视 無視 忘 绕过 繞過 违反 取消 解除 删除"
            " 不要遵守 破"
            " 無効 従わ 무시 잊 해제 우회 تجاهل انس تجاوز"
            " अनदेखा नज़रअंदाज़ भूल हटा तोड़ प्रतिबंध"
        ),
    ),
    (
        "secrets-shown",
        (
            r"(?:покажи|отправь|перешли|раскрой|выведи|скажи|повтори)\w*[^.!?\n]{0,40}(?:парол|промпт"
            r"|инструкц|ключ|токен)"
            r"|(?:显示|顯示|告诉我|告訴我|输出|輸出|透露|泄露|打印|重复|重複|发送"
            r"|發送)[^。\n]{0,12}(?:系统提示|系統提示|提示词|指令|密码|密碼|密钥|金鑰)"
            r"|(?:プロンプト|指示|パスワード|秘密)[^。\n]{0,8}(?:表示|教え|見せ|出力|送)"
            r"|(?:프롬프트|지침|비밀번호|암호)[^.\n]{0,10}(?:보여|알려|출력|공개|보내)"
            r"|(?:اعرض|اكشف|أظهر|أرسل|اطبع)[^.\n]{0,30}(?:التعليمات|كلمات المرور|كلمة المرور|موجه)"
            r"|(?:पासवर्ड|निर्देश|id_rsa|बातचीत|तालिका)[^।\n]{0,40}(?:दिखा|भेज|निर्यात|cc करो)"
        ),
        (
            "парол промпт инструкц ключ токен 系统提示 系統提示 提示词 指令 密码 密碼 密钥 金鑰 プロンプト"
            " パスワード 秘密 指示 프롬프트 지침 비밀번호 암호"
            " المرور التعليمات موجه दिखा भेज निर्यात करो"
        ),
    ),
)
# Turkish puts the verb last.
_TURKISH = (
    r"\b(?:talimat|kural|komut|yonerge|kisitlama|guvenlik)\w{0,12} <4> (?:yok say\w*|gormezden|unut\w*"
    r"|dikkate alma"
    r"|kaldir\w*|kabul etme|devre disi|atla\w*)\b|\b(?:sistem) (?:prompt|talimat)\w*(?:'\w+)? <3> (?:soyle"
    r"|goster"
    r"|acikla|yaz)\w*\b"
)

FOREIGN = (
    *(_translated(name, verbs, rest, things, confidence=sure) for name, verbs, rest, things, sure in _LATIN),
    phrase_rule(
        "sensitive.loosened-rules-translated",
        _TURKISH,
        words="talimat talimatlari talimatlar kural kurallari kurallar komut komutlari yonerge kisitlama"
        " guvenlik sistem",
        confidence=LIKELY,
    ),
    *(
        Rule(
            name=f"sensitive.{name}-translated",
            pattern=LatePattern(fold(plain(pattern))),
            confidence=POSSIBLE,
            marks=tuple(fold(plain(mark)) for mark in marks.split()),
        )
        for name, pattern, marks in _OTHER
    ),
)

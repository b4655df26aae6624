"""Characters that are drawn like a Latin letter, a digit or a plain sign, and what each is read as.

A small table, kept by hand: the Cyrillic, Greek, Armenian and rarer Latin letters that pass for English in
an ordinary font, and typographic punctuation. They are written by their numbers: on paper they look alike.
"""

_DRAWN_LIKE = {
    "A": "\u0410\u0391",
    "a": "\u0430\u03b1\u0251\u1d00",
    "B": "\u0412\u0392\u0299",
    "b": "\u0432\u044c\u03b2",
    "C": "\u0421",
    "c": "\u0441\u03c2\u03f2\u1d04",
    "d": "\u0501\u1d05",
    "E": "\u0415\u0417\u0395",
    "e": "\u0435\u0437\u03b5\u0454\u1d07",
    "f": "\ua730",
    "G": "\u050c\u0262",
    "g": "\u0261\u0581",
    "H": "\u041d\u0397\u029c",
    "h": "\u04bb\u043d\u0570",
    "I": "\u0406\u0399",
    "i": "\u0456\u03b9\u0269\u0131\u026a",
    "J": "\u0408",
    "j": "\u0458\u03f3\u1d0a",
    "K": "\u041a\u039a",
    "k": "\u043a\u03ba\u1d0b",
    "L": "\u0141\u053c",
    "l": "\u04cf\u029f\u0142",
    "M": "\u041c\u039c",
    "m": "\u043c\u1d0d",
    "N": "\u039d",
    "n": "\u043f\u03b7\u0274\u0578",
    "O": "\u041e\u039f\u00d8\u0555",
    "o": "\u043e\u03bf\u03c3\u1d0f\u00f8\u0585",
    "P": "\u0420\u03a1",
    "p": "\u0440\u03c1\u1d18",
    "Q": "\u051a",
    "q": "\u051b\u0566",
    "r": "\u0433\u0280",
    "S": "\u0405",
    "s": "\u0455\ua731",
    "T": "\u0422\u03a4",
    "t": "\u0442\u03c4\u1d1b",
    "U": "\u054d",
    "u": "\u0438\u03c5\u1d1c\u057d",
    "v": "\u03bd\u1d20",
    "W": "\u051c",
    "w": "\u051d\u03c9\u1d21",
    "X": "\u0425\u03a7",
    "x": "\u0445\u03c7",
    "Y": "\u0423\u03a5\u028f",
    "y": "\u0443\u04af\u03b3",
    "Z": "\u0396",
    "z": "\u1d22",
    '"': "\u201c\u201d\u201e\u00ab\u00bb\u2033",
    "'": "\u2018\u2019\u201a\u201b\u2032",
    "-": "\u2010\u2011\u2012\u2013\u2014\u2015\u2212",
    ".": "\ua4f8",
    "/": "\u2044\u2215",
    ":": "\u2236\ua789",
}

READ_AS = {ord(character): plain for plain, characters in _DRAWN_LIKE.items() for character in characters}
# The other case of a letter is read alike, so that a verdict does not hang on a capital.
READ_AS |= {
    code: plain.upper()
    for lower, plain in READ_AS.items()
    if len(upper := chr(lower).upper()) == 1 and plain.islower() and (code := ord(upper)) not in READ_AS
}

"""Ways to write a sentence so that a pattern over the letters misses it and a model does not."""

import base64
import codecs
import re
import string
from collections.abc import Callable
from urllib.parse import quote

_LETTERS = string.ascii_lowercase + string.ascii_uppercase


def in_base64(text: str) -> str:
    """The text in base64."""
    return base64.b64encode(text.encode()).decode()


def in_base32(text: str) -> str:
    """The text in base32."""
    return base64.b32encode(text.encode()).decode()


def half_turned(text: str) -> str:
    """Every letter exchanged for the one half the alphabet away."""
    return codecs.encode(text, "rot13")


def mirrored(text: str) -> str:
    """Every letter exchanged for the one as far from the other end."""
    turned = string.ascii_lowercase[::-1] + string.ascii_uppercase[::-1]
    return text.translate(str.maketrans(_LETTERS, turned))


def cut(text: str) -> str:
    """The sentence in three variables, and a sum of them."""
    words = text.split()
    third = len(words) // 3
    parts = [words[:third], words[third : 2 * third], words[2 * third :]]
    named = "; ".join(f"{name}='{' '.join(part)}'" for name, part in zip(("x", "y", "z"), parts, strict=True))
    return f"{named}; the note is x+y+z"


def cut_inside_words(text: str) -> str:
    """The sentence in two variables, cut in the middle of a word."""
    middle = len(text) // 2
    while not (text[middle - 1].isalpha() and text[middle].isalpha()):
        middle += 1
    return f'a = "{text[:middle]}"; b = "{text[middle:]}"; run a + b'


def in_signs(text: str) -> str:
    """Digits and signs for letters, an l and an i alike."""
    return text.translate(str.maketrans("aeiolstAEIOLST", "43101$743101$7"))


def apart(text: str, between: str) -> str:
    """The letters of every word apart, and the words wider apart."""
    return re.sub("[A-Za-z]+", lambda word: between.join(word[0]), text.replace(" ", "  "))


DISGUISES: dict[str, Callable[[str], str]] = {
    "base64": in_base64,
    "base64 without padding": lambda text: base64.urlsafe_b64encode(text.encode()).decode().rstrip("="),
    "base64 in base64": lambda text: in_base64(in_base64(text)),
    "base64 three deep": lambda text: in_base64(in_base64(in_base64(text))),
    "base64 in hexadecimal": lambda text: in_base64(text).encode().hex(),
    "hexadecimal in base64": lambda text: in_base64(text.encode().hex()),
    "base32": in_base32,
    "hexadecimal": lambda text: text.encode().hex(),
    "octets apart": lambda text: " ".join(f"{octet:02x}" for octet in text.encode()),
    "binary": lambda text: " ".join(f"{octet:08b}" for octet in text.encode()),
    "numbers of characters": lambda text: ", ".join(str(octet) for octet in text.encode()),
    "percent": quote,
    "percent for every octet": lambda text: "".join(f"%{octet:02X}" for octet in text.encode()),
    "quoted-printable": lambda text: "".join(f"={octet:02X}" for octet in text.encode()),
    "quoted-printable blanks": lambda text: text.replace(" ", "=20"),
    "entities": lambda text: "".join(f"&#{ord(character)};" for character in text),
    "entities in hexadecimal": lambda text: "".join(f"&#x{ord(character):x};" for character in text),
    "some entities": lambda text: text.replace("e", "&#101;").replace("o", "&#x6f;"),
    "escapes": lambda text: "".join(f"\\x{octet:02x}" for octet in text.encode()),
    "escaped blanks": lambda text: text.replace(" ", "\\x20"),
    "escaped points": lambda text: "".join(f"\\u{ord(character):04x}" for character in text),
    "rot13": half_turned,
    "rot13 in base64": lambda text: in_base64(half_turned(text)),
    "mirrored alphabet": mirrored,
    "backwards": lambda text: text[::-1],
    "backwards by direction marks": lambda text: f"\u202e{text[::-1]}\u202c",
    "leet": lambda text: text.translate(str.maketrans("aeioAEIO", "43104310")),
    "signs": in_signs,
    "letters apart": " ".join,
    "letters apart by dashes": lambda text: apart(text, "-"),
    "letters apart by dots": lambda text: apart(text, "."),
    "tag characters": lambda text: "ok" + "".join(chr(0xE0000 + ord(character)) for character in text),
    "zero width": "\u200b".join,
    "soft hyphens": "\u00ad".join,
    "full width": lambda text: "".join(chr(ord(one) + 0xFEE0) if "!" <= one <= "~" else one for one in text),
    "mathematical letters": lambda text: "".join(
        chr(0x1D41A + ord(one) - 97) if one.islower() else one for one in text
    ),
    "Cyrillic look-alikes": lambda text: text.translate(
        str.maketrans("aeopcyi", "\u0430\u0435\u043e\u0440\u0441\u0443\u0456")
    ),
    "accents": lambda text: "".join(f"{one}\u0301" if one in "aeiou" else one for one in text),
    "variables": cut,
    "variables cut inside words": cut_inside_words,
}

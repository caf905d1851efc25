"""Strings that tokenizers find hard: all scripts, marks, emoji, controls, white space, code."""

import random
import unicodedata

WORDS = (
    "the keeper counts steps and lamps in winter while storms return rest don't I'M we'll they've stone "
    "HTTPRequest iPhone naïve café résumé über straße ΑΣ İstanbul привет мир שלום مرحبا 你好 世界 日本語 한국어 "
    "नमस्ते ภาษาไทย ქართული Ελληνικά tiếng Việt def return print(x) != === -> // /* */ x=y+1 {\"a\":[1,2.50e-3]} "
    "2026 3.14 1000000 v1.2.3 http://a.b/c?d=e&f#g user@host.org snake_case ALLCAPS camelCase"
).split()
ODD = [
    "  ", "   ", "      ", "\n", "\n\n", "\r\n", "\t", "\t\t", " \n ", "\u2581", "\u2581\u2581", "\u00a0", "\u3000", "\u200b",
    "\u200d", "\ufeff", "\ufffd", "\u0085", "\u2028", "\x01", "\x07", "\x1b[0m", "\x7f", "e\u0301", "q\u0307\u0323", "\u0301", "😀",
    "👩‍🚀", "🇩🇪", "👍🏽", "ﬁ", "①", "ＡＢＣ", "ｶﾞ", "㌔", "Å", "½", "한", "क्षि", "𝔘𝔫𝔦", "𐍈", "\U0010fffd", "ꙮ", "<s>",
    "</s>", "<unk>", "<pad>", "<0x41>", "<|endoftext|>", "<|im_end|>", "...", "!?", "'s", "''", "——", "“”", "•",
]


def scalar(rng):
    """Any character that Unicode 9 has: of younger ones the libraries' tables differ."""
    while True:
        code = rng.choice([rng.randrange(0x20, 0x3000), rng.randrange(0x3000, 0xFFFE), rng.randrange(0x10000, 0x1F700)])
        if 0xD800 <= code < 0xE000 or code in (0x1CF2, 0x1CF3):
            continue
        if unicodedata.ucd_3_2_0.category(chr(code)) != "Cn":
            return chr(code)


def text(rng):
    kind = rng.random()
    if kind < 0.1:
        return "".join(scalar(rng) for _ in range(rng.randint(0, 30)))
    parts = []
    for _ in range(rng.randint(0, 12)):
        choice = rng.random()
        if choice < 0.6:
            parts.append(rng.choice(WORDS))
        elif choice < 0.9:
            parts.append(rng.choice(ODD))
        else:
            parts.append(scalar(rng))
    return rng.choice(["", " ", " "]).join(parts)


def texts(count, seed):
    rng = random.Random(seed)
    return [text(rng) for _ in range(count)]

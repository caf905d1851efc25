"""Writes expressions.json: how `tokenizers` cuts generated texts with the pre-tokenizers of published
models, with others that use what is rare, and with random expressions.

Usage: python3 make_expressions.py TEXTS RANDOM [SEED] > FILE
TEXTS texts for each pre-tokenizer, RANDOM random expressions; the committed file: 60 120.
Made with Python 3.11, tokenizers 0.23.3.
"""

import json
import random
import sys

from tokenizers import pre_tokenizers

CONTRACTION = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
END = r"\s*[\r\n]+|\s+(?!\S)|\s+"
OTHER = r" ?[^\s\p{L}\p{N}]+[\r\n]*"
CAPITALS = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]"
SMALL = r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
WORD = r"[^\r\n\p{L}\p{N}]?"
DEEPSEEK = [
    r"\p{N}{1,3}",
    "[一-龥぀-ゟ゠-ヿ]+",
    r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"""
    r"| ?[\p{P}\p{S}]+[\r\n]*|" + END,
]
LLAMA = CONTRACTION + "|" + WORD + r"\p{L}+|\p{N}{1,3}|" + OTHER + "|" + END
HAN = r"&&[^\p{Han}]]"
KIMI = "|".join(
    [r"[\p{Han}]+"]
    + [WORD + CAPITALS[:-1] + HAN + a + SMALL[:-1] + HAN + b + CONTRACTION + "?" for a, b in ("*+", "+*")]
    + [r"\p{N}{1,3}", OTHER, END]
)


def split(pattern, behavior="Isolated", invert=False, kind="Regex"):
    return {"type": "Split", "pattern": {kind: pattern}, "behavior": behavior, "invert": invert}


def byte_level(regex=False, prefix=False):
    return {
        "type": "ByteLevel", "add_prefix_space": prefix, "trim_offsets": True, "use_regex": regex,
    }


def digits(individual):
    return {"type": "Digits", "individual_digits": individual}


PUBLISHED = {
    "llama3": [split(LLAMA)],
    "qwen35": [
        split(CONTRACTION + "|" + WORD + r"[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|" + END)
    ],
    "deepseek3": [split(x) for x in DEEPSEEK],
    "cl100k": [
        split(
            r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]++[\r\n]*"
            r"|\s*[\r\n]|\s+(?!\S)|\s+",
            "Removed", True,
        )
    ],
    "cl100k, newer": [
        split(
            r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"
            r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
        )
    ],
    "smollm3": [split(LLAMA), digits(True)],
    "o200k": [
        split(
            "|".join(WORD + CAPITALS + a + SMALL + b + CONTRACTION + "?" for a, b in ("*+", "+*"))
            + r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|" + END
        )
    ],
    "kimi": [split(KIMI)],
    "cohere": [split(r"\d{1,3}(?=(?:\d{3})*\b)"), split(LLAMA)],
    "superbpe": [split(r"\p{N}+"), split(r"(?=(\d{3})+(?!\d))")],
    "deepseek": [
        split("[\r\n]"), split(r"\s?[A-Za-zµÀ-ÖØ-öø-ƺƼ-ƿ]+"), split(r"\s?[!-/:-~！-／：-～‘-‟　-。]+"),
        split(r"\s+$"), split("[一-龥ࠀ-一가-퟿]+"), digits(True),
    ],
    "bloom": [split(r" ?[^(\s|[.,!?…。，、।۔،])]+")],
    "exaone": [
        split(
            CONTRACTION + "|" + WORD + r"(?:\p{L}\p{M}*(?: \p{L}\p{M}*)*)+|\p{N}|"
            r" ?[^\s\p{L}\p{N}]+[\r\n/]?|\s*[\r\n]|\s+(?!\S)|\s+"
        )
    ],
    "chatglm": [split(LLAMA, "Removed", True)],
    "jais": [split(r"\s{16}(?!\S)|\s{8}(?!\S)|\s{4}(?!\S)|\s{1,2}(?!\S)|\s{1}")],
    "gpt2": [digits(True), byte_level(True)],
    "falcon": [
        {"type": "Punctuation", "behavior": "Contiguous"}, byte_level(True), digits(False),
        split("[0-9][0-9][0-9]"),
    ],
}
RARE = {
    behavior + text: [split(pattern, behavior, text == " inverted", kind)]
    for behavior in ("Isolated", "Removed", "MergedWithPrevious", "MergedWithNext", "Contiguous")
    for text, pattern, kind in (
        ("", r"\d|[.]", "Regex"), (" inverted", r"\p{L}{2}", "Regex"), (" literal", " a", "String"),
        (" empty", r"(?=\p{Lu})", "Regex"), (" or empty", r"\d*", "Regex"),
    )
} | {
    "whitespace": [{"type": "Whitespace"}],
    "white space split": [{"type": "WhitespaceSplit"}],
    "bert": [{"type": "BertPreTokenizer"}],
    "delimiter": [{"type": "CharDelimiterSplit", "delimiter": "a"}],
    "digits": [digits(False)],
} | {
    "punctuation " + x: [{"type": "Punctuation", "behavior": x}]
    for x in ("Isolated", "Removed", "MergedWithPrevious", "MergedWithNext", "Contiguous")
} | {
    x: [split(x)]
    for x in (
        r"(?<=[a-z])(?=[A-Z])", r"(?<!\d)\d{2}(?!\d)", r"^.", r".$", r"\A.|.\z", r"\w+?\b", r"\B\w",
        r"(?<=ab|c)\S", r"a{2}+|b{1,2}?", r"(?i)AB|c", r"a(?i)b|c", r"(?m).+", r".+", r"\h+", r"\R",
        r"(?>a+|\s+)b?", r"[a-c&&[^b]]+", r"[^a-c&&b-z]", r"[\w&&[^\d]]+", r"[[:alpha:]\d]+",
        r"\p{^L}+", r"\P{L}", r"\p{Cyrillic}+|\p{Arabic}+", r"\x{1F600}|\u4e16", r"(?:a|ab)(?:c|bcd)?",
        r"(?:a*b)*c", r"(?:a?){3}", r"(?:\s|a)*?b", r"[a\]]", r"\Z", r"a**", r"a{,2}",
        r"{a", r"x{a}", r"[a-]", r"\.", r"(?#note)a", r"(?<name>a)b", r"\s+$", r"\n$|^\n",
    )
}


def text(rng):
    alphabets = [
        "abcXYZ", "aàéßñøıŒ", "абвГДЕ", "αβΓΔς", "你好世界龥", "ひらカター", "한국어ㄱ", "שלום", "سلام،۔",
        "नमस्ते।", "ไทยกำ", "😀👍🏽🏳️‍🌈", "0123456789", "٣४Ⅷ½²", ".,!?…。，、'\"()[]{}<>", "_-+=*/\\|^~`@#$%&",
        "\n\r\t \u00a0\u3000\u2028\u0085", "\u0000\u0001\u0007\u007f\u200b\ufeff\u00ad\ufffd", "ǅʰªﬁſK",
    ]
    words = ["don't", "I'LL", "we've", "x'S", "HTTPServer", "camelCase", "1234567", "3.14", "a_b", "  ",
             "    ", "\n\n", "\r\n", " \n ", "\t\t", "def f(x):\n    return x", "aaa", "aab", "abcd", "ccc"]
    parts = []
    for _ in range(rng.randint(0, 9)):
        kind = rng.random()
        if kind < 0.35:
            parts.append(rng.choice(words))
        elif kind < 0.75:
            letters = rng.choice(alphabets)
            parts.append("".join(rng.choice(letters) for _ in range(rng.randint(1, 6))))
        elif kind < 0.9:
            parts.append(rng.choice([" ", "\n", "  "]))
        else:
            c = rng.randrange(0x110000)
            parts.append(chr(c) if not 0xD800 <= c < 0xE000 else "?")
    return "".join(parts)


def expression(rng, depth=0):
    def item():
        kind = rng.random()
        if kind < 0.35:
            return rng.choice(["a", "b", "c", "ab", " ", r"\.", "1", r"\n"])
        if kind < 0.6:
            return rng.choice([r"\s", r"\S", r"\w", r"\W", r"\d", r"\p{L}", r"\p{Lu}", r"\p{N}", r"\p{M}",
                               r"\p{P}", ".", "[a-c]", "[^a]", r"[^\s\p{L}]", r"[\r\n]", r"[a-z&&[^b]]"])
        if kind < 0.68:
            return rng.choice(["^", "$", r"\b", r"\B", r"\A", r"\z", r"\Z"])
        if depth > 1:
            return "a"
        inner = expression(rng, depth + 1)
        if kind < 0.86:
            return f"(?:{inner})"
        return rng.choice(["(?=%s)", "(?!%s)", "(?>%s)", "(%s)", "(?<=a|bc)%s", r"(?<!\s)%s"]) % inner

    def piece():
        x = item()
        if rng.random() < 0.4 and x[-1] not in "^$bBAzZ" and not x.startswith(("(?=", "(?!", "(?<")):
            x += rng.choice(["*", "+", "?", "*?", "+?", "??", "*+", "++", "?+", "{2}", "{1,2}", "{2,}", "{1,3}?"])
        return x

    branches = ["".join(piece() for _ in range(rng.randint(1, 3))) for _ in range(rng.randint(1, 3))]
    return "|".join(branches)


def cut(stages, texts):
    has_bytes = any(x["type"] == "ByteLevel" for x in stages)
    stages = stages if has_bytes else stages + [byte_level()]
    stage = {"type": "Sequence", "pretokenizers": stages}
    probe = json.dumps({
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": [], "normalizer": None,
        "pre_tokenizer": stage, "post_processor": None, "decoder": None,
        "model": {"type": "BPE", "vocab": {}, "merges": []},
    })
    pre = __import__("tokenizers").Tokenizer.from_str(probe).pre_tokenizer
    rows = []
    for x in texts:
        pieces = pre.pre_tokenize_str(x)
        row, at = [], 0
        for piece, (start, _) in pieces:
            if not has_bytes:
                at = len(x[:start].encode())
            row += [at, at + len(piece)]
            at += len(piece)
        rows.append(row)
    return {"stages": stages, "cuts": rows}


def main():
    count, randoms = int(sys.argv[1]), int(sys.argv[2])
    rng = random.Random(int(sys.argv[3]) if len(sys.argv) > 3 else 1)
    texts = [text(rng) for _ in range(count)]
    cases = {name: cut(stages, texts) for name, stages in (PUBLISHED | RARE).items()}
    short = texts[: max(20, count // 20)]
    while randoms:
        pattern = expression(rng)
        try:
            case = cut([split(pattern)], short)
        except BaseException as error:
            if "limit" not in str(error) and "panicked" not in str(type(error)):
                print(pattern, error, file=sys.stderr)
            continue
        cases[f"random {randoms}: {pattern}"] = case
        randoms -= 1
    json.dump({"texts": texts, "cases": cases}, sys.stdout, ensure_ascii=False, separators=(",", ":"))


main()

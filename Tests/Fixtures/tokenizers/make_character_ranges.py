"""Writes Sources/Tokenizers/CharacterRanges.swift: what the `tokenizers` library takes for a letter,
a number, white space and a digit, measured by asking the library itself about every code point.

Usage: python3 make_character_ranges.py > Sources/Tokenizers/CharacterRanges.swift
Made with Python 3.11, tokenizers 0.23.3.
"""

import textwrap

import tokenizers
from tokenizers import Regex, pre_tokenizers

SCALARS = [c for c in range(0x110000) if not 0xD800 <= c <= 0xDFFF]


def chunks():
    for start in range(0, len(SCALARS), 4096):
        yield SCALARS[start : start + 4096]


def matching(pattern):
    """Scalars that the library's regular expression engine matches: those that Split removes."""
    split = pre_tokenizers.Split(Regex(pattern), "removed")
    found = []
    for chunk in chunks():
        kept = set()
        for _, (start, end) in split.pre_tokenize_str("".join(map(chr, chunk))):
            kept.update(range(start, end))
        found += [c for i, c in enumerate(chunk) if i not in kept]
    return found


def isolated_digits():
    """Scalars that Digits(individual_digits) cuts out from between two letters."""
    digits = pre_tokenizers.Digits(individual_digits=True)
    found = []
    for chunk in chunks():
        text = "a" + "".join(chr(c) + "a" for c in chunk)
        found += [ord(p) for p, _ in digits.pre_tokenize_str(text) if len(p) == 1 and p != "a"]
    return sorted(found)


def ranges(scalars):
    runs = []
    for c in scalars:
        if runs and runs[-1][1] == c - 1:
            runs[-1][1] = c
        else:
            runs.append([c, c])
    return " ".join(f"{a:X}" if a == b else f"{a:X}-{b:X}" for a, b in runs)


def declaration(name, comment, text):
    lines = textwrap.wrap(text, 92, break_on_hyphens=False)
    body = "\n".join("        " + line for line in lines)
    return f'    /// {comment}\n    static let {name} = """\n{body}\n        """\n'


print(f"""\
/// The code points behind `\\\\p{{L}}`, `\\\\p{{N}}`, `\\\\s` and "digit", as hexadecimal ranges.
///
/// A model was trained on what one library took for a letter, so the classes are data of the
/// tokenizer and not a property of the toolchain: Swift's own tables are of another Unicode version
/// and change with it, and a run must give the same tokens after an upgrade. Measured against
/// tokenizers {tokenizers.__version__} by Tests/Fixtures/tokenizers/make_character_ranges.py, which writes this.
enum CharacterRanges {{""".replace("\\\\", "\\"))
parts = [
    ("letters", "`\\p{L}` of the library's regular expressions.", matching(r"\p{L}")),
    ("numbers", "`\\p{N}` of the library's regular expressions.", matching(r"\p{N}")),
    ("whiteSpace", "`\\s` of the library's regular expressions.", matching(r"\s")),
    ("upper", "`[\\p{Lu}\\p{Lt}]`: letters that tekken and o200k take for capitals.",
     matching(r"[\p{Lu}\p{Lt}]")),
    ("lower", "`\\p{Ll}`.", matching(r"\p{Ll}")),
    ("marks", "`\\p{M}`.", matching(r"\p{M}")),
    ("digits", "What the `Digits` pre-tokenizer isolates; of a newer Unicode than `numbers`.",
     isolated_digits()),
]
print("\n".join(declaration(n, c, ranges(s)) for n, c, s in parts), end="")
print("}")

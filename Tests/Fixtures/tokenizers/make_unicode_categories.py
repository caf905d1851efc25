"""Writes Sources/SkeinText/Expression/UnicodeCategories.swift: the general categories and scripts
of the `tokenizers` library's regular expressions, measured by asking it about every code point.

Usage: python3 make_unicode_categories.py > Sources/SkeinText/Expression/UnicodeCategories.swift
Made with Python 3.11, tokenizers 0.23.3. Takes about two minutes.
"""

import textwrap

from tokenizers import Regex
from tokenizers.pre_tokenizers import Punctuation, Split

SCALARS = [c for c in range(0x110000) if not 0xD800 <= c < 0xE000]
TEXT = "".join(map(chr, SCALARS))
CATEGORIES = (
    "Cc Cf Cn Co Ll Lm Lo Lt Lu Mc Me Mn Nd Nl No Pc Pd Pe Pf Pi Po Ps Sc Sk Sm So Zl Zp Zs"
).split()
LETTERS = "ghijklmnopqrstuvwxyzGHIJKLMNO"
SCRIPTS = (
    "Arabic Armenian Bengali Bopomofo Common Cyrillic Devanagari Ethiopic Georgian Greek Gujarati "
    "Gurmukhi Han Hangul Hebrew Hiragana Inherited Kannada Katakana Khmer Lao Latin Malayalam "
    "Mongolian Myanmar Oriya Sinhala Tamil Telugu Thai Tibetan"
).split()


def matching(expression):
    split = Split(Regex(f"(?:{expression})+"), "removed", True)
    found = set()
    for _, (start, end) in split.pre_tokenize_str(TEXT):
        found.update(SCALARS[start:end])
    return found


def punctuation():
    """What Punctuation, which has a table of its own, cuts out from between two letters."""
    found = set()
    for start in range(0, len(SCALARS), 4096):
        chunk = SCALARS[start : start + 4096]
        pieces = Punctuation("isolated").pre_tokenize_str("".join("a" + chr(c) for c in chunk))
        found.update(chunk[a // 2] for _, (a, b) in pieces if a % 2 == 1 and b == a + 1)
    # Where the last character of a chunk is not followed by a letter.
    return {c for c in found if Punctuation("isolated").pre_tokenize_str(f"a{chr(c)}a")[0][0] == "a"}


def ranges(scalars):
    runs = []
    for c in sorted(scalars):
        if runs and runs[-1][1] == c - 1:
            runs[-1][1] = c
        else:
            runs.append([c, c])
    return " ".join(f"{a:X}" if a == b else f"{a:X}-{b:X}" for a, b in runs)


def literal(text, indent):
    lines = textwrap.wrap(text, 98 - indent, break_on_hyphens=False, break_long_words=False)
    return '"""\n' + "\n".join(" " * indent + x for x in lines) + "\n" + " " * indent + '"""'


sets = {name: matching(rf"\p{{{name}}}") for name in CATEGORIES}
category = {c: name for name, scalars in sets.items() for c in scalars}
assert sum(map(len, sets.values())) == len(category) == len(SCALARS)
runs, at = [], 0
while at < 0x110000:
    start, name = at, category.get(at, "Cn")
    while at < 0x110000 and category.get(at, "Cn") == name:
        at += 1
    length = at - start
    runs.append(LETTERS[CATEGORIES.index(name)] + (f"{length:x}" if length > 1 else ""))
letters = set().union(*(sets[x] for x in ("Ll", "Lm", "Lo", "Lt", "Lu", "Nl")))
alphabetic = matching(r"\p{Alphabetic}")
assert letters <= alphabetic
word = matching(r"\w")
rest = set().union(*(sets[x] for x in ("Mc", "Me", "Mn", "Nd", "Pc"))) | alphabetic
assert rest <= word, sorted(rest - word)[:20]

print(f"""\
/// The general categories and scripts of all code points, as `tokenizers` 0.23.3 has them.
///
/// Data and not the toolchain's tables, for the reason that `CharacterRanges` gives. Measured by
/// Tests/Fixtures/tokenizers/make_unicode_categories.py, which writes this.
enum UnicodeCategories {{
    /// The categories, each by the letter that stands for it in `runs`.
    static let names: [(letter: Character, name: String)] = [
{textwrap.indent(textwrap.fill(", ".join(f'("{a}", "{b}")' for a, b in zip(LETTERS, CATEGORIES)) + ",", 88), " " * 8)}
    ]

    /// From U+0000 on: the letter of a category and for how many code points it goes on, a
    /// hexadecimal number or nothing for one. Surrogates count as unassigned.
    static let runs = {literal(" ".join("".join(runs[i:i + 8]) for i in range(0, len(runs), 8)), 8)}

    /// Alphabetic beyond the letters and the letter numbers, as hexadecimal ranges.
    static let otherAlphabetic = {literal(ranges(alphabetic - letters), 8)}

    /// `\\w` beyond the alphabetic, the marks, Nd and Pc.
    static let otherWord = "{ranges(word - rest)}"

    /// What the pre-tokenizers Punctuation and BertPreTokenizer cut at: not quite P and ASCII's.
    static let punctuation = {literal(ranges(punctuation()), 8)}

    /// The scripts by their names in small letters.
    static let scripts: [String: String] = [""")
for name in SCRIPTS:
    print(f'        "{name.lower()}": {literal(ranges(matching(rf"{chr(92)}p{{{name}}}")), 12)},')
print("    ]\n}")

"""Writes the generated tables of characters: UnicodeCategories.swift of SkeinBasics, the general
categories of Unicode, and CharacterRanges.swift of SkeinText, what only `tokenizers` takes for white
space, a digit, a word, punctuation or a script. Both are measured by asking that library about every
code point.

Usage: python3 Scripts/tokenizers/characters.py
Made with Python 3.11, tokenizers 0.23.3. Takes about two minutes.
"""

import pathlib
import textwrap

from tokenizers import Regex
from tokenizers.pre_tokenizers import Digits, Punctuation, Split

SOURCES = pathlib.Path(__file__).resolve().parents[2] / "Sources"
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


def isolated(step):
    """What a pre-tokenizer with a table of its own cuts out from between two letters."""
    found = set()
    for start in range(0, len(SCALARS), 4096):
        chunk = SCALARS[start : start + 4096]
        pieces = step.pre_tokenize_str("a" + "".join(chr(c) + "a" for c in chunk))
        found.update(ord(piece) for piece, _ in pieces if len(piece) == 1 and piece != "a")
    return found


def ranges(scalars):
    runs = []
    for c in sorted(scalars):
        if runs and runs[-1][1] == c - 1:
            runs[-1][1] = c
        else:
            runs.append([c, c])
    return " ".join(f"{a:X}" if a == b else f"{a:X}-{b:X}" for a, b in runs)


def literal(text, indent=8):
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
# SkeinText takes these from the categories.
for group in "LMN":
    assert matching(rf"\p{{{group}}}") == set().union(*(sets[x] for x in sets if x[0] == group))
assert matching(r"[\p{Lu}\p{Lt}]") == sets["Lu"] | sets["Lt"]

categories = f"""\
/// The general categories of all code points, of Unicode 16.
///
/// A model was trained on what one library took for a letter, so the categories are data and not a
/// property of the toolchain: Swift's own tables are of another Unicode version and change with it,
/// and a run must give the same tokens after an upgrade. What a template asks about a character
/// (`isalpha` and its like) is still answered by Swift's. Measured against `tokenizers` 0.23.3 by
/// Scripts/tokenizers/characters.py, which writes this.
enum UnicodeCategories {{
    /// The categories, in the order of the letters that stand for them in `runs`.
    static let names = {literal(" ".join(CATEGORIES))}
    static let letters = "{LETTERS}"

    /// From U+0000 on: the letter of a category and for how many code points it goes on, a
    /// hexadecimal number or nothing for one. Surrogates count as unassigned.
    static let runs = {literal(" ".join("".join(runs[i:i + 8]) for i in range(0, len(runs), 8)))}
}}
"""
(SOURCES / "SkeinBasics/Characters/UnicodeCategories.swift").write_text(categories)

own = f"""\
/// What `tokenizers` 0.23.3 takes for white space, a digit, a word, punctuation or a script, where
/// that is not a matter of general categories. Measured by Scripts/tokenizers/characters.py, which
/// writes this; `UnicodeCategories` says why these are data. All are hexadecimal ranges.
enum CharacterRanges {{
    /// `\\s` of the library's regular expressions.
    static let whiteSpace = {literal(ranges(matching(chr(92) + "s")))}

    /// What the pre-tokenizer Digits isolates: the category N, and some code points of a newer
    /// Unicode.
    static let digits = {literal(ranges(isolated(Digits(individual_digits=True))))}

    /// Alphabetic beyond the letters and the letter numbers.
    static let otherAlphabetic = {literal(ranges(alphabetic - letters))}

    /// `\\w` beyond the alphabetic, the marks, Nd and Pc.
    static let otherWord = "{ranges(word - rest)}"

    /// What the pre-tokenizers Punctuation and BertPreTokenizer cut at: not quite P and ASCII's.
    static let punctuation = {literal(ranges(isolated(Punctuation("isolated"))))}

    /// The scripts by their names in small letters.
    static let scripts: [String: String] = [
"""
for name in SCRIPTS:
    own += f'        "{name.lower()}": {literal(ranges(matching(rf"{chr(92)}p{{{name}}}")))},\n'
(SOURCES / "SkeinText/Expression/CharacterRanges.swift").write_text(own + "    ]\n}\n")

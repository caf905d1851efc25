"""Writes look-aheads.json: what Python's `re` says about expressions that begin with look-aheads, for all texts
of up to four characters of an alphabet.

    python3 look-aheads.py

A text counts as matched where it is in each of four readings: with classes of Unicode and of ASCII (as ECMA-262
has them), with `$` as Python has it and as the very end (as ECMA-262 has it).
"""

import itertools
import json
import pathlib
import random
import re
import sys

ALPHABET = "a1-.\n\u0663"
TEXTS = ["".join(word) for count in range(5) for word in itertools.product(ALPHABET, repeat=count)]

# The first is Pydantic's for Decimal. Of these a model may write all texts that match.
EXACT = [
    r"^(?!^[-+.]*$)[+-]?0*\d*\.?\d*$",
    r"^(?![-.]*$)[-+]?\d*\.?\d*$",
    r"^(?!a)",
    r"^(?!a)[a1]+$",
    r"^(?!$)",
    r"^(?!)a",
    r"^(?!(?:))a",
    r"^(?!a$)a?",
    r"^(?!a$|1)[a1-]*$",
    r"^(?!(?:a|1$))[a1-]*",
    r"^(?!a.$)a",
    r"^(?!.a)[^1]{2}",
    "^(?!\\d)[a1\u0663]",
    r"^(?!\D)",
    r"^(?!\w)[-a1]",
    r"^(?![^\d])",
    r"^(?![^a-])[a-]*$",
    r"^(?!a{2,3})a*$",
    r"^(?!a)(?!1)[^-]+$",
    r"^(?!.*\.\.)[a.]+$",
    r"^(?=a)[a1]{2}",
    r"^(?=.*a)(?=.*1)[a1-]{2,3}$",
    r"^(?=a.*1$)(?!.*-)",
    r"^(?=$)",
    r"^(?=^a^)a",
    r"^(?!^^a)1?",
    r"^(?!a)^1",
    r"^(?!aaaa)[a]{0,4}$",
]

GENERATOR = random.Random(11)


def expression(depth: int) -> str:
    draw = GENERATOR.random()
    if depth == 0 or draw < 0.35:
        return GENERATOR.choice(
            ["a", "1", "-", r"\.", ".", r"\d", r"\D", r"\w", "[^a]", r"[^\d]", "[-.]", "^", "$", "(?:)"])
    if draw < 0.6:
        return expression(depth - 1) + expression(depth - 1)
    if draw < 0.8:
        return "(?:" + expression(depth - 1) + "|" + expression(depth - 1) + ")"
    return "(?:" + expression(depth - 1) + ")" + GENERATOR.choice(["*", "+", "?", "{2}", "{1,2}"])


def matches(pattern: str) -> str:
    end = re.sub(r"(?<!\\)\$", r"\\Z", pattern)
    readings = [re.compile(text, flags) for text in (pattern, end) for flags in (0, re.ASCII)]
    return "".join("1" if all(reading.search(text) for reading in readings) else "0" for text in TEXTS)


def main() -> None:
    drawn: list[str] = []
    while len(drawn) < 60:
        pattern = "^" + "".join(
            f"(?{GENERATOR.choice('!!=')}{expression(3)})" for _ in range(GENERATOR.choice([1, 1, 2]))) + expression(2)
        if len(pattern) < 60 and pattern not in drawn and "1" in matches(pattern):
            drawn.append(pattern)
    rows = [{"pattern": pattern, "isExact": pattern in EXACT, "matches": matches(pattern)} for pattern in EXACT + drawn]
    made = {"python": sys.version.split()[0], "alphabet": ALPHABET, "patterns": rows}
    path = pathlib.Path(__file__).with_name("look-aheads.json")
    path.write_text(json.dumps(made, indent=1) + "\n")


main()

"""Writes slow_expressions.json: how `tokenizers` cuts texts that take an expression many more steps than
they have bytes.

Usage: python3 make_slow_expressions.py > FILE
Made with Python 3.11, tokenizers 0.23.3; it takes two minutes.
"""

import itertools
import json

from tokenizers import Regex, pre_tokenizers

CL100K = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"
    r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
)
# An expression, and a text as stretches that are repeated.
CASES = [
    (r"\s+$", [(" ", 60000), ("a", 1)]),
    (r"\s+$", [("a", 3), (" ", 60000), ("b", 1), (" \t", 20000), ("\n", 2)]),
    (r"\s++$", [(" ", 60000), ("a", 1)]),
    (CL100K, [("word ", 10), (" ", 60000), ("a'll", 3), ("\t", 60000), ("\n", 1), ("1", 1000)]),
    (r"\d{1,3}(?=(?:\d{3})*\b)", [("1", 60000), (" ", 1), ("2", 60001), ("a", 1)]),
    (r"(?=(\d{3})+(?!\d))", [("1", 40000), (" ", 1), ("2", 40001)]),
    (r"(?:a|b)+c", [("ab", 20000), ("c", 1), ("ab", 20000)]),
    (r"\S+?x(?:$|1)", [("ax", 15000), ("1", 1), ("bx", 15000), (" ", 1)]),
    (r"(?<!a)(?:a|ab)+?(?!b|a)c?", [("ab", 20000), ("a", 20000)]),
    (r"(?>\s+)(?=x)|\s", [(" ", 40000), ("x", 1), (" ", 30000)]),
    (r"\p{L}+\d+\.|\p{L}", [("世", 30000), ("7", 30000), ("é7.", 2)]),
    (r"(?:\w+\s?)+\.", [("ab ", 5), (".", 1), ("c", 22), ("!", 1)]),
]


def main():
    rows = []
    for pattern, parts in CASES:
        text = "".join(part * count for part, count in parts)
        pieces = pre_tokenizers.Split(Regex(pattern), "isolated").pre_tokenize_str(text)
        lengths = [len(piece.encode()) for piece, _ in pieces]
        runs = [[length, len(list(group))] for length, group in itertools.groupby(lengths)]
        rows.append(
            {"pattern": pattern, "parts": [{"text": t, "count": n} for t, n in parts], "lengths": runs}
        )
    print(json.dumps(rows, ensure_ascii=False, indent=1))


main()

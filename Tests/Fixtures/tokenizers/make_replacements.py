"""Writes replacements.json: what the Replace normalizer of `tokenizers` makes of texts with expressions.

Usage: python3 make_replacements.py > FILE
Made with Python 3.11, tokenizers 0.23.3.
"""

import json

from tokenizers import Regex, normalizers

TEXTS = ["", "ab1 c2 é3x", "axxb\n", "a b   \n ", "世界 I'VE 12345,6\r\n\t.", "aab\nba\n", "x", "...a..b.c"]
CASES = [
    (r"\p{L}+\d", "X"), (r"x*", "-"), (r"a|", "_"), (r"\s+$", " "), (r"(?=b)", "|"), (r"$", "E"), (r"^", "B"),
    (r"(a)(b)", r"\2$1"), (r"\s", ""), (r"(?<=\d)(?=(?:\d{3})+(?!\d))", ","), (r"[\r\n]+|\.{2,}", "世"),
    (r"(?i:'ve)\b", " have"), (r"\B", "·"), (r"(?:a?b?)+", "<>"),
]


def main():
    rows = []
    for pattern, content in CASES:
        step = normalizers.Replace(Regex(pattern), content)
        rows.append({"pattern": pattern, "content": content, "texts": [[t, step.normalize_str(t)] for t in TEXTS]})
    print(json.dumps(rows, ensure_ascii=False, indent=1))


main()

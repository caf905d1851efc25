"""Converts the dictd format of the Jargon File to prompt/completion pairs, one JSON object per line.

usage: jargon-pairs.py INDEX DICT.DZ > pairs.jsonl

The rows are sorted by the SHA-256 of their headword, so that the first N of them are a fair sample of
the whole. The same digest picks one of three prompts.
"""

import gzip
import hashlib
import json
import re
import sys
import textwrap

DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
PROMPTS = (
    "Define the Jargon File term: {}",
    'What does "{}" mean in hacker slang?',
    'Explain the hacker term "{}" to a newcomer.',
)
SHORTEST = 20  # characters; shorter completions only say "See {x}."

def number(digits):
    value = 0
    for digit in digits:
        value = value * 64 + DIGITS.index(digit)
    return value


def paragraph(block):
    """One line for prose; tables and drawings, which are indented unevenly, keep their lines."""
    lines = textwrap.dedent(block.replace("\xa0", " ")).strip("\n").split("\n")
    if any(line.startswith(" ") for line in lines):
        return "\n".join(line.rstrip() for line in lines)
    # Unwrapping leaves a blank where a line ended after the opening brace of a reference.
    return re.sub(r"\{ ([^{} ][^{}]*[^{} ])\}", r"{\1}", " ".join(" ".join(lines).split()))


index_path, dictionary_path = sys.argv[1:]
with gzip.open(dictionary_path) as file:
    dictionary = file.read()
pairs = []
with open(index_path, encoding="utf-8") as file:
    for line in file:
        name, offset, length = line.rstrip("\n").split("\t")
        if name.startswith("00-database"):
            continue
        entry = dictionary[number(offset) : number(offset) + number(length)].decode("utf-8")
        headword, _, body = entry.partition("\n")
        blocks = [block for block in re.split(r"\n\s*\n", body) if block.strip()]
        completion = "\n\n".join(paragraph(block) for block in blocks)
        if len(completion) < SHORTEST:
            continue
        digest = hashlib.sha256(headword.encode("utf-8")).digest()
        prompt = PROMPTS[digest[-1] % len(PROMPTS)].format(headword)
        pairs.append((digest, {"prompt": prompt, "completion": completion}))
sys.stdout.reconfigure(encoding="utf-8", newline="\n")
for _, pair in sorted(pairs, key=lambda item: item[0]):
    print(json.dumps(pair, ensure_ascii=False))

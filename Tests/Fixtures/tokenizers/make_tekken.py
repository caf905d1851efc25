"""Writes ranks.json, a small file in the form of tekken.json, and ranks_goldens.json: what tiktoken
makes of generated texts with its tokens.

Usage: python3 make_tekken.py, in this folder. Made with Python 3.11, tiktoken, tokenizers 0.23.3.
Half of the tokens are trained, half are random strings of few letters, so that one token is made of
several pairs and pairs of one rank overlap. With --check COUNT nothing is written: COUNT random
vocabularies and texts go to standard output, one a line.
"""

import base64
import json
import random
import sys

import tiktoken
from tokenizers import Tokenizer, models, pre_tokenizers, trainers

PATTERN = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|"
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|"
    r"\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
OTHER = r"\p{N}{1,3}| ?[\p{L}\p{M}]+| ?[^\s\p{L}\p{M}\p{N}]+|\s+(?!\S)|\s+"
SPECIAL = 20
WORDS = "the keeper counts lamps 世界 नमस्ते Über don't x+=1; 2024 aaaa abab baba abba \n\n   😀".split(" ")


def text(rng):
    parts = []
    for _ in range(rng.randint(0, 12)):
        parts.append(rng.choice([
            rng.choice(WORDS), "".join(rng.choice("ab") for _ in range(rng.randint(1, 30))), " ", "\n",
            chr(rng.choice([rng.randint(0, 0x2FF), rng.randint(0x3000, 0xD7FF), rng.randint(0x1F300, 0x1F6FF)])),
        ]))
    return "".join(parts)


def vocabulary(rng, trained, count):
    tokens = [bytes([b]) for b in range(256)]
    for token in trained:
        if token not in tokens:
            tokens.append(token)
    strings = set()
    while len(strings) < count:
        strings.add("".join(rng.choice("ab") for _ in range(rng.randint(2, 7))).encode())
    strings = sorted(strings - set(tokens))
    rng.shuffle(strings)
    return tokens + strings


def trained(count):
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    rng = random.Random(2)
    trainer = trainers.BpeTrainer(vocab_size=count, show_progress=False)
    tokenizer.train_from_iterator([text(rng) for _ in range(400)], trainer)
    spelled = dict(zip(map(chr, [*range(33, 127), *range(161, 173), *range(174, 256)]),
                       [*range(33, 127), *range(161, 173), *range(174, 256)]))
    other = [b for b in range(256) if b not in spelled.values()]
    spelled.update({chr(256 + i): b for i, b in enumerate(other)})
    by_id = sorted(tokenizer.get_vocab().items(), key=lambda x: x[1])
    return [bytes(spelled[c] for c in piece) for piece, _ in by_id]


def file(tokens, pattern, special):
    return {
        "config": {
            "pattern": pattern, "num_vocab_tokens": len(tokens),
            "default_vocab_size": len(tokens) + SPECIAL, "default_num_special_tokens": SPECIAL,
            "version": "v3",
        },
        "vocab": [
            {"rank": i, "token_bytes": base64.b64encode(x).decode(), "token_str": None}
            for i, x in enumerate(tokens)
        ],
    } | ({"special_tokens": [
        {"rank": i, "token_str": x, "is_control": True} for i, x in enumerate(["<unk>", "<s>", "</s>", "[INST]"])
    ]} if special else {})


def encode(tokens, pattern, texts):
    model = tiktoken.Encoding(
        "t", pat_str=pattern, mergeable_ranks={x: i for i, x in enumerate(tokens)}, special_tokens={})
    return [[SPECIAL + i for i in model.encode(x, disallowed_special=())] for x in texts]


def case(seed, base, count, texts, pattern):
    rng = random.Random(seed)
    tokens = vocabulary(rng, base, count)
    texts = [text(rng) for _ in range(texts)]
    return {"file": file(tokens, pattern, seed % 2 == 0), "texts": texts, "ids": encode(tokens, pattern, texts)}


base = trained(500)
if len(sys.argv) > 2:
    for seed in range(int(sys.argv[2])):
        print(json.dumps(case(seed, base, 60, 40, [PATTERN, OTHER][seed % 2])))
else:
    golden = case(0, base, 60, 150, PATTERN)
    with open("ranks.json", "w") as f:
        json.dump(golden.pop("file"), f, separators=(",", ":"))
    with open("ranks_goldens.json", "w") as f:
        json.dump([golden], f, ensure_ascii=False, separators=(",", ":"))

"""Compares the ids and texts of `skein tokenize` with those of the libraries; called by Scripts/check-tokenizers."""

import argparse
import ast
import glob
import hashlib
import os
import re
import sys

import gguf

import kinds
import product
import texts

SPEED = 5.0  # MB/s on one core
# WordPiece, and files that do not name their pre-tokenizer.
NOT_READ = ["aquila", "bert-bge", "gpt-neox"]
# llama.cpp knows a model's pre-tokenizer by the SHA-256 of the ids that it gives to one text.
HASHES = {
    "smollm": "855059429035d75a914d1eda9f10a876752e281a054a7a3d421ef0533e5b6249",
    "llama-bpe": "0ef9807a4087ebef797fc749390439009c3b9eda9ad1a097abbe738f486c01e5",
    "qwen2": "e636dc30a262dcc0d8c323492e32ae2b70728f4df7dfe9737d9f920a282b8aea",
    "gpt-2": "3ce83efda5659b07b1ad37ca97ca5797ea4285d9b9ab0dc679e4a720c9da7454",
}


def compare(skein, kind, strings, pairs):
    """A row of the table; False as its last item if anything differs."""
    accepted = [text for text in strings if kind.accepts(text)]
    found = skein.encode(kind.model, accepted)
    expected = [kind.encode(text) for text in accepted]
    wrong = [i for i in range(len(accepted)) if found[i] != expected[i]]
    for i in wrong[:3]:
        print(f"  {accepted[i]!r}\n    {found[i]}\n    {expected[i]}", file=sys.stderr)
    decoded = "-"
    differing = []
    if kind.decode:
        said = skein.decode(kind.model, expected)
        differing = [i for i, ids in enumerate(expected) if said[i] != kind.decode(ids)]
        decoded = str(len(differing))
        for i in differing[:3]:
            print(f"  {expected[i]}\n    {said[i]!r}\n    {kind.decode(expected[i])!r}", file=sys.stderr)
    speed = skein.speed(kind.model, pairs)["bytes_per_second"] / 1e6
    row = [kind.name, str(len(accepted)), str(len(wrong)), decoded, f"{speed:.1f}"]
    return row, not wrong and not differing and speed >= SPEED


def check_text(folder):
    """The text of llama.cpp's hashes, from its conversion script."""
    with open(f"{folder}/convert_hf_to_gguf.py") as file:
        return ast.literal_eval(re.search(r"chktxt = ('.*')", file.read()).group(1))


def vocabularies(skein, arguments, strings):
    """llama.cpp's vocabularies: their own examples, generated strings, and the hash."""
    text = check_text(arguments.llama_cpp)
    ok = True
    models = {"smollm": arguments.smollm}
    for path in sorted(glob.glob(f"{arguments.llama_cpp}/models/ggml-vocab-*.gguf")):
        name = os.path.basename(path).removeprefix("ggml-vocab-").removesuffix(".gguf")
        reader = gguf.GGUFReader(path)
        target = f"{arguments.folder}/{name}.gguf"
        size = len(kinds.contents(reader, "tokens"))
        product.gguf_file(target, size, lambda writer: product.copy_tokenizer(reader, writer))
        try:
            skein.encode(target, ["a"])
        except RuntimeError as error:
            print(f"| {name} | not read: {str(error).removeprefix('error: ')} | | |")
            ok = ok and name in NOT_READ
            continue
        if kinds.contents(reader, "pre") in HASHES:
            models[kinds.contents(reader, "pre")] = target
        wrong = "-"
        if os.path.exists(path + ".inp"):
            with open(path + ".inp", newline="") as file:
                inputs = file.read().split("\n__ggml_vocab_test__\n")
            with open(path + ".out") as file:
                outputs = [list(map(int, line.split())) for line in file.read().split("\n")]
            examples = list(zip(inputs, outputs, strict=True))
            found = skein.encode(target, [text for text, _ in examples])
            bad = [i for i, (_, ids) in enumerate(examples) if found[i] != ids]
            for i in bad[:3]:
                print(f"  {examples[i][0]!r}\n    {found[i]}\n    {examples[i][1]}", file=sys.stderr)
            wrong = f"{len(bad)} of {len(examples)}"
            ok = ok and not bad
        other = "-"
        oracle, raw = kinds.byte_level_of(reader), kinds.pieces_of(reader)
        if oracle or raw:
            kind = (
                kinds.Kind.of_tokenizers(name, target, oracle) if oracle
                else kinds.Kind.of_sentencepiece(name, target, raw))
            accepted = [text for text in strings if kind.accepts(text)]
            found = skein.encode(target, accepted)
            bad = [i for i, text in enumerate(accepted) if found[i] != kind.encode(text)]
            for i in bad[:3]:
                print(f"  {accepted[i]!r}\n    {found[i]}\n    {kind.encode(accepted[i])}", file=sys.stderr)
            other = f"{len(bad)} of {len(accepted)}"
            ok = ok and not bad
        print(f"| {name} | {kinds.contents(reader, 'pre') or 'llama'} | {wrong} | {other} |", flush=True)
    print()
    for name, path in models.items():
        ids = skein.encode(path, [text])[0]
        first = {"llama-bpe": [128000]}.get(name, [])
        found = hashlib.sha256(str(first + ids).encode()).hexdigest()
        print(f"chktxt, {name}: {found} {'as published' if found == HASHES[name] else 'expected ' + HASHES[name]}")
        ok = ok and found == HASHES[name]
    return ok and len(models) == len(HASHES)


def refusals(skein, arguments):
    """Text that is not UTF-8 is refused, by the offset of its first wrong byte."""
    try:
        skein.run("tokenize", "--model", arguments.smollm, "--json", "-", data=b"abc\xff\xc3")
    except RuntimeError as error:
        print(f"bytes that are not UTF-8: {error}")
        return "UTF-8" in str(error) and "3" in str(error)
    return False


def main():
    parser = argparse.ArgumentParser()
    for name in ["skein", "smollm", "gemma", "pairs", "llama-cpp", "folder"]:
        parser.add_argument("--" + name)
    parser.add_argument("--strings", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    skein = product.Product(arguments.skein)
    strings = texts.texts(arguments.strings, arguments.seed)
    ok = True
    compared = 0
    print("| tokenizer | strings | other ids | other text | MB/s |\n|---|---:|---:|---:|---:|")
    for kind in kinds.all_kinds(arguments):
        if arguments.only not in kind.name:
            continue
        row, fine = compare(skein, kind, strings, arguments.pairs)
        print("| " + " | ".join(row) + " |", flush=True)
        ok, compared = ok and fine, compared + 1
    if arguments.only not in "llama.cpp":
        sys.exit(f"no tokenizer is called {arguments.only}" if not compared else 0 if ok else 1)
    print("\n| llama.cpp's vocabulary | expression | its examples: other ids | strings: other ids |\n|---|---|---:|---:|")
    ok = vocabularies(skein, arguments, strings) and ok
    ok = refusals(skein, arguments) and ok
    sys.exit(0 if ok else 1)


main()

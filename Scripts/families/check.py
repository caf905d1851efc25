"""Compares Skein with transformers + PEFT in float64 on random models of every family.

usage: check.py SKEIN [--seed N] [--family NAME ...] [--count N] [--no-mutations] [--table docs/MODELS.md] [--keep DIR]
"""

import argparse
import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings

import torch
import transformers
from safetensors.torch import load_file
from transformers import AutoModelForCausalLM, AutoModelForImageTextToText

import convert
import draw
import oracle

LOGITS, GRADIENT = 1e-4, 1e-3
TOKENS = 10
FIELDS = [
    "beforeAttention", "afterAttention", "beforeFeedForward", "afterFeedForward", "headNorms", "attentionScale",
    "attentionSoftCap", "window", "queryGrowth", "activation", "residualMultiplier", "biases", "rotaryTable", "rotation",
    "divisors", "longDivisors", "attentionFactor", "rotaryDimension", "normOffset", "embeddingMultiplier",
    "logitsMultiplier", "logitsSoftCap",
]
# Of the others llama.cpp's conversion does not write all that is drawn, or wants a tokenizer.
WITH_GGUF = ["llama", "qwen2", "phi3"]
# The same numbers by other ways: equal bits.
WAYS = [dict(streamed=True), dict(checkpointing=True), dict(streamed=True, checkpointing=True, threads=3)]


def relative(found, expected):
    """Relative L2 error."""
    scale = expected.double().norm().item()
    error = (found.double() - expected.double()).norm().item()
    return error / scale if scale else (0.0 if error == 0 else float("inf"))


def compare(found, expected):
    """The worst errors of logits, loss and gradients, and whether greedy tokens are equal."""
    missing = set(expected) ^ set(found)
    if missing:
        raise SystemExit(f"tensors differ by name: {sorted(missing)[:4]}")
    worst = dict(logits=0.0, loss=0.0, gradient=0.0, tokens=0.0)
    for name, want in expected.items():
        kind = name.split(".")[0]
        got = found[name]
        if kind == "tokens":
            if not torch.equal(got.double(), want):
                worst["tokens"] += 1
            continue
        if kind == "loss":
            error = relative(got[:1], want[:1]) + abs(got[1] - want[1]).item()
        elif kind == "steps" and not torch.equal(found[f"tokens.{name[6:]}"].double(), expected[f"tokens.{name[6:]}"]):
            continue
        else:
            error = relative(got, want)
        kind = dict(logits="logits", steps="logits", loss="loss").get(kind, "gradient")
        worst[kind] = max(worst[kind], error if error == error else float("inf"))
    return worst


def passes(worst):
    return (
        worst["logits"] <= LOGITS and worst["loss"] <= LOGITS and worst["gradient"] <= GRADIENT
        and worst["tokens"] == 0)


def run(skein, model, plan, folder):
    path = os.path.join(folder, "plan.json")
    with open(path, "w") as file:
        json.dump(plan, file)
    done = subprocess.run([skein, "bench", "model", "--model", model, "--data", path], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{model}: skein ended with {done.returncode}\n{done.stderr}")
    return set(done.stdout.split("\n"))


def made(family, number, seed, folder):
    """A model and an adapter in `folder`, rows, prompts, and what transformers makes of them."""
    source = draw.source_of(seed, family, number)
    config = draw.FAMILIES[family](source)
    config._attn_implementation = "eager"
    kind = AutoModelForImageTextToText if family == "gemma3" else AutoModelForCausalLM
    model = kind.from_config(config, attn_implementation="eager", dtype=torch.float32).eval()
    is_offset = 1 if family.startswith("gemma") else 0
    draw.fill(model, source, is_offset)
    rows, prompts = draw.rows_of(source, config.get_text_config().vocab_size)
    model = model.double()
    spread = oracle.sharpen(model, rows, is_offset)
    model.float().save_pretrained(os.path.join(folder, "model"))
    adapter = os.path.join(folder, "adapter")
    peft = oracle.adapted(model, source, adapter)
    return rows, prompts, spread, oracle.expected(peft, rows, prompts, TOKENS), adapter


def check_gguf(skein, converter, folder, plan, expected):
    """The same model from a GGUF file: the worst errors, and the reason if they are too large."""
    path, out = os.path.join(folder, "model.gguf"), os.path.join(folder, "out.gguf")
    converter.convert(os.path.join(folder, "model"), path)
    run(skein, path, dict(plan, jobs=[dict(plan["jobs"][0], output=out)]), folder)
    worst = compare(load_file(out), expected)
    return [] if passes(worst) else [f"GGUF differs: {worst}"]


def check(skein, family, number, arguments, folder):
    with contextlib.redirect_stdout(io.StringIO()):
        rows, prompts, spread, expected, adapter = made(family, number, arguments.seed, folder)
    out = os.path.join(folder, "out")
    jobs = [dict(adapter=adapter, output=f"{out}.plain")]
    jobs += [dict(way, adapter=adapter, output=f"{out}.way{i}") for i, way in enumerate(WAYS)]
    if not arguments.no_mutations:
        jobs += [dict(adapter=adapter, disable=field, output=f"{out}.{field}") for field in FIELDS]
    plan = dict(rows=rows, prompts=prompts, tokens=TOKENS, jobs=jobs)
    written = run(skein, os.path.join(folder, "model"), plan, folder)
    plain = load_file(f"{out}.plain")
    worst = compare(plain, expected)
    worst["spread"] = spread
    failures = [] if passes(worst) else ["differs"]
    for i in range(len(WAYS)):
        other = load_file(f"{out}.way{i}")
        if any(not torch.equal(other[name], plain[name]) for name in plain):
            failures.append(f"{WAYS[i]} gives other bits")
    if arguments.converter and family in WITH_GGUF:
        failures += check_gguf(skein, arguments.converter, folder, plan, expected)
    noticed, silent = [], []
    for field in FIELDS:
        if f"{out}.{field}" in written:
            (silent if passes(compare(load_file(f"{out}.{field}"), expected)) else noticed).append(field)
    failures += [f"nobody notices that {field} is off" for field in silent]
    return worst, noticed, failures


def table(results, arguments):
    lines = [
        f"transformers {transformers.__version__}, torch {torch.__version__.split('+')[0]}, float64; seed "
        f"{arguments.seed}, {arguments.count} models of each family.",
        "",
        "| `model_type` | logits | loss | gradient | smallest spread of scores | fields that fail when off |",
        "|---|---|---|---|---|---|",
    ]
    for family, (worst, noticed) in results.items():
        lines.append(
            f"| `{family}` | {worst['logits']:.1e} | {worst['loss']:.1e} | {worst['gradient']:.1e} | "
            f"{worst['spread']:.1f} | {len(noticed)} |")
    return "\n".join(lines) + "\n"


def write_table(path, text):
    begin, end = "<!-- check-families -->\n", "<!-- /check-families -->\n"
    with open(path) as file:
        page = file.read()
    before, rest = page.split(begin)
    with open(path, "w") as file:
        file.write(before + begin + text + end + rest.split(end)[1])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("skein")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--family", nargs="*", default=list(draw.FAMILIES), choices=list(draw.FAMILIES))
    parser.add_argument("--count", type=int, default=3)
    parser.add_argument("--first", type=int, default=0, help="number of the first model, to repeat one")
    parser.add_argument("--no-mutations", action="store_true")
    parser.add_argument("--table", help="page whose table is replaced")
    parser.add_argument("--llama-cpp", help="llama.cpp's sources: the models are read from GGUF files, too")
    parser.add_argument("--keep", help="directory for the models, to look into a failure")
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore")
    transformers.logging.set_verbosity_error()
    torch.set_num_threads(1)
    arguments.converter = convert.Converter(arguments.llama_cpp) if arguments.llama_cpp else None
    results, failed = {}, 0
    for family in arguments.family:
        began, total, all_noticed = time.time(), dict(logits=0, loss=0, gradient=0, tokens=0, spread=1e9), set()
        for number in range(arguments.first, arguments.first + arguments.count):
            with tempfile.TemporaryDirectory(prefix="skein-families.") as folder:
                if arguments.keep:
                    folder = os.path.join(arguments.keep, f"{family}-{number}")
                    os.makedirs(folder, exist_ok=True)
                worst, noticed, failures = check(arguments.skein, family, number, arguments, folder)
            for problem in failures:
                failed += 1
                numbers = ", ".join(f"{k} {v:.1e}" for k, v in worst.items())
                print(f"{family} {number} (--seed {arguments.seed} --first {number}): {problem} ({numbers})", flush=True)
            for key in total:
                total[key] = min(total[key], worst[key]) if key == "spread" else max(total[key], worst[key])
            all_noticed |= set(noticed)
        results[family] = total, all_noticed
        print(
            f"{family:12} logits {total['logits']:.1e} loss {total['loss']:.1e} gradient {total['gradient']:.1e} "
            f"scores {total['spread']:.1f} fields {len(all_noticed):2} in {time.time() - began:.0f} s", flush=True)
    if arguments.table and not failed:
        write_table(arguments.table, table(results, arguments))
    sys.exit(f"{failed} failures" if failed else 0)


main()

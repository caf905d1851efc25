"""Compares Skein with transformers + PEFT in float64 on random models of every family.

usage: check.py SKEIN [--seed N] [--family NAME ...] [--count N] [--no-mutations] [--dora] [--llama-cpp DIR]
                [--table PAGE] [--keep DIR]
"""

import argparse
import contextlib
import dataclasses
import io
import itertools
import json
import os
import subprocess
import sys
import tempfile
import warnings

import torch
import transformers
from safetensors.torch import load_file, save_file
from transformers import AutoModelForCausalLM, AutoModelForImageTextToText

import convert
import draw
import oracle
import report
import slices

TOKENS = 10
FIELDS = [
    "beforeAttention", "afterAttention", "beforeFeedForward", "afterFeedForward", "headNorms", "attentionScale",
    "attentionSoftCap", "window", "queryGrowth", "activation", "residualMultiplier", "biases", "rotaryTable", "rotation",
    "divisors", "longDivisors", "attentionFactor", "rotaryDimension", "normOffset", "embeddingMultiplier",
    "logitsMultiplier", "logitsSoftCap",
]
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
    worst = dict(logits=0.0, loss=0.0, gradient=0.0, tokens=0.0, ties=0.0)
    for name, want in expected.items():
        kind = name.split(".")[0]
        got = found[name]
        if kind == "tokens":
            if not torch.equal(got.double(), want):
                at = (got.double() != want).nonzero()[0].item()
                steps = expected[f"steps.{name[7:]}"][at]
                best, ids = steps.topk(2)
                # An error within the bound may turn the two around.
                is_close = best[0] - best[1] <= report.LOGITS * steps.norm()
                is_tie = is_close and int(got[at]) in ids.tolist()
                worst["ties" if is_tie else "tokens"] += 1
            continue
        if kind == "loss":
            error = relative(got[:1], want[:1]) + abs(got[1] - want[1]).item()
        elif kind == "steps" and not torch.equal(found[f"tokens.{name[6:]}"].double(), expected[f"tokens.{name[6:]}"]):
            continue
        elif got.shape != want.shape:
            raise SystemExit(f"{name} is {tuple(got.shape)}, not {tuple(want.shape)}")
        else:
            error = relative(got, want)
        kind = dict(logits="logits", steps="logits", loss="loss").get(kind, "gradient")
        worst[kind] = max(worst[kind], error if error == error else float("inf"))
    return worst


def without_text(tensors):
    return {name: value for name, value in tensors.items() if name.split(".")[0] not in ("tokens", "steps")}


def can_pair(folder):
    """Whether products in bf16 are computed: they take numbers in pairs."""
    with open(os.path.join(folder, "config.json")) as file:
        fields = json.load(file)
    fields = fields.get("text_config", fields)
    width = fields.get("shared_intermediate_size", fields["intermediate_size"])
    return fields["hidden_size"] % 2 == 0 and width % 2 == 0


def compare_roughly(found, expected):
    """Relative L2 errors of all logits, and of all gradients, as one vector each; and of logits at the median place."""
    kinds, places = {}, []
    for name, want in expected.items():
        kind = name.split(".")[0]
        if kind in ("logits", "base_model"):
            pair = kinds.setdefault(kind, ([], []))
            pair[0].append(found[name].double().flatten())
            pair[1].append(want.double().flatten())
        if kind == "logits":
            places.append((found[name].double() - want).norm(dim=1) / want.norm(dim=1))
    errors = {kind: relative(*map(torch.cat, pair)) for kind, pair in kinds.items()}
    return dict(errors, place=torch.cat(places).median().item())


def run(skein, model, plan, folder):
    path = os.path.join(folder, "plan.json")
    with open(path, "w") as file:
        json.dump(plan, file)
    lab = os.environ.get("SKEIN_LAB") or os.path.join(os.path.dirname(os.path.realpath(skein)), "skein-lab")
    done = subprocess.run([lab, "bench", "model", "--model", model, "--data", path], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{model}: skein-lab ended with {done.returncode}\n{done.stderr}")
    return set(done.stdout.split("\n"))


@dataclasses.dataclass
class Made:
    """A model and an adapter in a folder, rows, prompts, and what transformers makes of them."""

    rows: list
    prompts: list
    spread: float
    expected: dict
    others: dict  # errors of transformers in other precisions
    adapter: str
    of_modules: dict = None  # of an adapter of slices: `expected` for the adapter of modules that it is exported as

    def plan(self, jobs):
        return dict(rows=self.rows, prompts=self.prompts, tokens=TOKENS, jobs=jobs)


def errors_in_single_precision(runs, errors_of):
    """The worst errors of torch in three runs, or of twelve on a model that leaves little of fp32."""
    with contextlib.closing(runs):
        errors = [errors_of(found) for found in itertools.islice(runs, 3)]
        if any(worst[key] > bound / 8 for worst in errors for key, bound in report.BOUNDS):
            errors += [errors_of(found) for found in itertools.islice(runs, 9)]
    return {key: max(worst[key] for worst in errors) for key in errors[0]}


def made(skein, family, number, seed, folder, change=lambda config: config, **more):
    source = draw.source_of(seed, family, number)
    config = change(draw.FAMILIES[family](source))
    config._attn_implementation = "eager"
    kind = AutoModelForImageTextToText if family == "gemma3" else AutoModelForCausalLM
    model = kind.from_config(config, attn_implementation="eager", dtype=torch.float32).eval()
    oracle.keep_rotations(model)
    is_offset = 1 if family.startswith("gemma") else 0
    draw.fill(model, source, is_offset)
    rows, prompts = draw.rows_of(source, config.get_text_config().vocab_size)
    model = model.double()
    spread = oracle.sharpen(model, rows, is_offset)
    path, adapter = os.path.join(folder, "model"), os.path.join(folder, "adapter")
    model.float().save_pretrained(path)

    def export(own):
        out = os.path.join(folder, "exported")
        job = dict(adapter=own, exported=out, output=os.path.join(folder, "nothing"))
        run(skein, path, dict(rows=[], prompts=[], tokens=0, jobs=[job]), folder)
        return out

    places = None
    # Of models with fused modules, every other one has an adapter of slices.
    if number % 2 and not more and any(name.split(".")[-1] in slices.PARTS for name in oracle.modules_of(model)):
        peft, places = oracle.adapted_in_slices(model, source, adapter, export)
    else:
        peft = oracle.adapted(model, source, adapter, **more)

    def own(tensors):
        return places.of(tensors, config.num_hidden_layers) if places else tensors

    of_modules = oracle.expected(peft, rows, prompts, TOKENS)
    expected = own(of_modules)
    single = errors_in_single_precision(
        oracle.in_single_precision(peft, rows, prompts, TOKENS), lambda found: compare(own(found), expected))
    rough = own(oracle.expected(peft.to(torch.bfloat16), rows))
    others = {torch.float32: single, torch.bfloat16: compare_roughly(rough, without_text(expected))}
    return Made(rows, prompts, spread, expected, others, adapter, of_modules if places else None)


def check_gguf(skein, converter, family, number, seed, folder):
    """The drawn model, as far as GGUF can say it, from a GGUF file: the worst errors, and torch's in fp32."""
    os.makedirs(folder)
    model = made(skein, family, number, seed, folder, convert.sayable)
    path, out = os.path.join(folder, "model.gguf"), os.path.join(folder, "out")
    path_of_adapter = os.path.join(model.adapter, "adapter_model.safetensors")
    save_file(convert.adapter_of_file(load_file(path_of_adapter), family), path_of_adapter)
    converter.convert(os.path.join(folder, "model"), path)
    run(skein, path, model.plan([dict(adapter=model.adapter, output=out)]), folder)
    found = convert.as_in_folder(load_file(out), model.expected, family)
    return compare(found, model.expected), model.others[torch.float32]


def check(skein, family, number, arguments, folder):
    """What was found out about one drawn model."""
    with contextlib.redirect_stdout(io.StringIO()):
        model = made(skein, family, number, arguments.seed, folder, **(dict(use_dora=True) if arguments.dora else {}))
    found = report.Draw(model.spread, model.of_modules is not None)
    path, adapter, out = os.path.join(folder, "model"), model.adapter, os.path.join(folder, "out")
    jobs = [dict(adapter=adapter, output=f"{out}.plain")]
    if can_pair(path):
        jobs.append(dict(adapter=adapter, compute="bf16", output=f"{out}.bf16"))
    if model.of_modules:
        jobs.append(dict(adapter=os.path.join(folder, "exported"), output=f"{out}.modules"))
    jobs += [dict(way, adapter=adapter, output=f"{out}.way{i}") for i, way in enumerate(WAYS)]
    if not arguments.no_mutations:
        jobs += [dict(adapter=adapter, disable=field, output=f"{out}.{field}") for field in FIELDS]
    written = run(skein, path, model.plan(jobs), folder)
    plain = load_file(f"{out}.plain")
    found.add(compare(plain, model.expected), model.others[torch.float32], "folder")
    if model.of_modules:
        found.add(
            compare(load_file(f"{out}.modules"), model.of_modules), model.others[torch.float32], "exported adapter")
    if can_pair(path):
        found.add_bf16(compare_roughly(load_file(f"{out}.bf16"), model.expected), model.others[torch.bfloat16])
    for i in range(len(WAYS)):
        other = load_file(f"{out}.way{i}")
        if any(not torch.equal(other[name], plain[name]) for name in plain):
            found.failures.append(f"{WAYS[i]} gives other bits")
    if arguments.converter and not arguments.dora:
        with contextlib.redirect_stdout(io.StringIO()):
            errors = check_gguf(
                skein, arguments.converter, family, number, arguments.seed, os.path.join(folder, "gguf"))
        found.add(*errors, "GGUF")
    for field in FIELDS:
        if f"{out}.{field}" in written:
            found.add_field(field, compare(load_file(f"{out}.{field}"), model.expected))
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("skein")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--family", nargs="*", default=list(draw.FAMILIES), choices=list(draw.FAMILIES))
    parser.add_argument("--count", type=int, default=3)
    parser.add_argument("--first", type=int, default=0, help="number of the first model, to repeat one")
    parser.add_argument("--no-mutations", action="store_true")
    parser.add_argument("--dora", action="store_true", help="adapters with magnitudes; not from GGUF")
    parser.add_argument("--table", help="page whose table is replaced, after a run of all families without a failure")
    parser.add_argument("--llama-cpp", help="llama.cpp's sources: the models are read from GGUF files, too")
    parser.add_argument("--keep", help="directory for the models, to look into a failure")
    arguments = parser.parse_args()
    is_whole = set(arguments.family) == set(draw.FAMILIES) and not arguments.no_mutations
    if arguments.table and not (is_whole and arguments.llama_cpp):
        parser.error("--table needs all families, their GGUF files and mutations")
    warnings.filterwarnings("ignore")
    transformers.logging.set_verbosity_error()
    torch.set_num_threads(1)
    arguments.converter = convert.Converter(arguments.llama_cpp) if arguments.llama_cpp else None
    results, failed = {}, 0
    for family in arguments.family:
        total = results[family] = report.Family()
        for number in range(arguments.first, arguments.first + arguments.count):
            with tempfile.TemporaryDirectory(prefix="skein-families.") as folder:
                if arguments.keep:
                    folder = os.path.join(arguments.keep, f"{family}-{number}")
                    os.makedirs(folder, exist_ok=True)
                found = check(arguments.skein, family, number, arguments, folder)
            place = f"{family} {number} (--seed {arguments.seed} --first {number})"
            for line in found.failures + found.remarks:
                print(f"{place}: {line}", flush=True)
            failed += len(found.failures)
            total.add(found)
        if not arguments.no_mutations and not total.noticed:
            failed += 1
            print(f"{family}: no field was switched off", flush=True)
        print(f"{family:12} {total}", flush=True)
    if is_whole and arguments.count >= 20:
        silent = set(FIELDS) - set().union(*(total.noticed for total in results.values()))
        if silent:
            failed += 1
            print(f"no family has {sorted(silent)}", flush=True)
    if arguments.table and not failed:
        versions = f"transformers {transformers.__version__}, torch {torch.__version__.split('+')[0]}"
        report.write_table(arguments.table, results, f"{versions}, float64; seed {arguments.seed}, {arguments.count}")
    sys.exit(f"{failed} failures" if failed else 0)


main()

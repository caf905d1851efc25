"""How fast the runs of the first cell compute, beside its centre, for the comparison at equal time.

pace.py --skein S --model M --pairs P --work DIR --results DIR --machine TEXT [--compute bf16] [--threads N]

A sweep takes turns step by step, so its runs have no time of their own. Here each recipe whose work differs takes a few steps by
itself, ROUNDS times and in turn. The result is RESULTS/pace.json: tokens a second, the median of all steps.
"""

import json
import pathlib
import shutil
import statistics
import subprocess

import judge
import plan
import results

# What changes the work of a step; the rest of the factors does not.
NAMES = ("centre", "targets q,v", "targets q,k,v,o", "rank 4", "rank 32", "batch 2", "batch 16")
# Rows that each takes in a round, so that all take as long.
ROWS = 80
ROUNDS = 3


def speeds(cell, given):
    """Tokens a second of each step but the first, which has the model to load."""
    words = {key: value for key, value in given.items() if key not in ("epochs", "warmup-ratio")}
    words["iterations"] = ROWS // given["batch-size"]
    shutil.rmtree("pace", ignore_errors=True)
    subprocess.run(
        [cell.arguments.skein, "train", "--model", cell.arguments.model, "--data", "train.jsonl", "--validation-split", "0",
         "--output", "pace", "--max-length", str(plan.MAX_LENGTH), "--compute", cell.arguments.compute, "--threads",
         str(cell.arguments.threads), "--no-advice", "--checkpoint-every", "0",
         *(part for key, value in words.items() for part in ("--" + key, str(value)))],
        check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with open("pace/metrics.jsonl", encoding="utf-8") as file:
        return [line["tokens_per_second"] for line in map(json.loads, file) if "tokens_per_second" in line][1:]


def main():
    arguments = judge.arguments_of(judge.measuring_parser(), cell=plan.CELLS[0])
    cell = judge.Cell(arguments)
    recipes = dict(plan.runs(cell.name))
    found = {name: [] for name in NAMES}
    for _ in range(ROUNDS):
        for name in NAMES:
            found[name] += speeds(cell, recipes[name])
    shutil.rmtree("pace")
    results.update(pathlib.Path(arguments.results, "pace.json"), lambda old: old.update(
        machine=judge.measured_on(arguments),
        runs={name: round(statistics.median(speed), 1) for name, speed in found.items()}))


main()

"""How fast the runs of the first cell compute, beside its centre, for the comparison at equal time.

pace.py --skein S --model M --pairs P --work DIR --results DIR --machine TEXT [--compute bf16] [--threads N]

A sweep takes turns step by step, so its runs have no time of their own. Here each recipe whose work differs takes a few steps by
itself, ROUNDS times and in turn. The result is RESULTS/pace.json: tokens a second, the median of all steps.
"""

import pathlib
import shutil
import statistics

import arguments
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
    cell.train("pace", "--validation-split", "0", "--no-advice", "--checkpoint-every", "0",
               *(part for key, value in words.items() for part in ("--" + key, str(value))))
    return [step["tokens_per_second"] for step in judge.metrics("pace")[0]][1:]


def main():
    words = arguments.arguments_of(arguments.measuring_parser(), cell=plan.CELLS[0])
    cell = judge.Cell(words)
    recipes = dict(plan.runs(cell.name))
    found = {name: [] for name in NAMES}
    for _ in range(ROUNDS):
        for name in NAMES:
            found[name] += speeds(cell, recipes[name])
    shutil.rmtree("pace")
    results.update(pathlib.Path(words.results, "pace.json"), lambda old: old.update(
        machine=arguments.measured_on(words),
        runs={name: round(statistics.median(speed), 1) for name, speed in found.items()}))


main()

"""Trains a cell with the defaults in fp32 and in int8, with some seeds each, and asks all adapters in fp32.

computes.py CELL --skein S --model M --pairs P --work DIR --results DIR --machine TEXT [--threads N] [--seeds N]

An adapter is used in fp32 by all who download it, so losses and answers are those in fp32, whatever it was trained in; "own" is
the lowest validation of the run itself, in its own compute. The results are in RESULTS/computes.json, for table.py. A run that was measured is not run again: delete those
of int8 from the results when its arithmetic changes.
"""

import pathlib
import sys

import arguments
import judge
import plan
import results

COMPUTES = ("fp32", "int8")


def measured(cell, compute, seed):
    """One run: held-out losses in fp32 and in its own compute, and answers in fp32."""
    cell.arguments.compute = compute
    folder = cell.folder("compute", compute, seed)
    cell.train(folder, "--valid-data", "valid.jsonl", "--seed", str(seed), "--validate-at-start", "off", "--checkpoint-every", "0",
               "--keep-checkpoints", "1", "--no-advice")
    adapter = folder + "/adapter"
    steps, validations = judge.metrics(folder)
    name = f"{compute} {seed}"
    return {"loss": round(cell.evaluation(adapter)["loss"], 5),
            "own": round(min(line["validation_loss"] for line in validations), 5),
            "accuracy": round(cell.accuracies({name: adapter})[name], 4), "steps": len(steps)}


def main():
    parser = arguments.measuring_parser()
    parser.add_argument("--seeds", type=int, default=3)
    words = arguments.arguments_of(parser)
    if words.cell in plan.PAIRS:
        sys.exit(f"error: {words.cell} has pairs, and only answers are compared here\n  fix: name one of {', '.join(plan.CELLS)}")
    cell = judge.Cell(words)
    file = pathlib.Path(words.results, "computes.json")
    for seed in range(words.seeds):
        for compute in COMPUTES:
            name = f"{cell.name} {compute} {seed}"
            if name in results.read(file)["runs"]:
                continue
            judge.say(name)
            found = {**measured(cell, compute, seed), "machine": arguments.measured_on(words)}
            results.update(file, lambda all_of_them: all_of_them["runs"].update({name: found}))


main()

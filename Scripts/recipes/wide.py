"""Trains a random model of the shape of Llama 3.2 1B for 50 steps with the defaults, and with ten times their rate.

wide.py --skein S --model TOKENIZER.gguf --pairs P --work DIR --results DIR --machine TEXT [--compute bf16] [--threads N]

The rule's rate must be stable there: the loss falls and no gradient explodes. Ten times the rate shows how far from that it is.
Nothing is said about quality: the model knows nothing. The result is RESULTS/wide.json, for table.py.
"""

import os
import pathlib
import subprocess
import sys

import arguments
import judge
import plan
import results

# Llama 3.2 1B: layers, width, feed-forward, heads, heads of keys and values.
SHAPE = ("16", "2048", "8192", "32", "8")
STEPS = 50
# Rows of a step: few, because a step of this model takes seconds.
BATCH = 2
TIMES = 10


def trained(cell, model, *words):
    """Losses and norms of the gradient, step by step, and the rate at its highest."""
    folder = cell.folder("wide", SHAPE, STEPS, BATCH, words, cell.arguments.compute)
    if not os.path.isdir(folder + "/adapter"):
        cell.train(folder, "--validation-split", "0", "--iterations", str(STEPS), "--batch-size", str(BATCH), "--no-advice",
                   "--checkpoint-every", "10", "--keep-checkpoints", "1", *words, model=model)
    steps, _ = judge.metrics(folder)
    return {"rate": max(step["learning_rate"] for step in steps), "losses": [round(step["loss"], 3) for step in steps],
            "norms": [round(step["gradient_norm"], 3) for step in steps]}


def main():
    words = arguments.arguments_of(arguments.measuring_parser(), cell=plan.CELLS[0])
    cell = judge.Cell(words)
    model = os.path.abspath("wide.gguf")
    if not os.path.exists(model):
        generator = pathlib.Path(__file__).parent.parent / "random-model.py"
        subprocess.run([sys.executable, generator, "--varied", "on", words.model, model + ".new", *SHAPE], check=True)
        os.rename(model + ".new", model)
    rule = trained(cell, model)
    more = trained(cell, model, "--learning-rate", f"{TIMES * rule['rate']:g}")
    os.remove(model)
    results.update(pathlib.Path(words.results, "wide.json"), lambda found: found.update(
        machine=arguments.measured_on(words), batch=BATCH, shape=" ".join(SHAPE),
        runs={"Skein": rule, f"{TIMES} times its rate": more}))


main()

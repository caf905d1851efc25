"""What is computed once instead of again: bench-features.py SKEIN MODEL PAIRS ROWS. A table, and the bars of docs/SWEEPS.md."""

import json
import os
import re
import subprocess
import sys
import tempfile
import time

SKEIN, MODEL, PAIRS = sys.argv[1:4]
ROWS = int(sys.argv[4])
NAMED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib", "named.json")
LAYERS, EPOCHS = 8, 3
RECIPES = [
    {"name": "r8", "rank": 8},
    {"name": "r16", "rank": 16, "alpha": 32},
    {"name": "hot", "learning-rate": 5e-4},
    {"name": "seed", "seed": 1},
]
HASH = re.compile(r"^sha256: ([0-9a-f]{64})$", re.M)


def train(output, data, *more):
    began = time.monotonic()
    words = [SKEIN, "train", "--config", NAMED, "--model", MODEL, "--data", data, "--output", output,
             "--validation-split", "0.05", *more]
    process = subprocess.run(words, capture_output=True, text=True)
    if process.returncode != 0:
        sys.exit(process.stderr[-4000:])
    return time.monotonic() - began, process.stdout


def speeds(output):
    """Tokens a second of each epoch: all tokens over the seconds of all steps."""
    tokens, seconds = [0] * EPOCHS, [0.0] * EPOCHS
    with open(output + "/metrics.jsonl") as file:
        for line in map(json.loads, file):
            if "tokens_per_second" in line:
                tokens[line["epoch"] - 1] += line["tokens"]
                seconds[line["epoch"] - 1] += line["seconds"]
    return [t / s for t, s in zip(tokens, seconds)]


def operations(output):
    """The ratio of the multiplications with and without the frozen blocks, those of weights alone."""
    model = json.loads(subprocess.run([SKEIN, "inspect", MODEL, "--json"], check=True, capture_output=True).stdout)
    width, heads = model["width"], model["head_dimension"]
    block = 2 * width * heads * (model["heads"] + model["key_value_heads"]) + 3 * width * model["feed_forward_width"]
    tokens = lossy = 0
    with open(output + "/metrics.jsonl") as file:
        for line in map(json.loads, file):
            if "tokens_per_second" in line:
                tokens, lossy = tokens + line["tokens"], lossy + line["loss_tokens"]
    head = 2 * width * model["vocabulary"] * lossy / tokens
    upper = 2 * LAYERS * block + head
    return ((model["layers"] - LAYERS) * block + upper) / upper


def main(directory):
    data = directory + "/rows.jsonl"
    with open(PAIRS) as source, open(data, "w") as file:
        file.writelines(list(source)[:ROWS])
    layers = ["--layers", str(LAYERS)]
    epochs = ["--epochs", str(EPOCHS)]
    failed = False

    def check(what, is_right):
        nonlocal failed
        failed = failed or not is_right
        print(("ok    " if is_right else "FAILED") + "  " + what, flush=True)

    _, plain = train(directory + "/plain", data, *layers, *epochs)
    _, kept = train(
        directory + "/kept", data, *layers, *epochs, "--reuse-features", "on", "--feature-dir", directory + "/features"
    )
    size = sum(file.stat().st_size for file in os.scandir(directory + "/features"))
    for name in ("plain", "kept"):
        print(f"{name}: tokens/s of each epoch: " + ", ".join(f"{speed:.0f}" for speed in speeds(directory + "/" + name)))
    first, second, third = speeds(directory + "/kept")
    print(f"features: {size / 1e6:.0f} MB; operations {operations(directory + '/plain'):.2f} : 1")
    check("one hash with and without --reuse-features: " + HASH.search(plain)[1][:8], HASH.search(plain)[1] == HASH.search(kept)[1])
    check(f"second epoch {second / first:.2f} times the first's tokens/s, third {third / first:.2f}; at least 1.6", second / first >= 1.6)

    sweep = directory + "/sweep.jsonl"
    with open(sweep, "w") as file:
        file.writelines(json.dumps(recipe) + "\n" for recipe in RECIPES)
    for what, more, bar in (("--layers 8", layers, 1.3), ("all layers", [], 1.0)):
        place = directory + "/" + what.replace(" ", "")
        alone, hashes = 0.0, []
        for recipe in RECIPES:
            words = [word for key, value in recipe.items() if key != "name" for word in ("--" + key, str(value))]
            seconds, text = train(place + "-" + recipe["name"], data, "--epochs", "1", *more, *words)
            alone += seconds
            hashes.append(HASH.search(text)[1])
        together, _ = train(place, data, "--epochs", "1", *more, "--sweep", sweep)
        with open(place + "/sweep.json") as file:
            found = [run["sha256"] for run in json.load(file)["runs"]]
        check(f"{what}: the hashes of a sweep of {len(RECIPES)} are those of {len(RECIPES)} runs", found == hashes)
        check(f"{what}: {alone:.1f} s alone, {together:.1f} s together: {alone / together:.2f} times; at least {bar}", alone / together >= bar)
    return failed


with tempfile.TemporaryDirectory(prefix="skein-features.") as temporary:
    sys.exit(main(temporary))

"""Runs lm_eval against each model of a server, and shows them side by side.

evaluate.py (--server URL | --serve SKEIN MODEL [NAME=ADAPTER...]) --pairs FILE [--models base,jargon] [--tasks jargon,jargon_text] [--limit N] [--output DIR]
"""
import argparse, contextlib, glob, json, os, random, shutil, signal, subprocess, sys, tempfile, urllib.request

from served import Server

HERE = os.path.dirname(os.path.abspath(__file__))
TASKS = ["jargon", "jargon_text"]
# Completions of at most as many characters: four for each row are scored as a whole.
LONGEST = 120
# For a server with --api-key-file.
KEY = os.environ.get("OPENAI_API_KEY")


def ask(url, body=None):
    """The JSON at an address; with a body it is posted."""
    headers = {"Content-Type": "application/json", **({"Authorization": "Bearer " + KEY} if KEY else {})}
    request = urllib.request.Request(url, None if body is None else json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=60) as response:
        return json.load(response)


def rendered(server, prompt):
    """The text that the model reads for a question, by the server's own template and tokenizer."""
    ids = ask(server + "/tokenize", {"messages": [{"role": "user", "content": prompt}]})["tokens"]
    text = ask(server + "/detokenize", {"tokens": ids})["prompt"]
    assert ask(server + "/tokenize", {"prompt": text, "add_special_tokens": False})["tokens"] == ids, text
    return text


def make_rows(server, pairs, directory, count):
    """The last pairs of the file that are short: training on its beginning has not seen them."""
    with open(pairs) as file:
        rows = [json.loads(line) for line in file]
    short = [row for row in rows if len(row["completion"]) <= LONGEST]
    # Wrong texts, too, are of rows that training has not seen.
    unseen = short[-max(count, 20):]
    chance = random.Random(0)
    with open(os.path.join(directory, "jargon.jsonl"), "w") as choices, open(os.path.join(directory, "jargon_text.jsonl"), "w") as texts:
        for place, row in enumerate(short[-count:]):
            others = chance.sample([r["completion"] for r in unseen if r["completion"] != row["completion"]], 3)
            label = chance.randrange(4)
            row = {"prompt": row["prompt"], "completion": row["completion"], "context": rendered(server, row["prompt"]),
                   "choices": others[:label] + [row["completion"]] + others[label:], "label": label}
            choices.write(json.dumps(row) + "\n")
            # Generating takes longer than scoring.
            if place % 4 == 0:
                texts.write(json.dumps(row) + "\n")


def evaluate(server, model, tasks, directory, limit):
    """The results that lm_eval writes, by task."""
    output = os.path.join(directory, "results", model)
    arguments = [f"model={model}", f"base_url={server}/v1/completions", "tokenizer_backend=remote", "num_concurrent=8",
                 "max_length=4096"] + ([f"auth_token={KEY}"] if KEY else [])
    words = [sys.executable, "-W", "ignore", os.path.join(HERE, "lm_eval_remote.py"), "--model", "local-completions",
             "--model_args", ",".join(arguments), "--tasks", ",".join(tasks), "--include_path", HERE, "--limit",
             str(limit), "--output_path", output, "--log_samples"]
    # Nothing is asked of the hub. The data sets' cache would outlive them.
    environment = dict(os.environ, HF_HUB_OFFLINE="1", HF_DATASETS_OFFLINE="1", HF_HOME=os.path.join(directory, "hf"),
                       OPENAI_API_KEY=KEY or "none")
    done = subprocess.run(words, cwd=directory, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError("lm_eval failed: " + done.stderr[-3000:])
    (path,) = glob.glob(output + "/**/results_*.json", recursive=True)
    with open(path) as file:
        return json.load(file)


def table(results):
    """Task, metric, and a column for each model."""
    models = list(results)
    lines = [["task", "metric", "items", *models]]
    first = results[models[0]]
    for task, found in first["results"].items():
        for key in found:
            metric, _, kind = key.partition(",")
            if not kind or metric.endswith("_stderr"):
                continue
            cells = []
            for model in models:
                values = results[model]["results"][task]
                error = values.get(f"{metric}_stderr,{kind}")
                cells.append(f"{values[key]:.3f}" + (f" ± {error:.3f}" if isinstance(error, float) else ""))
            lines.append([task, metric, str(first["n-samples"][task]["effective"]), *cells])
    widths = [max(map(len, column)) for column in zip(*lines)]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() for line in lines)


def likelihood(server, program, model, context, choice, path):
    """The log-probability of a text after another one. As lm_eval has it, white space between them belongs to the second."""
    import numpy

    begin = len(server.post("/tokenize", {"prompt": context.rstrip(), "add_special_tokens": False})["tokens"])
    ids = server.post("/tokenize", {"prompt": context + choice, "add_special_tokens": False})["tokens"]
    logits = program.logits(model, context + choice, path).astype("float64")
    assert len(logits) == len(ids), (len(logits), len(ids))
    total = 0.0
    for place in range(begin, len(ids)):
        row = logits[place - 1]
        total += row[ids[place]] - row.max() - numpy.log(numpy.exp(row - row.max()).sum())
    return total


def check(checks, server, program, pairs, directory, limit=100):
    """Called by check-clients: forms, and log-likelihoods that are those of `skein generate --logits`."""
    with checks(f"lm_eval: {limit} items, base and adapter"):
        make_rows(server.url, pairs, directory, limit)
        results = {model: evaluate(server.url, model, TASKS, directory, limit) for model in ("base", "jargon")}
        print(table(results))
        for found in results.values():
            assert found["n-samples"]["jargon"]["effective"] == limit, found["n-samples"]
            # What is right is for the next checks; how clever so small a model is, for nobody's.
            assert 0 < found["results"]["jargon"]["acc,none"] < 1, found["results"]
            assert 0 < found["results"]["jargon_text"]["chrf,none"] < 100, found["results"]
    for model in results:
        with checks(f"lm_eval: {model}: log-likelihoods are those of skein generate --logits"):
            (path,) = glob.glob(f"{directory}/results/{model}/**/samples_jargon_2*.jsonl", recursive=True)
            with open(path) as file:
                samples = [json.loads(file.readline()) for _ in range(3)]
            for sample in samples:
                row = sample["doc"]
                place = row["label"]
                expected = likelihood(server, program, model, row["context"], row["choices"][place], os.path.join(directory, "logits"))
                reported = float(sample["resps"][place][0][0])
                assert abs(reported - expected) < 1e-3, f"{row['choices'][place]!r}: {reported}, expected {expected}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    place = parser.add_mutually_exclusive_group(required=True)
    place.add_argument("--server", help="where skein serve listens")
    place.add_argument("--serve", nargs="+", metavar="WORD", help="skein, a model and NAME=ADAPTERs, to be served meanwhile")
    parser.add_argument("--pairs", required=True, help="prompt/completion pairs, from whose end rows are made")
    parser.add_argument("--models", help="names, separated by commas (default: all that the server has)")
    parser.add_argument("--tasks", default=",".join(TASKS))
    parser.add_argument("--limit", type=int, default=100)
    parser.add_argument("--output", help="directory for lm_eval's results and samples (default: they are removed)")
    given = parser.parse_args()
    # So that the server ends, too.
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    with contextlib.ExitStack() as stack:
        temporary = stack.enter_context(tempfile.TemporaryDirectory(prefix="skein-lm-eval."))
        if given.serve:
            skein, model, *adapters = given.serve
            words = [word for adapter in adapters for word in ("--adapter", adapter)]
            given.server = stack.enter_context(Server(skein, model, *words, "--no-request-log")).url
        url = given.server.rstrip("/")
        names = given.models.split(",") if given.models else [model["id"] for model in ask(url + "/v1/models")["data"]]
        make_rows(url, given.pairs, temporary, given.limit)
        found = {}
        for name in names:
            print(f"evaluating {name}", file=sys.stderr)
            found[name] = evaluate(url, name, given.tasks.split(","), temporary, given.limit)
        if given.output:
            shutil.copytree(os.path.join(temporary, "results"), given.output, dirs_exist_ok=True)
        print(table(found))

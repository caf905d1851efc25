"""A cell's rows, and what an adapter is worth on those that are held out: its loss, and the share of questions it answers."""

import argparse
import concurrent.futures
import datetime
import json
import os
import pathlib
import re
import subprocess
import sys
import urllib.request

import plan
import rows

SERVED = re.compile(r"http://127\.0\.0\.1:\d+")


def say(text):
    print(text, file=sys.stderr, flush=True)


def identifier(name):
    """The name of a run as it stands in folders and requests."""
    return re.sub(r"[^a-z0-9.]+", "-", name.lower()).strip("-")


class Cell:
    """A cell in its own work folder, which becomes the current directory. `arguments` are those of `arguments_of`."""

    def __init__(self, arguments):
        self.arguments, self.name = arguments, arguments.cell
        self.model, count, self.kind = self.name.split("-")
        self.work = pathlib.Path(arguments.work, self.name)
        self.file = pathlib.Path(arguments.results, self.name + ".json")
        self.work.mkdir(parents=True, exist_ok=True)
        os.chdir(self.work)
        if not os.path.exists("asked.jsonl"):
            rows.main(self.kind, int(count), 0, arguments.pairs)
        with open("asked.jsonl", encoding="utf-8") as file:
            self.asked = [json.loads(line) for line in file]
        self.chat = ["--chat-template", "gemma"] if self.model == "gemma" else []

    def accuracies(self, adapters):
        """The share of held-out questions that each adapter answers; of tokens where the kind has none, or of pairs."""
        if not self.asked:
            return {name: round(self.evaluation(path)["token_accuracy"], 4) for name, path in adapters.items()}
        words = [f"{identifier(name)}={path}" for name, path in adapters.items() if path]
        server = subprocess.Popen(
            [self.arguments.skein, "serve", "--model", self.arguments.model, "--name", "base", "--listen", "127.0.0.1:0",
             "--threads", str(self.arguments.threads), *self.chat, *(part for word in words for part in ("--adapter", word))],
            stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        try:
            address = None
            while address is None:
                line = server.stderr.readline()
                if not line:
                    raise SystemExit(f"{self.name}: the server ended with {server.wait()}")
                address = SERVED.search(line)
            with concurrent.futures.ThreadPoolExecutor(8) as pool:
                return {name: sum(pool.map(lambda row: ask(address[0], identifier(name), row), self.asked)) / len(self.asked)
                        for name in adapters}
        finally:
            server.terminate()
            server.communicate()

    def evaluation(self, path, file="valid.jsonl"):
        """What `skein evaluate` says of an adapter, or of the base, on held-out rows: loss, token_accuracy and more."""
        pairs = ["--loss", self.kind] if self.kind in rows.PAIR_KINDS and file == "valid.jsonl" else []
        words = [self.arguments.skein, "evaluate", "--model", self.arguments.model, "--data", file, "--max-length",
                 str(plan.MAX_LENGTH), "--threads", str(self.arguments.threads), "--json", *self.chat, *pairs]
        found = json.loads(subprocess.run(words + (["--adapter", path] if path else []), check=True, capture_output=True).stdout)
        return found["adapter" if path else "base"]


def ask(address, model, row):
    body = {"model": model, "messages": row["messages"], "temperature": 0, "max_tokens": 32}
    request = urllib.request.Request(
        address + "/v1/chat/completions", json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=600) as reply:
        text = json.load(reply)["choices"][0]["message"]["content"]
    return bool(re.search(rf"(?<!\w){re.escape(row['wanted'])}(?!\w)", text or ""))


def measuring_parser():
    """The parser of a script that measures on this machine: it is told the machine's name, too, and how to compute."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--machine", required=True)
    parser.add_argument("--compute", default="fp32")
    return parser


def measured_on(arguments):
    """The machine, the day and the compute, as results name them."""
    return f"{arguments.machine}, {datetime.date.today()}, {arguments.compute}"


def arguments_of(parser, cell=None):
    """Adds what every script about a cell is told, and reads it. Paths become absolute: the cell changes the directory.
    A script about one cell alone names it."""
    paths = ("skein", "model", "pairs", "work", "results")
    if cell:
        parser.set_defaults(cell=cell)
    else:
        parser.add_argument("cell", choices=[*plan.CELLS, plan.HANDBOOK, *plan.PAIRS])
    for name in paths:
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    arguments = parser.parse_args()
    for name in paths:
        setattr(arguments, name, os.path.abspath(getattr(arguments, name)))
    return arguments

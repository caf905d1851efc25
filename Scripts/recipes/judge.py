"""A cell's rows, the runs that train on them, and what an adapter is worth on those that are held out: its loss, and the share
of questions it answers."""

import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys

import plan
import rows

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "clients"))
from served import Server  # noqa: E402


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
        # Made each time, so that they are those of today's rows.py; the bytes are the same as long as it is.
        rows.main(self.kind, int(count), 0, arguments.pairs)
        with open("asked.jsonl", encoding="utf-8") as file:
            self.asked = [json.loads(line) for line in file]
        self.chat = ["--chat-template", "gemma"] if self.model == "gemma" else []

    def folder(self, kind, *parts):
        """A folder that only runs of these parts, of this program, model and rows share, so that what is found there may go on."""
        digest = hashlib.sha256(json.dumps(parts).encode())
        for path in (self.arguments.skein, self.arguments.model, "train.jsonl", "valid.jsonl"):
            with open(path, "rb") as file:
                digest.update(hashlib.file_digest(file, "sha256").digest())
        return f"{kind}-{digest.hexdigest()[:16]}"

    def train(self, folder, *words, model=None):
        """Trains on the cell's rows, or goes on where a run in this folder was stopped."""
        log = folder + ".log"
        resumed = ["--resume"] if os.path.isdir(folder) else []
        with open(log, "a", encoding="utf-8") as file:
            status = subprocess.run(
                [self.arguments.skein, "train", "--model", model or self.arguments.model, "--data", "train.jsonl", "--output", folder,
                 "--max-length", str(plan.MAX_LENGTH), "--compute", self.arguments.compute, "--threads",
                 str(self.arguments.threads), *self.chat, *words, *resumed],
                stdout=subprocess.DEVNULL, stderr=file).returncode
        if status:
            raise SystemExit(f"{self.name}: skein train ended with {status}; see {os.path.abspath(log)}")

    def accuracies(self, adapters):
        """The share of held-out questions that each adapter answers; of tokens where the kind has none, or of pairs."""
        if not self.asked:
            return {name: round(self.evaluation(path)["token_accuracy"], 4) for name, path in adapters.items()}
        words = [f"{identifier(name)}={path}" for name, path in adapters.items() if path]
        words = [part for word in words for part in ("--adapter", word)]
        with Server(self.arguments.skein, self.arguments.model, "--threads", str(self.arguments.threads), *self.chat, *words) \
                as server, concurrent.futures.ThreadPoolExecutor(8) as pool:
            return {name: sum(pool.map(lambda row: is_right(server, identifier(name), row), self.asked)) / len(self.asked)
                    for name in adapters}

    def evaluation(self, path, file="valid.jsonl"):
        """What `skein evaluate` says of an adapter, or of the base, on held-out rows: loss, token_accuracy and more."""
        pairs = ["--loss", self.kind] if self.kind in rows.PAIR_KINDS and file == "valid.jsonl" else []
        words = [self.arguments.skein, "evaluate", "--model", self.arguments.model, "--data", file, "--max-length",
                 str(plan.MAX_LENGTH), "--threads", str(self.arguments.threads), "--json", *self.chat, *pairs]
        found = json.loads(subprocess.run(words + (["--adapter", path] if path else []), check=True, capture_output=True).stdout)
        return found["adapter" if path else "base"]


def is_right(server, model, row):
    body = {"model": model, "messages": row["messages"], "temperature": 0, "max_tokens": 32}
    text = server.post("/v1/chat/completions", body)["choices"][0]["message"]["content"]
    return bool(re.search(rf"(?<!\w){re.escape(row['wanted'])}(?!\w)", text or ""))


def metrics(folder):
    """The lines of a run's metrics.jsonl: those of steps, and those of validations."""
    with open(f"{folder}/metrics.jsonl", encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    return [line for line in lines if "tokens_per_second" in line], [line for line in lines if "validation_loss" in line]

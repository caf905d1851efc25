"""What Scripts/check-syscalls demands: of the files that a killed program leaves, and of a run that was continued."""

import hashlib
import json
import os
import re
import subprocess

# Fields of metrics.jsonl that depend on a clock, or on who was there and said how much.
CLOCK = ("seconds", "tokens_per_second", "coordinator_cpu_seconds", "received_bytes", "sent_bytes", "payload_bytes", "workers")
# What a program writes under these names is not yet a file for others.
UNFINISHED = re.compile(r"\.tmp-|/\.skein/|\.part$|\.incomplete$|/\.writing-|/\.lock$")
GROWING = ("run/metrics.jsonl", "run/ledger.jsonl")
# The bytes of these depend on times, on the order of threads or on how often a run was begun.
UNSTEADY = re.compile(r"^features/|^run/(term|run\.json|metrics\.jsonl|ledger\.jsonl|references/.*)$|/rates/")

REPEATABLE = re.compile(r"^(cache|worker|features|run/references)/")


def tree(directory):
    """The bytes of each file below a directory, by its path in it; folders that are empty, with None."""
    found = {}
    for folder, names, files in os.walk(directory):
        inside = os.path.relpath(folder, directory)
        for name in files:
            path = os.path.normpath(os.path.join(inside, name))
            if os.path.islink(os.path.join(folder, name)):
                found[path] = b"-> " + os.readlink(os.path.join(folder, name)).encode()
                continue
            try:
                with open(os.path.join(folder, name), "rb") as file:
                    found[path] = file.read()
            except FileNotFoundError:
                # A worker that lives on has just renamed it.
                pass
        if not names and not files and inside != ".":
            found[inside + "/"] = None
    return found


def metrics(data):
    lines = []
    for line in data.splitlines():
        fields = json.loads(line)
        lines.append({name: value for name, value in fields.items() if name not in CLOCK})
    return lines


def ledger(data, is_train):
    """Lines without what depends on the order in which results come; in a cluster that of lines, too."""
    lines = [json.loads(line) for line in data.splitlines()]
    if is_train:
        return lines
    lines = [{name: value for name, value in line.items() if name not in ("worker", "attempt")} for line in lines]
    return sorted(lines, key=lambda line: json.dumps(line, sort_keys=True))


def digest(data):
    return hashlib.sha256(data).hexdigest()


class Quiet:
    """What a program leaves when it is not disturbed: names, bytes, and all files that it ever showed (with every
    checkpoint kept)."""

    def __init__(self, program, files, kept):
        self.program, self.files = program, files
        self.adapter = digest(files["run/adapter/adapter_model.safetensors"])
        self.shown = {}
        for name, data in {**kept, **files}.items():
            if data is not None and not UNSTEADY.search(name):
                self.shown.setdefault(self.kind(name), set()).add(digest(data))
        self.metrics = metrics(files["run/metrics.jsonl"])
        self.ledger = ledger(files["run/ledger.jsonl"], program == "train")

    @staticmethod
    def kind(name):
        """The adapter is a copy of a checkpoint's: which one, depends on the moment."""
        return os.path.basename(name) if name.startswith("run/adapter/") else name

    def half_visible(self, directory):
        """What is wrong with the files that a program has just left."""
        for name, data in tree(directory).items():
            path = "/" + name
            if data is None or UNFINISHED.search(path):
                continue
            if name in GROWING:
                whole = data[:data.rfind(b"\n") + 1]
                try:
                    lines = [json.loads(line) for line in whole.splitlines()]
                except ValueError:
                    yield f"{name} has a line that is no JSON"
                    continue
                if name.endswith("metrics.jsonl") and metrics(whole) != self.metrics[:len(lines)]:
                    yield f"{name} does not begin like that of the quiet run"
            elif name == "run/run.json":
                try:
                    json.loads(data)
                except ValueError:
                    yield f"{name} is no JSON"
            elif name.endswith("README.md"):
                # It names the step, and so is another one for each.
                if data[-40:] != self.files["run/adapter/README.md"][-40:]:
                    yield f"{name} does not end like that of the quiet run"
            elif not UNSTEADY.search(name):
                known = self.shown.get(self.kind(name), set())
                if name.startswith("run/adapter/"):
                    known = set().union(*(found for shown, found in self.shown.items() if shown.endswith(self.kind(name))))
                if digest(data) not in known:
                    yield f"{name} has {len(data)} bytes that the quiet run never showed"

    def differences(self, directory, skein, went_on):
        """What is wrong with a run that is complete. One that went on in spite of an error may lack what the next run makes
        again: that is what a cache is for."""
        found = tree(directory)
        adapter = found.get("run/adapter/adapter_model.safetensors")
        if adapter is None or digest(adapter) != self.adapter:
            yield "another adapter" if adapter else "no adapter"
        for name in sorted(self.files.keys() ^ found.keys()):
            if went_on and REPEATABLE.search(name) and (name in self.files or name.endswith("/")):
                continue
            yield f"{name} is {'missing' if name in self.files else 'left over'}"
        for name in sorted(self.files.keys() & found.keys()):
            if not UNSTEADY.search(name) and self.files[name] != found[name]:
                yield f"{name} differs"
        yield from self.records(found)
        checked = subprocess.run(
            [skein, "inspect", "--verify-ledger", os.path.join(directory, "run")], capture_output=True, text=True, check=False)
        if checked.returncode:
            yield "inspect --verify-ledger: " + checked.stderr.strip()[-300:]

    def records(self, found):
        for name, expected, read in [
            ("run/metrics.jsonl", self.metrics, metrics),
            ("run/ledger.jsonl", self.ledger, lambda data: ledger(data, self.program == "train")),
        ]:
            try:
                if read(found.get(name, b"")) != expected:
                    yield f"{name} differs"
            except ValueError:
                yield f"{name} has a line that is no JSON"


class Still:
    """The same for a program that has no run: each file is that of the quiet one, as soon as it has its name."""

    def __init__(self, files):
        self.files = files

    def half_visible(self, directory):
        for name, data in tree(directory).items():
            if data is None or UNFINISHED.search("/" + name) or UNSTEADY.search(name):
                continue
            if self.files.get(name) != data:
                yield f"{name} has {len(data)} bytes that are not those of the quiet one"
            if data.startswith(b"-> ") and not os.path.exists(os.path.join(directory, name)):
                yield f"{name} leads nowhere"

    def differences(self, directory, skein, went_on):
        del skein
        found = tree(directory)
        for name in sorted(self.files.keys() | found.keys()):
            # Folders that Foundation makes for cookies, if it can.
            if name.startswith("cache/.local"):
                continue
            if name not in found:
                # export warns that it could not read the card.
                if not (went_on and name.endswith("README.md")):
                    yield f"{name} is missing"
            elif name not in self.files:
                yield f"{name} is left over"
            elif self.files[name] != found[name] and not UNSTEADY.search(name):
                yield f"{name} differs"

"""Every example of `skein X --help`, run in a fresh folder in which the files that it names are there.

An example is run as it stands, unless it is here: what is put behind it, what is written in place of an address that
this machine does not have, or why it is not run. A command without an example fails, and so does one whose example
names a file that is not in PREPARED: skein does not find it.
"""

import os
import secrets
import shlex
import shutil
import sys

import parquet
from processes import Failure, Program
from readme import ask

# Training to the end is the handbook's part; the kinds of step are all measured, each for shorter.
BEHIND = {
    "train": "--iterations 2", "coordinator": "--iterations 2", "launch": "--iterations 2",
    "serve": "--listen 127.0.0.1:0",
}
# Command: why its example is not run, and the word that what is parsed begins with.
LEFT_OUT = {"join": ("it needs Slurm", "skein")}
FIXTURES = "Tests/Fixtures"


class Helps:
    def __init__(self, walk):
        self.walk = walk
        _, self.model = walk.prepare()
        self.folder = walk.work / "help"
        self.folder.mkdir()
        examples = walk.clone / "docs/examples/first-adapter"
        self.prepared = {
            "model.gguf": self.model, "m.gguf": self.model, "SmolLM2-135M-Instruct.Q4_1.gguf": self.model,
            "pairs.jsonl": examples / "train.jsonl", "d.jsonl": examples / "train.jsonl",
            "valid.jsonl": examples / "valid.jsonl", "rows.parquet": self.folder / "rows.parquet",
            "token": self.folder / "token", "run": self.folder / "run", "other-run": self.folder / "run",
        }
        names = {"prompt": "question", "completion": "completion"}
        parquet.write(self.folder / "rows.parquet", examples / "train.jsonl", names)
        (self.folder / "token").write_text(secrets.token_hex(16) + "\n")
        (self.folder / "token").chmod(0o600)
        self.start(self.train(self.folder), self.folder).end()

    def start(self, line, cwd, env=None, shown=None):
        return Program(line, cwd, {**self.walk.env, **(env or {})}, shown)

    def train(self, folder):
        """A short run in a folder, which is called run."""
        return f"skein train --model '{self.model}' --data '{self.prepared['pairs.jsonl']}' --output run --iterations 2"

    def fresh(self, command, line):
        """A folder with what a line names and does not write."""
        folder = self.folder / command
        folder.mkdir()
        words = shlex.split(line)
        for before, word in zip(words, words[1:]):
            name = word.split("=")[-1].split("/")[0]
            if before == "--output" or name not in self.prepared or (folder / name).exists():
                continue
            if os.path.isdir(self.prepared[name]):
                # It may write into a run.
                shutil.copytree(self.prepared[name], folder / name)
            else:
                os.symlink(self.prepared[name], folder / name)
        return folder

    def example(self, command, line):
        if command in LEFT_OUT:
            reason, word = LEFT_OUT[command]
            parsed = line[line.index(word):] + " --print-config"
            self.start(parsed, self.fresh(command, line)).end()
            return self.walk.leave_out(f"{command}: {line}", f"{reason}; run instead: {parsed}")
        remark = getattr(self, "run_" + command, self.run)(command, line)
        self.walk.ok(f"{command}: {line}", remark)
        return None

    def run(self, command, line):
        behind = BEHIND.get(command)
        folder = self.fresh(command, line)
        printed = self.start(f"{line} {behind or ''}", folder, shown=line).end()
        if not printed:
            raise Failure("it prints nothing", line)
        words = shlex.split(line)
        if "--output" in words and not (folder / words[words.index("--output") + 1]).exists():
            raise Failure("it has not written its --output", line, printed)
        return f"given {behind} behind" if behind else ""

    def run_completions(self, command, line):
        self.start(f'eval "$({line})" && complete -p skein', self.fresh(command, line), shown=line).end()
        return "and bash took it"

    def run_serve(self, command, line):
        name = line.split("--adapter ")[1].split("=")[0]
        ask(self.start(f"exec {line} {BEHIND[command]}", self.fresh(command, line), shown=line), name)
        return f"given {BEHIND[command]} behind"

    def run_coordinator(self, command, line):
        """Together with the worker's example, which needs it."""
        worker = self.examples["worker"]
        address = "10.0.0.5"
        for text in (line, worker):
            if address not in text:
                raise Failure(f"it does not name {address}, in whose place the check writes its own address", text)
        coordinator = self.start(
            f"exec {line.replace(address, '127.0.0.1:0')} {BEHIND[command]}", self.fresh(command, line), shown=line)
        found = coordinator.event(r"listening on (127\.0\.0\.1:\d+)")[1]
        folder = self.fresh("worker", worker)
        # It fetches the model, as on a machine that has none.
        cache = {"SKEIN_CACHE": str(folder / "cache")}
        self.start(worker.replace(address + ":7534", found), folder, cache, worker).end()
        coordinator.end()
        return f"given {BEHIND[command]} behind, and 127.0.0.1 for {address}; with the worker's example"

    def run_worker(self, command, line):
        if not (self.folder / "worker").exists():
            raise Failure("it was not run: there was no coordinator for it", line)
        return "with the coordinator's example"

    def run_status(self, command, line):
        """Beside a run that is under way."""
        folder = self.folder / command
        folder.mkdir()
        training = self.start(self.train(folder), folder)
        training.event("^step 0 ")
        printed = self.start(line, folder).end()
        training.end()
        if not any("complete" in text for text in printed):
            raise Failure("it does not say how the run ended", line, printed)
        return "beside a run"

    def run_sync(self, command, line):
        server = self.fixture("mlflow/fake_mlflow.py")
        address = "http://127.0.0.1:5000"
        if address not in line:
            raise Failure(f"it does not name {address}, in whose place the check writes its own address", line)
        self.start(line.replace(address, f"http://127.0.0.1:{server}"), self.fresh(command, line), shown=line).end()
        return "to the tests' MLflow server"

    def run_pull(self, command, line):
        port = self.fixture("hub/fake_hub.py")
        name = shlex.split(line)[-1]
        cache = {"HF_ENDPOINT": f"http://127.0.0.1:{port}", "HF_HOME": str(self.folder / "hub"), "HF_HUB_OFFLINE": "0"}
        printed = self.start(line.replace(name, "o/ok"), self.fresh(command, line), cache, shown=line).end()
        if not os.path.isdir(printed[-1]):
            raise Failure("its last line is not the folder", line, printed)
        return f"from the tests' Hub, with o/ok for {name}"

    def fixture(self, name):
        """Starts a server of the tests. Returns its port."""
        folder = self.folder / os.path.basename(name)
        folder.mkdir()
        # It ends with its standard input, which is never written to and is open as long as this program.
        server = self.start(
            f"sleep infinity | exec '{sys.executable}' -u '{self.walk.clone}/{FIXTURES}/{name}' '{folder}'", folder)
        return server.event(r"^(\d+)")[1]

    def read_examples(self):
        """The example of each command that `skein --help` lists."""
        listed = section(self.start("skein --help", self.folder).end(), "commands")
        for command in (line.split()[0] for line in listed):
            printed = self.start(f"skein {command} --help", self.folder).end()
            found = section(printed, "example") + section(printed, "examples")
            every = self.start(f"skein {command} --help all", self.folder).end()
            if not found:
                self.walk.fail(command, Failure("its --help has no example", f"skein {command} --help", printed[-5:]))
            elif found != section(every, "example") + section(every, "examples"):
                self.walk.fail(command, Failure("--help all has another example", f"skein {command} --help all"))
            yield command, [line.strip() for line in found]


def section(lines, title):
    """The lines below a title, up to a blank one."""
    if title not in lines:
        return []
    below = lines[lines.index(title) + 1:]
    return below[:below.index("")] if "" in below else below


def walk(walk):
    helps = Helps(walk)
    examples = dict(helps.read_examples())
    if len(examples) < 10:
        raise Failure(f"skein --help lists {len(examples)} commands alone", "skein --help")
    helps.examples = {command: lines[0] for command, lines in examples.items() if lines}
    for command, lines in examples.items():
        for line in lines:
            try:
                helps.example(command, line)
            except Failure as failure:
                walk.fail(f"skein {command} --help: {line}", failure)
    for command in [*BEHIND, *LEFT_OUT]:
        if command not in examples:
            walk.fail(command, Failure("there is no such command", fix="take it out of Scripts/newcomer/helps.py"))

"""The programs that Scripts/check-syscalls kills: what each one is given, and how a point is run to its end: a program under
`inject`, hit once, and then the same command again, unhit, until the run is complete.
"""

import json
import os
import signal
import socket
import subprocess
import threading
import time

# Longer than any run takes on a busy machine; a program that needs more hangs.
DEADLINE = 120
# So long a coordinator may take to listen without saying it; its worker would wait for it, too.
PATIENCE = 5
STEPS = 12
# What programs have of our environment; by the last one the nightly finds what a check has left.
KEPT = ["PATH", "LD_LIBRARY_PATH", "LANG", "SKEIN_NIGHTLY"]

TRAINING = [
    "--loss", "dpo", "--iterations", str(STEPS), "--batch-size", "2", "--rank", "2", "--alpha", "4", "--layers", "1",
    "--max-length", "48", "--micro-batch-tokens", "64", "--learning-rate", "1e-3", "--seed", "3",
    "--checkpoint-every", "4", "--validate-every", "6", "--sample-prompt", "What is 3?",
]


class Ending:
    """How a program ended: its status (negative for a signal, as subprocess has it) and its last words."""

    def __init__(self, status, errors, report=None):
        self.status, self.errors, self.report = status, errors, report

    @property
    def complaint(self):
        """The lines that say what was wrong."""
        return [line for line in self.errors.splitlines() if line.startswith("error:")]


class Process:
    """A started program whose standard error goes to a file, so that no pipe is ever full."""

    # All that have been started and not been waited for. Each has a session of its own, which no Ctrl-C reaches.
    living = set()
    # Held while one is started, and while it is said that the check is over: none is started behind that.
    starting = threading.Lock()
    is_over = False

    def __init__(self, words, log, environment, report=None):
        self.log, self.report = log, report
        self.began = time.monotonic()
        with Process.starting:
            if Process.is_over:
                raise InterruptedError("the check is being left")
            with open(log, "wb") as errors:
                self.process = subprocess.Popen(
                    words, stdin=subprocess.DEVNULL, stdout=errors, stderr=errors, env=environment, start_new_session=True)
            Process.living.add(self)

    @property
    def runs(self):
        return self.process.poll() is None

    def errors(self):
        with open(self.log, encoding="utf-8", errors="replace") as file:
            return file.read()

    def listens(self):
        """Waits until the log says so; false if the program has ended. The line may be the one that could not be written."""
        while "listening on" not in self.errors() and time.monotonic() < self.began + PATIENCE:
            if not self.runs:
                return False
            time.sleep(0.005)
        return self.runs

    def stop(self):
        if self.runs:
            try:
                os.killpg(self.process.pid, signal.SIGKILL)
            except ProcessLookupError:
                # It has just ended, and another thread waits for it.
                pass
        self.process.wait()
        Process.living.discard(self)

    @classmethod
    def stop_all(cls):
        for process in list(cls.living):
            process.stop()

    def ending(self):
        try:
            # inject ends what hangs by itself, a little sooner.
            self.process.wait(max(0.1, self.began + DEADLINE + 20 - time.monotonic()))
        except subprocess.TimeoutExpired:
            self.stop()
            return Ending(124, self.errors())
        Process.living.discard(self)
        return Ending(self.process.returncode, self.errors(), self.read_report())

    def read_report(self):
        if not self.report:
            return None
        with open(self.report, encoding="utf-8", errors="replace") as file:
            return json.load(file)


class Bench:
    """What is the same for all points: programs, model and rows."""

    def __init__(self, skein, inject, directory):
        self.skein, self.inject, self.directory = skein, inject, directory
        self.model, self.data = os.path.join(directory, "tiny.gguf"), os.path.join(directory, "rows.jsonl")


class Place:
    """One point's directory, with all caches in it, and the programs that run there."""

    def __init__(self, bench, name, keep=2):
        self.bench, self.keep = bench, keep
        self.directory = os.path.join(bench.directory, name)
        os.mkdir(self.directory)
        self.started, self.port, self.count = [], None, 0

    def path(self, *names):
        return os.path.join(self.directory, *names)

    def environment(self, cache):
        home = self.path(cache)
        os.makedirs(home, exist_ok=True)
        kept = {name: value for name, value in os.environ.items() if name in KEPT}
        return kept | {"HOME": home, "XDG_CACHE_HOME": home, "TMPDIR": home, "OPENBLAS_NUM_THREADS": "1"}

    def start(self, name, words, cache="cache", hit=None, more=None):
        """Starts skein; hit is what inject does to it, more what its environment has besides."""
        self.count += 1
        report, words = None, [self.bench.skein, *words]
        log = self.bench.directory + "/" + os.path.basename(self.directory) + f".{self.count}-{name}.log"
        if hit:
            report = log + ".report"
            words = [self.bench.inject, "--report", report, "--seconds", str(DEADLINE), *hit.words(self), "--", *words]
        process = Process(words, log, self.environment(cache) | (more or {}), report)
        self.started.append(process)
        return process

    def end(self):
        """Stops what still runs, and removes its logs."""
        for process in self.started:
            process.stop()
            for path in (process.log, process.report):
                if path and os.path.exists(path):
                    os.remove(path)

    def training(self):
        return ["--model", self.bench.model, "--data", self.bench.data, "--output", self.path("run"), *TRAINING,
                "--keep-checkpoints", str(self.keep)]

    def features(self):
        return ["--reuse-features", "on", "--feature-dir", self.path("features")]


class Hit:
    """What is done at which call: kind files or sockets, do kill, half or an error; at None counts."""

    def __init__(self, kind="files", do="kill", at=None):
        self.kind, self.do, self.at = kind, do, at

    def words(self, place):
        words = ["--calls", self.kind, "--do", self.do]
        if self.kind == "files":
            # Behind what the loader opens: the model is the first file of the run.
            words += ["--under", place.bench.directory]
        return words + (["--at", str(self.at)] if self.at else [])


def train(place, hit, seen):
    def start(hit, *more):
        words = ["train", *place.training(), *place.features(), "--threads", "2", *more]
        return place.start("train", words, hit=hit).ending()

    first = start(hit)
    seen(first)
    # An error may be survived; then the run is what is judged.
    return first, None if first.status == 0 else start(None, "--resume")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def start_coordinator(place, hit, *more):
    place.port = place.port or free_port()
    words = ["coordinator", "--listen", f"127.0.0.1:{place.port}", *place.training(), *more]
    return place.start("coordinator", words, hit=hit)


def start_worker(place, hit=None):
    words = ["worker", "--coordinator", f"127.0.0.1:{place.port}", "--name", "w", "--threads", "2", "--patience", "5s",
             *place.features()]
    return place.start("worker", words, cache="worker", hit=hit)


def coordinator(place, hit, seen):
    """The worker lives on, unless it ends with its coordinator."""
    process, worker = start_coordinator(place, hit), None
    if process.listens():
        worker = start_worker(place)
    first = process.ending()
    seen(first)
    if first.status == 0:
        return first, left(worker)
    again = start_coordinator(place, None, "--resume")
    if again.listens() and (worker is None or not worker.runs):
        worker = start_worker(place)
    while again.runs and time.monotonic() < again.began + DEADLINE:
        # One that has left with 0 says that the run is complete; any other is started again, as a person would.
        if worker.process.poll():
            worker = start_worker(place)
        time.sleep(0.005)
    second = again.ending()
    return first, second if second.status else left(worker)


def left(worker):
    """How a worker has left. A coordinator whose run was complete may be gone before the worker comes back to it."""
    ending = worker.ending()
    if ending.status == 69 and "no coordinator has welcomed" in ending.errors:
        ending.status = 0
    return ending


def worker(place, hit, seen):
    """The coordinator lives on; the worker comes back as a person would start it again."""
    process = start_coordinator(place, None)
    process.listens()
    first = start_worker(place, hit).ending()
    seen(first)
    again = start_worker(place) if first.status else None
    last = process.ending()
    return first, left(again) if again and last.status == 0 else last


PROGRAMS = {"train": train, "coordinator": coordinator, "worker": worker}

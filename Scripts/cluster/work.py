"""What the tests of Cluster/ share: a small run, its hash in one process, and waiting for events."""

import hashlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Words for a command line: processes that may not read this clone take them, too.
NAMED = [
    word for name, value in json.loads((ROOT / "Scripts/lib/named.json").read_text()).items()
    for word in ("--" + name, str(value))]
# An event that has not come after this many seconds never will, however busy the machine is.
PATIENCE = 180


def say(text):
    print(f"== {text}", flush=True)


class Failed(Exception):
    pass


class Over(Failed):
    """A run was over before what was to happen in its middle."""


def in_the_middle(body):
    """Calls `body`, which does something in the middle of a run. A machine that stands still for seconds may be too late
    for that; then it is called again, with another end for its names."""
    for end in ("", "-again", "-once-more"):
        try:
            return body(end)
        except Over as over:
            say(str(over))
    raise Failed("no run was long enough for what was to happen in its middle")


def end_on_signals():
    """From now on Ctrl-C and SIGTERM end this process by way of all that cleans up, also if it was started with Ctrl-C
    ignored. Later ones do not disturb the cleaning; programs that are started meanwhile hear them as usual."""
    numbers = (signal.SIGINT, signal.SIGTERM)

    def end(number, _):
        for each in numbers:
            signal.signal(each, lambda *_: None)
        sys.exit(128 + number)

    for each in numbers:
        signal.signal(each, end)


def wait_for(what, is_done, seconds=PATIENCE):
    """Waits for an event; returns what `is_done` returned."""
    deadline = time.monotonic() + seconds
    while True:
        found = is_done()
        if found:
            return found
        if time.monotonic() > deadline:
            raise Failed(f"waited {seconds} s for {what}")
        time.sleep(0.05)


def last_line(*words):
    """What a program prints last: of a script, a path."""
    return subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()[-1]


def steps_in(run):
    """How many steps of a run are done, by its folder."""
    try:
        with open(os.path.join(run, "metrics.jsonl")) as file:
            return sum('"loss_tokens"' in line for line in file)
    except FileNotFoundError:
        return 0


def hash_in(run):
    """The SHA-256 of the adapter in the folder of a run."""
    with open(os.path.join(run, "adapter/adapter_model.safetensors"), "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


class Work:
    """A model, rows and options; what `skein train` makes of them; a folder for everything."""

    def __init__(self, options):
        self.skein = os.environ.get("SKEIN") or str(ROOT / ".build/release/skein")
        if not os.access(self.skein, os.X_OK):
            sys.exit(f"error: there is no {self.skein}\n  fix: Scripts/build, or set SKEIN")
        self.folder = tempfile.mkdtemp(prefix="skein-cluster.")
        try:
            self.prepare(options)
        except BaseException:
            self.remove()
            raise

    def prepare(self, options):
        self.iterations = int(options[options.index("--iterations") + 1])
        self.options = NAMED + options + [
            "--model", self.printed("fetch-model"), "--data", self.printed("fetch-data"),
        ]
        alone = self.path("alone")
        done = subprocess.run(
            [self.skein, "train", *self.options, "--output", alone], capture_output=True, text=True)
        if done.returncode != 0:
            raise Failed(f"skein train ended with {done.returncode}:\n{done.stderr}")
        self.hash = hash_in(alone)
        say(f"skein train in one process: {self.hash}")

    def printed(self, script, *words):
        """The last line that a script prints: a path."""
        return last_line(ROOT / "Scripts" / script, *words)

    def path(self, name):
        return os.path.join(self.folder, name)

    def steps(self, name):
        return steps_in(self.path(name))

    def is_over(self, name):
        return self.steps(name) >= self.iterations

    def stop_at(self, name, step, pid):
        """Stops the process that coordinates a run once a step is done: what happens then, happens in the run's middle."""
        wait_for(f"step {step} of {name}", lambda: self.steps(name) >= step or not is_alive(pid))
        self.stop(name, pid)

    def stop(self, name, pid):
        """Stops the process that coordinates a run, which must not be over."""
        kill(pid, signal.SIGSTOP)
        wait_for(f"process {pid} to stop", lambda: state(pid) in "TZX")
        if self.is_over(name):
            kill(pid, signal.SIGCONT)
            raise Over(f"{name} was over before it could be stopped")
        if not is_alive(pid):
            raise Failed(f"{name}: process {pid} has ended after step {self.steps(name)}")

    def expect_hash(self, name):
        found = hash_in(self.path(name))
        if found != self.hash:
            raise Failed(f"{name}: the adapter's SHA-256 is {found}, not {self.hash}")
        done = subprocess.run(
            [self.skein, "inspect", self.path(name), "--verify-ledger"],
            capture_output=True, text=True)
        if done.returncode != 0:
            raise Failed(f"{name}: inspect --verify-ledger ended with {done.returncode}:\n{done.stdout}{done.stderr}")
        say(f"{name}: {found}, and the ledger has each micro-batch once")

    def text(self, name):
        try:
            with open(self.path(name), errors="replace") as file:
                return file.read()
        except FileNotFoundError:
            return ""

    def remove(self):
        shutil.rmtree(self.folder, ignore_errors=True)


class Job:
    """A launcher that starts ranks of a run; each has its number in a variable."""

    def __init__(self, work, name, launcher, variable, options=(), **more):
        self.work, self.name, self.variable = work, name, variable
        with open(work.path(f"{name}.log"), "a") as log:
            self.process = subprocess.Popen(
                [*launcher, work.skein, "join", *work.options, "--output", work.path(name), "--threads", "1", *options],
                stdout=log, stderr=log, stdin=subprocess.DEVNULL, **more)

    def rank(self, number):
        """The process of a rank, once there is one."""
        def find():
            for pid in child_ids(self.process.pid):
                if command_line(pid)[:2] == [self.work.skein, "join"] and f"{self.variable}={number}" in environment(pid):
                    return pid
            if self.process.poll() is not None:
                raise Failed(f"{self.name}: the launcher ended with {self.process.returncode}, and there is no rank {number}:\n"
                             + self.work.text(self.name + ".log"))
            return None

        return wait_for(f"rank {number} of {self.name}", find)

    def wait(self, expected=None):
        wait_for(f"the end of {self.name}", lambda: self.process.poll() is not None, 600)
        if expected is not None and self.process.returncode != expected:
            raise Failed(f"{self.name} ended with {self.process.returncode}:\n{self.work.text(self.name + '.log')}")

    def stop(self):
        ranks = child_ids(self.process.pid)
        self.process.terminate()
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        for pid in ranks:
            kill(pid)


def child_ids(pid):
    """All descendants of a process."""
    found = []
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            with open(f"/proc/{entry}/stat") as file:
                parent = int(file.read().rpartition(")")[2].split()[1])
        except (FileNotFoundError, ProcessLookupError):
            continue
        if parent == pid:
            found += [int(entry)] + child_ids(int(entry))
    return found


def state(pid):
    """A letter, as in /proc: T if it is stopped, Z if it has ended and nobody has asked, X if there is none."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return "X"


def is_alive(pid):
    return state(pid) not in "ZX"


def kill(pid, number=signal.SIGKILL):
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass


def command_line(pid):
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return file.read().decode(errors="replace").split("\0")
    except (FileNotFoundError, ProcessLookupError):
        return []


def environment(pid):
    """NAME=VALUE of a process as it was started."""
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return file.read().decode(errors="replace").split("\0")
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return []


def end_children():
    """Ends what this process has started and, stopped by a signal at that moment, not yet noted."""
    deadline = time.monotonic() + 20
    while (left := [pid for pid in child_ids(os.getpid()) if is_alive(pid)]) and time.monotonic() < deadline:
        for pid in left:
            kill(pid)
        time.sleep(0.05)


def run_test(body, options, kind=Work):
    """Runs `body(work)`; exit status 0 only if it returns. Leaves nothing behind, also when it is stopped."""
    end_on_signals()
    work = None
    try:
        work = kind(options)
        body(work)
    except Failed as failure:
        print(f"error: {failure}", file=sys.stderr)
        if work and os.environ.get("SKEIN_KEEP"):
            print(f"kept: {work.folder}", file=sys.stderr)
            work = None
        sys.exit(1)
    finally:
        end_children()
        if work:
            work.remove()

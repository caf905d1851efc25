#!/usr/bin/env python3
"""16 and 64 workers in network namespaces of one machine: start, a killed process, a namespace that vanishes; one hash.

usage: crowd.py [--strict] [WORKERS ...]

Each worker has a namespace of its own with a cable to the coordinator's. The model has two small random blocks, so that
a step is mostly the network. Lines with "figure" have what was measured beside its limit. How long something takes is
the machine's affair, too: exit status 0 means that every event came, and the hash; with --strict also every limit holds.
"""

import json
import os
import statistics
import subprocess
import sys
import time

sys.dont_write_bytecode = True
from work import Failed, Over, ROOT, Work, in_the_middle, kill, run_test, say, wait_for  # noqa: E402

# Seconds from the start of all processes to the end of the first step.
START_LIMIT = 5.0


def ip(*words):
    done = subprocess.run(["ip", *words], capture_output=True, text=True)
    if done.returncode != 0:
        raise Failed(f"ip {' '.join(words)}: {done.stderr.strip()}")


class Namespaces:
    """A coordinator's namespace with a bridge, and one for each worker with a cable to it."""

    def __init__(self, count):
        self.count = count
        self.names = [f"skein-{os.getpid()}-{number}" for number in range(count + 1)]

    def make(self):
        ip("netns", "add", self.names[0])
        middle = ("-n", self.names[0])
        ip(*middle, "link", "set", "lo", "up")
        ip(*middle, "link", "add", "bridge", "type", "bridge")
        ip(*middle, "address", "add", "10.78.0.1/16", "dev", "bridge")
        ip(*middle, "link", "set", "bridge", "up")
        for number in range(1, self.count + 1):
            name = self.names[number]
            ip("netns", "add", name)
            ip("-n", name, "link", "set", "lo", "up")
            ip(*middle, "link", "add", f"cable{number}", "type", "veth", "peer", "name", "cable", "netns", name)
            ip(*middle, "link", "set", f"cable{number}", "master", "bridge", "up")
            ip("-n", name, "address", "add", f"10.78.1.{number}/16", "dev", "cable")
            ip("-n", name, "link", "set", "cable", "up")

    def cut(self, number):
        """Nothing arrives any more, not even that a connection is closed."""
        ip("-n", self.names[0], "link", "set", f"cable{number}", "down")

    def remove(self):
        for name in self.names:
            subprocess.run(["ip", "netns", "delete", name], capture_output=True)


def figure(what, seconds, limit):
    """Prints what was measured; returns whether the limit holds."""
    holds = seconds <= limit
    print(f"figure: {what}: {seconds:.2f} s, limit {limit:.2f} s: {'holds' if holds else 'DOES NOT HOLD'}", flush=True)
    return holds


class Crowd:
    def __init__(self, work, count, end):
        self.work, self.count, self.name = work, count, f"crowd{count}{end}"
        self.processes = {}
        self.net = Namespaces(count)

    def start(self, number, words):
        with open(self.work.path(f"{self.name}.{number}.log"), "w") as log:
            self.processes[number] = subprocess.Popen(
                ["ip", "netns", "exec", self.net.names[number], self.work.skein, *words],
                stdout=log, stderr=log, stdin=subprocess.DEVNULL)

    def lines(self):
        try:
            with open(self.work.path(f"{self.name}/metrics.jsonl")) as file:
                # The last line may be half written.
                return [json.loads(line) for line in file if line.endswith("\n") and '"loss"' in line]
        except FileNotFoundError:
            return []

    def wait_for(self, what, event):
        """Waits for what happens before the run is over."""
        coordinator = self.processes[0]

        def outcome():
            # Asked before the event: what happened last is then seen.
            has_ended = coordinator.poll() is not None
            return "event" if event() else "end" if has_ended else None

        if wait_for(what, outcome) == "end":
            self.expect_success()
            raise Over(f"{self.name} was over before this: {what}")

    def expect_success(self):
        status = self.processes[0].returncode
        if status != 0:
            raise Failed(f"the coordinator ended with {status}:\n{self.log()[-3000:]}")

    def steps_until_settled(self, event):
        """The seconds of the steps from now until three more are done after `event` was noticed."""
        before = len(self.lines())
        self.wait_for("the coordinator notices", event)
        noticed = len(self.lines())
        self.wait_for("three more steps", lambda: len(self.lines()) >= noticed + 3)
        return [line["seconds"] for line in self.lines()[before:noticed + 3]]

    def log(self):
        return self.work.text(f"{self.name}.0.log")

    def run(self):
        work, token = self.work, self.work.path(f"{self.name}.token")
        with open(os.open(token, os.O_WRONLY | os.O_CREAT, 0o600), "w") as file:
            file.write(os.urandom(32).hex())
        self.net.make()
        began = time.monotonic()
        self.start(0, ["coordinator", "--listen", "0.0.0.0:7534", "--token-file", token,
                       "--output", work.path(self.name), *work.options])
        for number in range(1, self.count + 1):
            self.start(number, ["worker", "--coordinator", "10.78.0.1:7534", "--token-file", token,
                                "--name", f"w{number}", "--threads", "1", "--model", work.model])
        self.wait_for("the first step", self.lines)
        start = time.monotonic() - began
        self.wait_for("all workers", lambda: self.log().count(") joins with ") >= self.count)
        everybody = time.monotonic() - began
        first = len(self.lines())
        self.wait_for("quiet steps", lambda: len(self.lines()) >= first + 20)
        quiet = statistics.median(line["seconds"] for line in self.lines()[first:first + 20])
        figures = self.lines()[first:first + 20]
        kill(self.processes[1].pid)
        killed = max(self.steps_until_settled(lambda: "w1 (10.78.1.1:" in self.log().split(") joins with ")[-1]))
        self.net.cut(2)
        vanished = max(self.steps_until_settled(lambda: "lost w2 (" in self.log()))
        kill(self.processes[2].pid)
        wait_for("the end", lambda: self.processes[0].poll() is not None, 900)
        self.expect_success()
        work.expect_hash(self.name)
        say(f"{self.count} workers: all in after {everybody:.2f} s; quiet step {quiet:.3f} s")
        cpu = [line["coordinator_cpu_seconds"] for line in figures if "coordinator_cpu_seconds" in line]
        if cpu:
            results = work.batch
            say(f"coordinator's processor time for a result: {1000 * statistics.median(cpu) / results:.3f} ms "
                f"({results} a step)")
        return all([
            figure(f"{self.count} workers, from the start of all to the first step's end", start, START_LIMIT),
            figure(f"{self.count} workers, the longest step after a killed process", killed, 2 * quiet + 1),
            figure(f"{self.count} workers, the longest step after a vanished namespace", vanished, 2 * quiet + 3.5),
        ])

    def stop(self):
        for process in self.processes.values():
            if process.poll() is None:
                kill(process.pid)
            process.wait()
        self.net.remove()


class CrowdWork(Work):
    """A tiny random model with the real tokenizer, and as many micro-batches a step as workers."""

    batch = 64

    def __init__(self, options):
        self.model = None
        super().__init__(options)

    def printed(self, script, *words):
        path = super().printed(script, *words)
        if script != "fetch-model":
            return path
        self.model = self.path("tiny.gguf")
        subprocess.run(
            [sys.executable, str(ROOT / "Scripts/random-model.py"), path, self.model,
             "2", "64", "128", "2", "1"], check=True, stdout=subprocess.DEVNULL)
        return self.model


def holds(work, count, end):
    """One crowd: whether every limit holds."""
    crowd = Crowd(work, count, end)
    try:
        return crowd.run()
    finally:
        crowd.stop()


def main(work, counts, is_strict):
    results = [in_the_middle(lambda end: holds(work, count, end)) for count in counts]
    if is_strict and not all(results):
        raise Failed("a limit does not hold")


if __name__ == "__main__":
    words = sys.argv[1:]
    counts = [int(word) for word in words if word.isdecimal()] or [16, 64]
    if not all(word == "--strict" or word.isdecimal() for word in words) or not all(3 <= n <= 250 for n in counts):
        sys.exit("usage: crowd.py [--strict] [WORKERS ...], each from 3 to 250")
    run_test(
        lambda work: main(work, counts, "--strict" in words),
        f"--iterations 150 --batch-size {CrowdWork.batch} --micro-batch-tokens 32 --max-length 48 "
        "--validation-split 0 --checkpoint-every 0".split(), CrowdWork)

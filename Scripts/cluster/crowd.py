#!/usr/bin/env python3
"""16 and 64 workers in network namespaces of one machine: start, a killed process, a namespace that vanishes; one hash.

usage: crowd.py [WORKERS ...]

Each worker has a namespace of its own with a cable to the coordinator's. The model has two small random blocks, so that
a step is mostly the network. Prints what was measured beside its limit; exit status 0 only if every limit holds.
"""

import json
import os
import statistics
import subprocess
import sys
import time

from work import Failed, ROOT, Work, kill, run_test, say, wait_for

# Seconds from the start of all processes to the end of the first step.
START_LIMIT = 5.0


def ip(*words):
    done = subprocess.run(["ip", *words], capture_output=True, text=True)
    if done.returncode != 0:
        raise Failed(f"ip {' '.join(words)}: {done.stderr.strip()}")


class Namespaces:
    """A coordinator's namespace with a bridge, and one for each worker with a cable to it."""

    def __init__(self, count):
        self.names = [f"skein-{os.getpid()}-{number}" for number in range(count + 1)]
        try:
            self.make(count)
        except BaseException:
            self.remove()
            raise

    def make(self, count):
        ip("netns", "add", self.names[0])
        middle = ("-n", self.names[0])
        ip(*middle, "link", "set", "lo", "up")
        ip(*middle, "link", "add", "bridge", "type", "bridge")
        ip(*middle, "address", "add", "10.78.0.1/16", "dev", "bridge")
        ip(*middle, "link", "set", "bridge", "up")
        for number in range(1, count + 1):
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


class Crowd:
    def __init__(self, work, count):
        self.work, self.count, self.name = work, count, f"crowd{count}"
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
                return [line for line in map(json.loads, file) if "loss" in line]
        except FileNotFoundError:
            return []

    def steps_until_settled(self, event):
        """The seconds of the steps from now until three more are done after `event` was noticed."""
        before = len(self.lines())
        wait_for("the coordinator notices", event)
        noticed = len(self.lines())
        wait_for("three more steps", lambda: len(self.lines()) >= noticed + 3)
        return [line["seconds"] for line in self.lines()[before:noticed + 3]]

    def log(self):
        return self.work.text(f"{self.name}.0.log")

    def run(self):
        work, token = self.work, self.work.path(f"{self.name}.token")
        with open(os.open(token, os.O_WRONLY | os.O_CREAT, 0o600), "w") as file:
            file.write(os.urandom(32).hex())
        began = time.monotonic()
        self.start(0, ["coordinator", "--listen", "0.0.0.0:7534", "--token-file", token,
                       "--output", work.path(self.name), *work.options])
        for number in range(1, self.count + 1):
            self.start(number, ["worker", "--coordinator", "10.78.0.1:7534", "--token-file", token,
                                "--name", f"w{number}", "--threads", "1", "--model", work.model])
        wait_for("the first step", lambda: self.lines())
        start = time.monotonic() - began
        wait_for("all workers", lambda: self.log().count(") joins with ") >= self.count)
        everybody = time.monotonic() - began
        first = len(self.lines())
        wait_for("quiet steps", lambda: len(self.lines()) >= first + 20)
        quiet = statistics.median(line["seconds"] for line in self.lines()[first:first + 20])
        figures = self.lines()[first:first + 20]
        kill(self.processes[1].pid)
        killed = max(self.steps_until_settled(lambda: "w1 (10.78.1.1:" in self.log().split(") joins with ")[-1]))
        self.net.cut(2)
        vanished = max(self.steps_until_settled(lambda: "lost w2 (" in self.log()))
        kill(self.processes[2].pid)
        wait_for("the end", lambda: self.processes[0].poll() is not None, 900)
        if self.processes[0].returncode != 0:
            raise Failed(f"the coordinator ended with {self.processes[0].returncode}:\n{self.log()[-3000:]}")
        work.expect_hash(self.name)
        say(f"{self.count} workers: first step {start:.2f} s after the start of all (limit {START_LIMIT}), "
            f"all in after {everybody:.2f} s; quiet step {quiet:.3f} s")
        cpu = [line["coordinator_cpu_seconds"] for line in figures if "coordinator_cpu_seconds" in line]
        if cpu:
            results = work.batch
            say(f"coordinator's processor time for a result: {1000 * statistics.median(cpu) / results:.3f} ms "
                f"({results} a step)")
        say(f"longest step after a killed process {killed:.2f} s (limit {2 * quiet + 1:.2f}), "
            f"after a vanished namespace {vanished:.2f} s (limit {2 * quiet + 3.5:.2f})")
        return start <= START_LIMIT and killed <= 2 * quiet + 1 and vanished <= 2 * quiet + 3.5

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

    def fetched(self, script):
        path = super().fetched(script)
        if script != "fetch-model":
            return path
        self.model = self.path("tiny.gguf")
        subprocess.run(
            [sys.executable, str(ROOT / "Scripts/random-model.py"), path, self.model,
             "2", "64", "128", "2", "1"], check=True, stdout=subprocess.DEVNULL)
        return self.model


def main(work, counts):
    results = []
    for count in counts:
        crowd = Crowd(work, count)
        try:
            results.append(crowd.run())
        finally:
            crowd.stop()
    if not all(results):
        raise Failed("a limit does not hold")


if __name__ == "__main__":
    counts = [int(word) for word in sys.argv[1:]] or [16, 64]
    if not all(1 <= count <= 250 for count in counts):
        sys.exit("usage: crowd.py [WORKERS ...], each from 1 to 250")
    run_test(
        lambda work: main(work, counts),
        f"--iterations 150 --batch-size {CrowdWork.batch} --micro-batch-tokens 32 --max-length 48 "
        "--validation-split 0 --checkpoint-every 0".split(), CrowdWork)

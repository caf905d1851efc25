"""`skein-lab bench grammar --cases`, over a crash and a hang."""

import json
import os
import queue
import subprocess
import tempfile
import threading
import time

PATIENCE = 180  # seconds for one case


class Process:
    """The program on a file of cases; its lines come as they are written."""

    def __init__(self, skein, model, cases, runs, seed):
        with tempfile.NamedTemporaryFile("w", suffix=".jsonl", delete=False, encoding="utf-8") as file:
            for case in cases:
                file.write(json.dumps(case, ensure_ascii=False) + "\n")
        self.path = file.name
        self.errors = tempfile.TemporaryFile("w+")
        lab = os.environ.get("SKEIN_LAB") or os.path.join(os.path.dirname(os.path.realpath(skein)), "skein-lab")
        words = [lab, "bench", "grammar", "--model", model, "--cases", self.path]
        self.process = subprocess.Popen(
            words + ["--runs", str(runs), "--seed", str(seed)],
            stdout=subprocess.PIPE,
            stderr=self.errors,
            text=True,
            encoding="utf-8",
        )
        self.lines = queue.Queue()
        self.reader = threading.Thread(target=self.read)
        self.reader.start()

    def read(self):
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put(None)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.reader.join()
        self.errors.close()
        os.unlink(self.path)

    def ending(self):
        """Waits; the status and what the program said."""
        self.process.wait()
        self.errors.seek(0)
        return self.process.returncode, self.errors.read()


class Driver:
    def __init__(self, skein, model, patience=PATIENCE):
        self.skein, self.model, self.patience = skein, model, patience

    def run(self, cases, runs, seed):
        """Yields (index, result, seconds) for each case; {"crash": words} where the program ended."""
        first = 0
        while first < len(cases):
            with Process(self.skein, self.model, cases[first:], runs, seed) as process:
                what = None
                while True:
                    began = time.monotonic()
                    try:
                        line = process.lines.get(timeout=self.patience)
                    except queue.Empty:
                        what = f"no answer in {self.patience} s"
                        break
                    if line is None:
                        break
                    yield first, json.loads(line), time.monotonic() - began
                    first += 1
                if what is None:
                    status, words = process.ending()
                    what = f"status {status}: {words[:1500]}"
                    if status == 64 or status and first == len(cases):
                        raise SystemExit(what)
            if first < len(cases):
                yield first, {"crash": what}, 0
                first += 1

    def within(self, seconds, cases, runs, seed):
        """Results of what is done in time, and empty ones: a case that takes longer says nothing."""
        end, results = time.monotonic() + seconds, [{"runs": [], "instances": []} for _ in cases]
        for index, result, _ in Driver(self.skein, self.model, seconds).run(cases, runs, seed):
            if not result.get("crash", "").startswith("no answer"):
                results[index] = result
            if time.monotonic() > end:
                break
        return results

    def all(self, cases, runs, seed):
        return [result for _, result, _ in self.run(cases, runs, seed)]

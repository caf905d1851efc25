"""Runs one program at a time to its end, measures its peak of memory, and makes the rows that all of them train on."""

import contextlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time

IGNORED = -100
# What peer-train.py has, too.
NAMED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "named.json")
BEGINS = ["<bos>", "<|begin_of_text|>"]


class Problem(Exception):
    """What happened, and how to fix it."""

    def __init__(self, what, fix):
        super().__init__(f"error: {what}\n  fix: {fix}")


class Disturbed(Problem):
    """Others held the memory, or ended a process: the same may go well another time."""


def end_on_signals():
    """Signals that end a process end this one by an exception, so that it kills its child, and later ones do not
    disturb that. A closed terminal is one of them."""
    # Under nohup a closed terminal ends nothing.
    wanted = [number for number in (signal.SIGHUP, signal.SIGQUIT) if signal.getsignal(number) != signal.SIG_IGN]
    wanted += [signal.SIGTERM, signal.SIGINT]

    def end(number, _):
        for each in wanted:
            signal.signal(each, lambda *_: None)
        sys.exit(128 + number)

    for number in wanted:
        signal.signal(number, end)


class Limits:
    """How long a process may run, and how much memory it may have for itself (pages of mapped files do not count)."""

    def __init__(self, seconds, kib):
        self.seconds, self.kib = seconds, kib


class Outcome:
    """What a process printed and took. `ended` says what ended it before its own end: "time", "memory" or nothing."""

    def __init__(self):
        self.lines, self.ended, self.log = [], "", ""
        # In KiB. The peak is the kernel's ru_maxrss, with the pages of mapped files; `own` is what was seen without
        # them.
        self.peak = self.own = 0
        # The share of all processor time meanwhile that other processes, and other guests of the host, had.
        self.others = 0.0


# What a program prints that asks for more memory than there is.
WORDS_OF_MEMORY = ("can't allocate memory", "Cannot allocate memory", "of memory, and", "std::bad_alloc", "MemoryError")
# A process with less than this share of its memory's limit is not what the memory ended with.
FAR = 0.75


def processor_seconds():
    """Of all processors since the start: all of it, and what somebody had (with what the host took away)."""
    with open("/proc/stat", encoding="utf-8") as file:
        ticks = [int(word) for word in file.readline().split()[1:9]]
    idle = ticks[3] + ticks[4]
    return [count / os.sysconf("SC_CLK_TCK") for count in (sum(ticks), sum(ticks) - idle)]


def memory_kib(path, name):
    """A field of /proc/meminfo or of a process's status; 0 where there is none."""
    try:
        with open(path, encoding="utf-8") as file:
            return next((int(line.split()[1]) for line in file if line.startswith(name + ":")), 0)
    except (FileNotFoundError, ProcessLookupError):
        return 0


def watch(process, limits, outcome, done):
    """Ends the process where it goes beyond its limits, or where the system is about to have no memory left."""
    began, least = time.monotonic(), memory_kib("/proc/meminfo", "MemTotal") // 50
    while not done.wait(0.1):
        outcome.own = max(outcome.own, memory_kib(f"/proc/{process.pid}/status", "RssAnon"))
        if time.monotonic() - began > limits.seconds:
            outcome.ended = "time"
        elif outcome.own > limits.kib or memory_kib("/proc/meminfo", "MemAvailable") < least:
            outcome.ended = "memory"
        if outcome.ended:
            # Popen.kill would take the exit status away from the thread that waits for it.
            os.kill(process.pid, signal.SIGKILL)
            return


def reap(process, limits, outcome):
    """Waits for the process, and gives what it used; an exception on the way ends it."""
    done = threading.Event()
    watcher = threading.Thread(target=watch, args=(process, limits, outcome, done), daemon=True)
    try:
        if limits is not None:
            # Where memory ends all the same, the system shall take it from this one.
            with contextlib.suppress(OSError), \
                    open(f"/proc/{process.pid}/oom_score_adj", "w", encoding="utf-8") as file:
                file.write("1000")
            watcher.start()
        outcome.lines = process.stdout.read().splitlines()
        # The watcher must not signal an id that nobody has any longer.
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        done.set()
        if limits is not None:
            watcher.join()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        return usage
    except BaseException:
        done.set()
        process.kill()
        # The watcher may be about to signal this id, which is free after the wait.
        if watcher.is_alive():
            watcher.join()
        process.wait()
        raise
    finally:
        process.stdout.close()


def go(words, log, limits=None, **environment):
    """Runs a program to its end or to its limits. Where it needs more memory than there is, that is no Problem."""
    outcome, before = Outcome(), processor_seconds()
    with open(log, "w", encoding="utf-8") as errors:
        process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors, text=True,
                                   env=os.environ | environment)
        usage = reap(process, limits, outcome)
    outcome.peak = usage.ru_maxrss
    whole, busy = (after - start for after, start in zip(processor_seconds(), before))
    outcome.others = max(0.0, busy - usage.ru_utime - usage.ru_stime) / max(whole, 0.01)
    with open(log, encoding="utf-8", errors="replace") as errors:
        outcome.log = errors.read()
    name, killed = f"{os.path.basename(words[0])} {words[1]}", process.returncode == -signal.SIGKILL
    if limits is not None and process.returncode and not outcome.ended:
        if killed or any(text in outcome.log for text in WORDS_OF_MEMORY):
            outcome.ended = "memory"
    if killed and outcome.ended == "memory" and outcome.own < FAR * limits.kib:
        raise Disturbed(f"{name} was ended with {outcome.own / 2**20:.2f} GiB of its own, of {limits.kib / 2**20:.2f} "
                        "that it may have: others held the memory, or it was ended by hand",
                        "end what else takes memory, and give the same command again")
    if process.returncode and not outcome.ended:
        raise Problem(f"{name} ended with {process.returncode}: {outcome.log[-600:]}",
                      "see above; --keep keeps the whole log")
    return outcome


def run(words, log, **environment):
    """Runs a program; gives the lines of its standard output and its peak of memory in KiB (the kernel's ru_maxrss)."""
    outcome = go(words, log, **environment)
    return outcome.lines, outcome.peak


class Skein:
    """The binary under test."""

    def __init__(self, path, model, output, keep=True):
        self.path, self.model, self.output, self.keep = path, model, output, keep
        self.counter = 0

    def __call__(self, *words):
        self.counter += 1
        return run([self.path, *words], os.path.join(self.output, f"skein-{self.counter}.log"))

    def bench(self, *words):
        """`skein-lab bench`, of the program beside; programs of commits before it have `skein bench`."""
        lab = os.path.join(os.path.dirname(self.path), "skein-lab")
        self.counter += 1
        return run([lab if os.path.exists(lab) else self.path, "bench", *words],
                   os.path.join(self.output, f"skein-{self.counter}.log"))

    def has_option(self, command, option):
        return any(line.split()[:1] == [option] for line in self(command, "--help", "all")[0])

    def ids(self, texts, *options):
        lines, _ = self("tokenize", "--model", self.model, "--json", *options, "--", *texts)
        return [json.loads(line)["ids"] for line in lines]

    def token(self, spellings):
        """Ids of the first of the spellings that is one token of the model, or none."""
        return next((ids for ids in self.ids(spellings) if len(ids) == 1), [])

    def train(self, rows, steps, *options):
        """The figures of each step in metrics.jsonl, and the peak of memory in KiB."""
        steps, outcome = self.train_within(None, rows, steps, *options)
        return steps, outcome.peak

    def train_within(self, limits, rows, steps, *options):
        """The figures of each step that ended within the limits, and the process's outcome."""
        self.counter += 1
        folder = os.path.join(self.output, f"run-{self.counter}")
        outcome = go([self.path, "train", "--config", NAMED, "--model", self.model, "--data", rows, "--output", folder,
                      "--validation-split", "0", "--shuffle", "off", "--iterations", str(steps),
                      "--checkpoint-every", "0", *options],
                     os.path.join(self.output, f"skein-{self.counter}.log"), limits)
        path = os.path.join(folder, "metrics.jsonl")
        lines = []
        if not outcome.ended or os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                # Who is killed may leave half a line.
                lines = [line for line in file if line.endswith("\n")]
        if not self.keep:
            shutil.rmtree(folder, ignore_errors=True)
        return [step for step in map(json.loads, lines) if "loss_tokens" in step], outcome


def jargon_rows(skein, pairs, count, length, seed):
    """`count` pairs in an order drawn from the seed, and their ids and labels: by the chat template, or without one
    the way train does it, with the end token after both parts."""
    with open(pairs, encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    random.Random(seed).shuffle(rows)
    rows = rows[:count]
    if json.loads(skein("inspect", "--json", skein.model)[0][0])["chat_template"]:
        turns = [json.dumps({"messages": [{"role": "user", "content": row["prompt"]}], "add_generation_prompt": True})
                 for row in rows]
        end = skein.token(["<|im_end|>", "<end_of_turn>", "<|eot_id|>", "<|end|>"])
        prompts = skein.ids(turns, "--chat")
    else:
        begin, end = skein.token(BEGINS), skein.token(["<eos>", "<|endoftext|>", "<|end_of_text|>"])
        prompts = [begin + ids + end for ids in skein.ids([row["prompt"] for row in rows])]
    encoded = []
    for prompt, completion in zip(prompts, skein.ids([row["completion"] for row in rows])):
        ids, labels = prompt + completion + end, [IGNORED] * len(prompt) + completion + end
        encoded.append({"ids": ids[:length], "labels": labels[:length]})
    return rows, encoded


def dense_rows(skein, pairs, count, length):
    """`count` texts, cut to `length` tokens each, which all carry loss: the completions, one after another."""
    with open(pairs, encoding="utf-8") as file:
        words = "\n\n".join(json.loads(line)["completion"] for line in file).split(" ")
    # In tables most words are empty; four times as many words as tokens are always enough.
    texts = [" ".join(words[index * 4 * length : (index + 1) * 4 * length]) for index in range(count)]
    begin = skein.token(BEGINS)
    ids = [begin + row for row in skein.ids(texts)]
    if min(map(len, ids)) < length:
        raise Problem(f"a text of {4 * length} words has fewer than {length} tokens",
                      "use the pairs of Scripts/fetch-data")
    return [{"text": text} for text in texts], [{"ids": row[:length], "labels": row[:length]} for row in ids]


def write_lines(path, rows):
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    return path

"""Runs one program at a time to its end, measures its peak of memory, and makes the rows that all of them train on."""

import json
import os
import random
import signal
import subprocess
import sys

IGNORED = -100
# What peer-train.py has, too.
NAMED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "named.json")
BEGINS = ["<bos>", "<|begin_of_text|>"]


class Problem(Exception):
    """What happened, and how to fix it."""

    def __init__(self, what, fix):
        super().__init__(f"error: {what}\n  fix: {fix}")


def end_on_signals():
    """Signals that end a process end this one by an exception, so that it kills its child, and later ones do not disturb
    that. A closed terminal is one of them."""
    # Under nohup a closed terminal ends nothing.
    wanted = [number for number in (signal.SIGHUP, signal.SIGQUIT) if signal.getsignal(number) != signal.SIG_IGN]
    wanted += [signal.SIGTERM, signal.SIGINT]

    def end(number, _):
        for each in wanted:
            signal.signal(each, lambda *_: None)
        sys.exit(128 + number)

    for number in wanted:
        signal.signal(number, end)


def run(words, log, **environment):
    """Runs a program; gives the lines of its standard output and its peak of memory in KiB (the kernel's ru_maxrss)."""
    with open(log, "w", encoding="utf-8") as errors:
        process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors, text=True,
                                   env=os.environ | environment)
    try:
        lines = process.stdout.read().splitlines()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    except BaseException:
        process.kill()
        process.wait()
        raise
    finally:
        process.stdout.close()
    if process.returncode:
        with open(log, encoding="utf-8") as errors:
            last = errors.read()[-600:]
        raise Problem(f"{os.path.basename(words[0])} {words[1]} ended with {process.returncode}: {last}",
                      "see above; --keep keeps the whole log")
    return lines, usage.ru_maxrss


class Skein:
    """The binary under test."""

    def __init__(self, path, model, output):
        self.path, self.model, self.output = path, model, output
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
        folder = os.path.join(self.output, f"run-{self.counter}")
        _, peak = self("train", "--config", NAMED, "--model", self.model, "--data", rows, "--output", folder,
                       "--validation-split", "0", "--shuffle", "off", "--iterations", str(steps), "--checkpoint-every", "0", *options)
        with open(os.path.join(folder, "metrics.jsonl"), encoding="utf-8") as file:
            return [step for step in map(json.loads, file) if "loss_tokens" in step], peak


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
        raise Problem(f"a text of {4 * length} words has fewer than {length} tokens", "use the pairs of Scripts/fetch-data")
    return [{"text": text} for text in texts], [{"ids": row[:length], "labels": row[:length]} for row in ids]


def write_lines(path, rows):
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    return path

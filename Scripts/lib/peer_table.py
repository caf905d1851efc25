"""The table of LoRA's tokens/s: sizes of models, lengths of rows and ways to compute, beside PyTorch + PEFT.

A cell is measured once and kept in a JSON file of its CPU as soon as it ends; peer_table_report.py makes Markdown of
such files.
"""

import argparse
import contextlib
import fcntl
import hashlib
import json
import os
import re
import shutil
import statistics
import sys
import time

import peer_training
from peer_processes import Disturbed, Limits, Problem, Skein, memory_kib, run
from peer_report import gib, machine_facts, write_whole
from peer_table_report import AGAIN, FORMAT, MODES, ROWS, cpu_table, read, report
from peer_training import KINDS, say

# Tokens of a step: so many rows, or one that is longer.
STEP = 2048
QWEN = {"hidden_act": "silu", "rms_norm_eps": 1e-6, "rope_theta": 1e6, "rope_scaling": None, "vocab_size": 151936,
        "tie_word_embeddings": True, "bos_token_id": 1, "eos_token_id": 2, "torch_dtype": "bfloat16"}


def qwen(kind, width, forward, layers, heads, key_heads, context, **more):
    name = {"qwen2": "Qwen2ForCausalLM", "qwen3": "Qwen3ForCausalLM"}[kind]
    return QWEN | {"architectures": [name], "model_type": kind, "hidden_size": width, "intermediate_size": forward,
                   "num_hidden_layers": layers, "num_attention_heads": heads, "num_key_value_heads": key_heads,
                   "max_position_embeddings": context} | more


# Parameters, and the shapes of the random ones; the first has real weights.
SIZES = {
    "135M": (134_515_008, None),
    "0.5B": (494_032_768, qwen("qwen2", 896, 4864, 24, 14, 2, 32768)),
    "1.5B": (1_543_714_304, qwen("qwen2", 1536, 8960, 28, 12, 2, 32768)),
    "4B": (4_022_468_096, qwen("qwen3", 2560, 9728, 36, 32, 8, 40960, head_dim=128, attention_bias=False)),
}
# Skein's need is an estimate: what is below this share of the limit would fit if others held nothing.
FITS = 0.9
# The share of the registers' rate that a step is guessed to reach before one was measured, and how many processes
# PyTorch's cell takes.
GUESSES = {"fp32": 0.6, "bf16": 0.6, "int8": 0.25, "peft": 0.4}
SETTINGS = 3
# How a reason begins that a longer deadline may remove.
SLOW = "no second step"
# Steps of the round that chooses PyTorch's settings, some of which are slow.
SEARCH_STEPS = 60


def choices(option, text, known):
    chosen = [word.strip() for word in text.split(",")]
    for word in chosen:
        if word not in known:
            raise Problem(f'{option} has no "{word}"', f"give some of {','.join(known)}, with commas between them")
    return [word for word in known if word in chosen]


class Parser(argparse.ArgumentParser):
    def error(self, message):
        raise Problem(f"bench-peers table: {message}", "see Scripts/bench-peers --help")


def arguments_of(words):
    parser = Parser(allow_abbrev=False)
    for name in ("python", "skein", "model", "pairs", "allocators", "output", "docs", "date", "versions", "command",
                 "cache", "commit"):
        parser.add_argument(f"--{name}", default="")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--report", nargs="*", metavar="FILE")
    parser.add_argument("--sizes", default=",".join(SIZES))
    parser.add_argument("--rows", default=",".join(map(str, ROWS)))
    parser.add_argument("--modes", default=",".join(MODES))
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--deadline", type=float, default=30)
    parser.add_argument("--disk", type=float, default=16)
    parser.add_argument("--name", default="")
    parser.add_argument("--json")
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--keep", action="store_true")
    arguments = parser.parse_args(words)
    for name, most in (("steps", 20), ("threads", 4096), ("deadline", 10**5), ("disk", 10**5)):
        if not 0 < getattr(arguments, name) <= most:
            raise Problem(f"--{name} is {getattr(arguments, name):g}", f"give a number above 0 and up to {most}")
    arguments.sizes = choices("--sizes", arguments.sizes, list(SIZES))
    arguments.rows = [int(rows) for rows in choices("--rows", arguments.rows, [str(rows) for rows in ROWS])]
    arguments.modes = choices("--modes", arguments.modes, list(MODES))
    arguments.lib = os.path.dirname(os.path.abspath(__file__))
    arguments.folder = os.path.join(os.path.dirname(os.path.dirname(arguments.lib)), "docs", "benchmarks")
    # What peer_training.Bench reads besides.
    arguments.quick, arguments.workloads = False, ["dense"]
    return arguments


class Models:
    """The folders of the models in the cache, which take so much of the disk at most."""

    def __init__(self, arguments):
        self.arguments, self.folder = arguments, os.path.join(arguments.cache, "table")

    @contextlib.contextmanager
    def lock(self):
        """Keeps others from this folder, and so from the processors, for as long as this one measures."""
        path = os.path.join(self.folder, "lock")
        with contextlib.ExitStack() as stack:
            try:
                os.makedirs(self.folder, exist_ok=True)
                fcntl.flock(stack.enter_context(open(path, "w", encoding="utf-8")), fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise Problem(f"another Scripts/bench-peers table measures on this machine: it holds {path}",
                              "wait for its end, or end it; both together would measure each other") from None
            except OSError as error:
                raise Problem(f"{path} cannot be locked: {error.strerror}",
                              "allow writing there, or name another cache in SKEIN_CACHE") from None
            yield

    def place(self, size):
        with open(os.path.join(self.arguments.lib, "peer-folder.py"), "rb") as file:
            maker = file.read()
        with open(self.arguments.model, "rb") as file:
            tokenizer = hashlib.file_digest(file, "sha256").digest()
        parts = [maker, tokenizer, json.dumps(SIZES[size][1]).encode()]
        return os.path.join(self.folder, f"{size}-{hashlib.sha256(b''.join(parts)).hexdigest()[:16]}")

    def path(self, size):
        path = self.place(size)
        if not self.is_ready(path):
            self.remove(path)
            self.make(size, path)
        # So that the least recently used one is removed first.
        os.utime(path)
        return path

    @staticmethod
    def is_ready(path):
        """Whether the folder's files have the sizes that they were made with, which `ready` says."""
        try:
            with open(os.path.join(path, "ready"), encoding="utf-8") as file:
                sizes = json.load(file)
            return all(os.path.getsize(os.path.join(path, name)) == size for name, size in sizes.items())
        except (OSError, ValueError):
            return False

    @staticmethod
    def remove(path):
        """Renames first: what is half removed must not look like a model."""
        half = path.removesuffix(".half") + ".half"
        if path != half and os.path.isdir(path):
            shutil.rmtree(half, ignore_errors=True)
            os.rename(path, half)
        shutil.rmtree(half, ignore_errors=True)

    def make(self, size, path):
        self.make_room(size)
        say(f"making the model of {size} in {path}")
        half = path + ".half"
        shutil.rmtree(half, ignore_errors=True)
        os.makedirs(half)
        words = [self.arguments.python, f"{self.arguments.lib}/peer-folder.py", self.arguments.model, half]
        if SIZES[size][1]:
            config = os.path.join(self.arguments.output, f"{size}.json")
            with open(config, "w", encoding="utf-8") as file:
                json.dump(SIZES[size][1], file)
            words.append(config)
        try:
            run(words, os.path.join(self.arguments.output, f"{size}-folder.log"))
            if os.path.getsize(os.path.join(half, "model.safetensors")) <= 2 * SIZES[size][0]:
                raise Problem(f"the weights in {half} are not whole", "make room on the disk, and try again")
            sizes = {entry.name: entry.stat().st_size for entry in os.scandir(half) if entry.is_file()}
            with open(os.path.join(half, "ready"), "w", encoding="utf-8") as file:
                json.dump(sizes, file)
            os.rename(half, path)
        except BaseException:
            shutil.rmtree(half, ignore_errors=True)
            raise

    def make_room(self, size):
        """Removes models that were made before, the least recently used one first."""
        os.makedirs(self.folder, exist_ok=True)
        needed, limit = 2 * SIZES[size][0] + (64 << 20), self.arguments.disk * 2**30
        if needed > limit:
            raise Problem(f"the model of {size} takes {needed / 2**30:.1f} GiB; --disk allows {limit / 2**30:g}",
                          f"give --disk {needed / 2**30 + 1:.0f}, or --sizes without {size}")
        # PyTorch's settings are searched for with the first size throughout; the others take turns.
        used = self.place(next(iter(SIZES)))
        kept = sorted((entry.path for entry in os.scandir(self.folder) if entry.is_dir(follow_symlinks=False)),
                      key=os.path.getmtime)
        taken = {path: sum(entry.stat().st_size for entry in os.scandir(path)) for path in kept}
        for path in kept:
            if path != used and sum(taken.values()) + needed > limit:
                say(f"removing {path}: all models may take {limit / 2**30:g} GiB (--disk)")
                self.remove(path)
                del taken[path]
        if (whole := (sum(taken.values()) + needed) / 2**30) > self.arguments.disk:
            raise Problem(f"the model of {size} and {used} take {whole:.1f} GiB; --disk allows {limit / 2**30:g}",
                          f"give --disk {whole + 1:.0f}, or --sizes without {size}")
        free = shutil.disk_usage(self.folder).free
        if free < needed:
            raise Problem(f"the model of {size} takes {needed / 2**30:.1f} GiB, and {self.folder} has "
                          f"{free / 2**30:.1f} free",
                          "make room there, or name another cache in SKEIN_CACHE")


class Results:
    """The JSON file of a CPU: written anew, one cell a line, each time that something is measured."""

    def __init__(self, path, facts, threads):
        self.path = path
        self.values = {"format": FORMAT, "machine": facts, "threads": threads, "searches": {}, "cells": {}}
        if not os.path.exists(path):
            return
        values = read(path)
        before = values["machine"]
        same = [values["threads"] == threads, abs(before["memory"] - facts["memory"]) <= 0.1 * facts["memory"]]
        same += [before[key] == facts[key] for key in ("name", "number", "sets", "cores")]
        if not all(same):
            raise Problem(f"{path} is of {before['name']} with {values['threads']} threads, {before['cores']} cores "
                          f"and {before['memory']} GiB; this is {facts['name']} with {threads}, {facts['cores']} and "
                          f"{facts['memory']}",
                          "name another file with --json, or give this machine another name with --name")
        self.values = values

    def save(self, trial=False):
        parts = []
        for key, value in self.values.items():
            text = json.dumps(value)
            if key in ("searches", "cells"):
                lines = [f"  {json.dumps(name)}: {json.dumps(entry)}" for name, entry in value.items()]
                text = "{\n" + ",\n".join(lines) + "\n }" if lines else "{}"
            parts.append(f" {json.dumps(key)}: {text}")
        write_whole(self.path, "{\n" + ",\n".join(parts) + "\n}\n", "--json", trial)

    def cell(self, size, rows, mode):
        return self.values["cells"].get(f"{size} {rows} {mode}")

    def keep(self, size, rows, mode, cell):
        """What is whole takes the place of what was before; a part of a cell is kept beside it until then."""
        cells, name = self.values["cells"], f"{size} {rows} {mode}"
        if cell.get("done"):
            cells.pop(name + AGAIN, None)
            self.renewed(name)
        elif self.is_old(name) or cells.get(name, {}).get("done"):
            name += AGAIN
        cells[name] = cell
        self.save()

    def begin_again(self, chosen, wanted):
        """Notes what --again is to renew, unless the same command was stopped on the way: then it goes on."""
        if self.values.get("again", {}).get("chosen") == chosen:
            return
        left = [f"{size} {rows} {mode}" for size, rows, mode in wanted]
        left += dict.fromkeys(f"search {rows}" for _, rows, mode in wanted if mode == "peft")
        self.values["again"] = {"chosen": chosen, "left": left}
        self.values["cells"] = {
            name: cell for name, cell in self.values["cells"].items() if not name.endswith(AGAIN)}
        self.save()

    def is_old(self, name):
        """Whether a cell or a search is still to be renewed."""
        return name in self.values.get("again", {}).get("left", [])

    def renewed(self, name):
        if self.is_old(name):
            self.values["again"]["left"].remove(name)
            if not self.values["again"]["left"]:
                del self.values["again"]


class Rows(peer_training.Bench):
    """What is measured on rows of one length with one model."""

    dropout = 0.0

    def __init__(self, arguments, skein, output, length, limits):
        os.makedirs(output, exist_ok=True)
        super().__init__(arguments, skein, output)
        self.length, self.batch, self.limits = length, max(1, STEP // length), limits
        self.steps = {"dense": arguments.steps}

    def weights(self, kind):
        return self.skein.model

    def peer(self, kind, allocator, runs):
        """As in train; where a setting of the search fails, the others are tried all the same."""
        try:
            return super().peer(kind, allocator, runs)
        except Disturbed:
            raise
        except Problem as problem:
            say(f"  PyTorch {kind}, {allocator}: {problem}")
            return {}, 0

    def figures_of(self, steps, outcome, checkpointing):
        """What a cell keeps of a process; `why` instead of a rate where it had no second step."""
        found = {"peak": outcome.peak, "own": outcome.own, "others": round(outcome.others, 3),
                 "date": self.arguments.date, "checkpointing": checkpointing, "steps": self.arguments.steps,
                 "deadline": self.arguments.deadline}
        rates = [step["tokens"] / step["seconds"] for step in steps[1:]]
        # What memory ends after some steps does not fit either.
        if rates and outcome.ended != "memory":
            return found | {"rate": round(statistics.median(rates), 1), "rates": [round(rate, 1) for rate in rates],
                            "loss": steps[0]["loss"], "cut": outcome.ended} | self.residence(outcome)
        if outcome.ended == "memory":
            need = re.search(r"needs about (([\d.]+) ([GM])iB) of memory", outcome.log)
            if need and float(need.group(2)) * {"G": 2**20, "M": 2**10}[need.group(3)] < FITS * self.limits.kib:
                raise Disturbed(f"skein needs about {need.group(1)}, of {gib(self.limits.kib)} that it may have: "
                                "others hold the memory", "end what else takes memory, and give the same command again")
            what = f"it needs about {need.group(1)}" if need else f"it was ended with {gib(outcome.own)} of its own"
            return found | {"why": f"does not fit: {what}{' with gradient checkpointing' if checkpointing else ''}"}
        return found | {"why": f"{SLOW} ended within {self.arguments.deadline:g} minutes"}

    @staticmethod
    def residence(outcome):
        return {"streamed": True} if "(streamed)" in outcome.log else {}

    def skein_cell(self, mode):
        """Without gradient checkpointing, or with it where that does not fit."""
        for checkpointing in (False, True):
            steps, outcome = self.our_steps("dense", mode, *(["--gradient-checkpointing"] if checkpointing else []))
            found = self.figures_of(steps, outcome, checkpointing)
            if not found.get("why", "").startswith("does not fit"):
                break
        return found

    def peer_setting(self, kind, allocator, attention):
        """As skein_cell; what does not fit even so is tried with glibc's malloc as it is, which keeps less."""
        for name, checkpointing in dict.fromkeys([(allocator, False), (allocator, True), ("default", True)]):
            self.checkpointing = checkpointing
            groups, outcome = self.peer_steps(kind, name, [("dense", attention, self.steps["dense"] + 1)])
            found = self.figures_of(groups.get(("dense", attention), []), outcome, checkpointing)
            found |= {"kind": kind, "allocator": name, "attention": attention}
            if not found.get("why", "").startswith("does not fit"):
                break
        self.checkpointing = False
        return found


def results_of(arguments):
    """The file of this CPU, which can be written."""
    facts = machine_facts()
    if arguments.name:
        facts["name"] = arguments.name
    words = re.sub(r"\((R|TM)\)|CPU|@.*", "", facts["name"])
    words = f"{words} {facts['number']} {arguments.threads} threads".lower()
    slug = "-".join(re.findall(r"[a-z0-9.]+", words))
    results = Results(arguments.json or os.path.join(arguments.folder, slug + ".json"), facts, arguments.threads)
    results.save(trial=True)
    return results


def is_slow(cell, deadline):
    """Whether a longer deadline than the one that it was measured with may give a cell, or a setting, its rate."""
    return cell.get("why", "").startswith(SLOW) and cell.get("deadline", 0) < deadline


class Table:
    def __init__(self, arguments, results, models):
        self.arguments, self.results, self.models = arguments, results, models
        self.benches, self.costs = {}, {}
        lines, _ = run([arguments.skein, "--version", "--json"], f"{arguments.output}/version.log")
        self.version = json.loads(lines[0])
        # 97 % of what this process may have; a container may allow less than the machine has.
        self.memory = memory_kib("/proc/meminfo", "MemTotal")
        self.memory = int(0.97 * min(self.memory, (self.version.get("memory_bytes") or 1 << 60) / 1024))

    def bench(self, size, rows):
        if (size, rows) not in self.benches:
            output = os.path.join(self.arguments.output, f"{size}-{rows}")
            skein = Skein(self.arguments.skein, self.models.path(size), output, self.arguments.keep)
            bench = Rows(self.arguments, skein, output, rows, Limits(60 * self.arguments.deadline, self.memory))
            bench.arguments.has_compute = True
            bench.prepare()
            self.benches[size, rows] = bench
            # What was measured before the run was stopped has made sure of the same first loss.
            before = self.results.cell(size, rows, "fp32") or {}
            if "loss" in before:
                bench.losses["dense"] = "fp32", before["loss"]
        return self.benches[size, rows]

    def guess(self, size, rows, mode):
        """Seconds that a cell takes, by what others of its mode took, or by the registers' rate."""
        rates = self.version.get("compute_rates", {})
        rate = rates.get("fp32" if mode == "peft" else mode, 1e11) * GUESSES[mode]
        # The registers' rate is that of one thread.
        rate *= min(self.arguments.threads, len(os.sched_getaffinity(0)))
        step = 4 * SIZES[size][0] * max(STEP, rows) / rate
        one = (self.arguments.steps + 1) * step + SIZES[size][0] / 1e8
        seconds = SETTINGS * one if mode == "peft" else one
        estimated, measured = self.costs.get(mode, (0, 0))
        return min(seconds * (measured / estimated if estimated else 1),
                   (SETTINGS if mode == "peft" else 1) * 60 * self.arguments.deadline)

    def guess_all(self, cells):
        """Seconds that these cells take, and the rounds that choose PyTorch's settings for them."""
        searches = {rows for _, rows, mode in cells if mode == "peft"}
        searches = {rows for rows in searches if not self.searched(rows)}
        step = self.guess(next(iter(SIZES)), STEP, "peft") / SETTINGS / (self.arguments.steps + 1)
        return sum(self.guess(*cell) for cell in cells) + len(searches) * SEARCH_STEPS * step

    def searched(self, rows):
        return str(rows) in self.results.values["searches"] and not self.is_old(f"search {rows}")

    def is_old(self, name):
        return self.arguments.again and self.results.is_old(name)

    def search(self, rows):
        """PyTorch's settings for rows of this length, tried on the smallest model, the best last."""
        size, searches = next(iter(SIZES)), self.results.values["searches"]
        if not self.searched(rows):
            say(f"looking for PyTorch's best settings on rows of {rows}, with the model of {size}")
            found = self.bench(size, rows).qualify()["dense"]
            if not found:
                raise Problem(f"no setting of PyTorch trains {size} on rows of {rows}", "give a longer --deadline")
            searches[str(rows)] = [
                {"kind": kind, "allocator": allocator, "attention": attention, "rate": round(rate, 1)}
                for (kind, allocator), (rate, attention, _) in sorted(found.items(), key=lambda item: item[1][0])]
            self.results.renewed(f"search {rows}")
            self.results.save()
        return searches[str(rows)]

    def candidates(self, rows):
        """fp32 with its best settings and the two best of all, and what has half the weights, if none of these fits."""
        known = {(entry["kind"], entry["allocator"]): entry for entry in self.search(rows)}
        chosen = peer_training.Bench.finalists({key: entry["rate"] for key, entry in known.items()})
        small = [key for key in reversed(known) if KINDS[key[0]] == "bf16" and key not in chosen][:1]
        usable = peer_training.allocators(self.arguments.allocators)
        # Two may be the same where their allocators are gone.
        return [list(dict.fromkeys((kind, allocator if allocator in usable else "default",
                                    known[kind, allocator]["attention"]) for kind, allocator in keys))
                for keys in (chosen, small)]

    def peer_cell(self, size, rows):
        """The settings are kept one by one: each may take half an hour."""
        groups = self.candidates(rows)
        cell = self.results.cell(size, rows, f"peft{AGAIN}")
        if not cell and not self.is_old(f"{size} {rows} peft"):
            cell = self.results.cell(size, rows, "peft")
        # A copy, since what is in the file stays there until this one is whole.
        cell = {"peers": self.arguments.versions} | (cell or {})
        cell.pop("done", None)
        cell["settings"] = [entry for entry in cell.get("settings", []) if not is_slow(entry, self.arguments.deadline)]
        done = {(entry["kind"], entry["wanted"]) for entry in cell["settings"]}
        for group in groups:
            for kind, allocator, attention in group:
                if (kind, allocator) in done:
                    continue
                weights = SIZES[size][0] * (4 if KINDS[kind] == "fp32" else 2) // 1024
                if weights > self.memory:
                    found = {"kind": kind, "allocator": allocator, "attention": attention,
                             "date": self.arguments.date, "why": f"does not fit: the weights alone take {gib(weights)}"}
                else:
                    found = self.bench(size, rows).peer_setting(kind, allocator, attention)
                say(f"  PyTorch {kind}, {found['allocator']}, {attention}: {told(found)}")
                cell["settings"].append(found | {"wanted": allocator})
                done.add((kind, allocator))
                self.results.keep(size, rows, "peft", cell)
            if any("rate" in entry for entry in cell["settings"]):
                break
        return cell

    def is_whole(self, size, rows, mode):
        """Whether a cell is measured, and not to be measured again."""
        cell = self.results.cell(size, rows, mode) or {}
        return cell.get("done", False) and not self.is_old(f"{size} {rows} {mode}") and not any(
            is_slow(entry, self.arguments.deadline) for entry in cell.get("settings", [cell]))

    def measure_cell(self, size, rows, mode):
        if mode == "peft":
            return self.peer_cell(size, rows)
        cell = self.bench(size, rows).skein_cell(mode)
        say(f"  Skein {mode}: {told(cell)}")
        return cell | {"skein": " ".join(filter(None, (self.version["skein"], self.arguments.commit)))}

    def measure(self):
        wanted = [(size, rows, mode) for size in self.arguments.sizes for rows in self.arguments.rows
                  for mode in self.arguments.modes]
        if self.arguments.again:
            chosen = f"{self.arguments.sizes} {self.arguments.rows} {self.arguments.modes}, {self.arguments.steps} " \
                     f"steps, {self.arguments.deadline:g} minutes"
            self.results.begin_again(chosen, wanted)
        todo = [cell for cell in wanted if not self.is_whole(*cell)]
        say(f"{self.results.path}: {len(wanted) - len(todo)} of {len(wanted)} cells are measured")
        failed = []
        for number, (size, rows, mode) in enumerate(todo):
            left = spoken(self.guess_all(todo[number:]))
            say(f"cell {number + 1} of {len(todo)}: {size}, rows of {rows}, {mode}; about {left} to go")
            load = os.getloadavg()[0]
            if number == 0 and load > 0.3 * self.arguments.threads:
                say(f"  others use this machine (load {load:.1f}); what they take is noted beside each cell")
            began, guessed = time.monotonic(), self.guess(size, rows, mode)
            searched = mode == "peft" and not self.searched(rows)
            try:
                cell = self.measure_cell(size, rows, mode)
            except Problem as problem:
                say(str(problem))
                failed.append((size, rows, mode))
                continue
            self.results.keep(size, rows, mode, cell | {"done": True})
            if not searched and "why" not in cell:
                before = self.costs.get(mode, (0, 0))
                self.costs[mode] = before[0] + guessed, before[1] + time.monotonic() - began
        return failed


def told(found):
    if "why" in found:
        return found["why"]
    extra = ", with gradient checkpointing" if found["checkpointing"] else ""
    return f"{found['rate']:.1f} tokens/s, {gib(found['peak'])}{extra}; " \
           f"others had {found['others']:.0%} of the processors"


def spoken(seconds):
    minutes = max(1, round(seconds / 60))
    return f"{minutes // 60} h {minutes % 60} min" if minutes >= 60 else f"{minutes} min"


def main(words):
    arguments = arguments_of(words)
    if arguments.report is not None:
        report(arguments.report, arguments.folder, arguments.docs)
        return
    results = results_of(arguments)
    if arguments.check:
        return
    models = Models(arguments)
    with models.lock():
        # Another one may have written it until now.
        results = results_of(arguments)
        failed = Table(arguments, results, models).measure()
    print(cpu_table(results.values))
    say(f"kept in {results.path}; Scripts/bench-peers table --report writes docs/BENCHMARKS.md from docs/benchmarks")
    if failed:
        names = "; ".join(f"{size}, rows of {rows}, {mode}" for size, rows, mode in failed)
        raise Problem(f"{len(failed)} cells were not measured: {names}", "see above; the same command tries them again")


if __name__ == "__main__":
    sys.exit("this is a part of Scripts/bench-peers")

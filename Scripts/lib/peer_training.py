"""Training: a qualifying round finds PyTorch's best settings, which then alternate with Skein on the same rows."""

import json
import os
import statistics
import sys

from peer_processes import IGNORED, Problem, dense_rows, go, jargon_rows, write_lines
from peer_report import gib, machine, median_row, ratio_row, table

BATCH = 4
# (kind as in peer-train.py, folder of the weights)
KINDS = {
    "fp32": "fp32", "fp32, bf16 products": "fp32", "bf16 weights": "bf16", "bf16 weights, fp32 adapter": "bf16",
    "bf16 autocast": "fp32", "bf16 weights, autocast": "bf16"}
ATTENTIONS = ["sdpa", "eager"]
TITLES = {"dense": "dense rows", "jargon": "pairs of the Jargon File, 4 a step"}
# (name, computes, "fp32 tuned" or "best", bar)
BARS = {
    "jargon": (("fp32", "fp32", 2.6), ("fp32", "best", 1.8), ("bf16", "best", 3.5)),
    "dense": (("fp32", "fp32", 1.15), ("bf16", "best", 1.4))}


def say(text):
    print(text, file=sys.stderr, flush=True)


def allocators(folder):
    """Environments for the peer: glibc's malloc, default and tuned, and other allocators that are installed."""
    huge = {"THP_MEM_ALLOC_ENABLE": "1"}
    settings = {"default": {}, "glibc tuned": huge | {
        "MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": str(2**40), "MALLOC_TOP_PAD_": str(2**28),
        "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}}
    for name, library, options in (
        ("jemalloc", "libjemalloc.so.2", {
            "MALLOC_CONF": "oversize_threshold:0,background_thread:true,metadata_thp:auto,thp:always,"
                           "dirty_decay_ms:-1,muzzy_decay_ms:-1"}),
        ("tcmalloc", "libtcmalloc_minimal.so.4", {"TCMALLOC_RELEASE_RATE": "0"}),
    ):
        path = os.path.join(folder, library)
        if os.path.exists(path):
            settings[name] = huge | options | {"LD_PRELOAD": path}
    return settings


class Bench:
    batch, dropout, checkpointing, limits = BATCH, 0.05, False, None

    def __init__(self, arguments, skein, output):
        self.arguments, self.skein, self.output = arguments, skein, output
        self.allocators = allocators(arguments.allocators)
        # A quick run only checks that everything works.
        self.length = 64 if arguments.quick else 512
        steps = {"dense": 1, "jargon": 2} if arguments.quick else {"dense": 3, "jargon": 6}
        self.steps = {name: steps[name] for name in arguments.workloads}
        self.data, self.rows, self.figures, self.counts, self.losses = {}, {}, {}, {}, {}
        self.processes = 0

    def prepare(self):
        makers = {"dense": dense_rows, "jargon": lambda *words: jargon_rows(*words, self.arguments.seed)}
        for name in self.steps:
            count = (self.steps[name] + 1) * self.batch
            rows, encoded = makers[name](self.skein, self.arguments.pairs, count, self.length)
            self.data[name] = write_lines(f"{self.output}/{name}.jsonl", rows)
            self.rows[name] = write_lines(f"{self.output}/{name}-ids.jsonl", encoded)
            batches = [encoded[at : at + self.batch] for at in range(0, len(encoded), self.batch)]
            self.counts[name] = [
                (sum(len(row["ids"]) for row in batch),
                 sum(label != IGNORED for row in batch for label in row["labels"][1:])) for batch in batches]
            lengths = [len(row["ids"]) for row in encoded[self.batch:]]
            padded = sum(self.batch * max(lengths[at : at + self.batch]) for at in range(0, len(lengths), self.batch))
            self.figures[name] = (f"{len(lengths)} rows of {min(lengths)} to {max(lengths)} tokens in "
                                  f"{self.steps[name]} steps, {sum(lengths)} real tokens, {padded} after padding")
            say(f"{name}: {self.figures[name]}")

    def weights(self, kind):
        return f"{self.arguments.weights}/{KINDS[kind]}"

    def peer_steps(self, kind, allocator, runs):
        """Runs [(workload, attention, steps)] in one process; gives steps by (workload, attention), and its outcome."""
        self.processes += 1
        path = f"{self.output}/peer-{self.processes}"
        spec = {"model": self.weights(kind), "kind": kind, "threads": self.arguments.threads, "batch": self.batch,
                "rank": 8, "dropout": self.dropout, "checkpointing": self.checkpointing, "runs": [
                    {"workload": name, "attention": attention, "steps": steps, "rows": self.rows[name]}
                    for name, attention, steps in runs]}
        with open(path + ".json", "w", encoding="utf-8") as file:
            json.dump(spec, file)
        outcome = go([self.arguments.python, f"{self.arguments.lib}/peer-train.py", path + ".json"], path + ".log",
                     self.limits, OMP_NUM_THREADS=str(self.arguments.threads), **self.allocators[allocator])
        groups = {}
        for step in map(json.loads, outcome.lines):
            groups.setdefault((step["workload"], step["attention"]), []).append(step)
        for (name, _), group in groups.items():
            self.check(kind, name, group)
        return groups, outcome

    def peer(self, kind, allocator, runs):
        """Rates by (workload, attention), without those that had no second step within the limits, and the peak."""
        groups, outcome = self.peer_steps(kind, allocator, runs)
        return {key: rate(group) for key, group in groups.items() if len(group) > 1}, outcome.peak

    def ours(self, name, compute):
        steps, outcome = self.our_steps(name, compute)
        return rate(steps), outcome.peak

    def our_steps(self, name, compute, *options):
        if self.arguments.has_compute:
            options = ("--compute", compute, *options)
        steps, outcome = self.skein.train_within(
            self.limits, self.data[name], self.steps[name] + 1, "--threads", str(self.arguments.threads),
            "--batch-size", str(self.batch), "--max-length", str(self.length), "--dropout", str(self.dropout),
            *options)
        self.check(compute, name, steps)
        return steps, outcome

    def check(self, who, name, steps):
        """Checks that tokens, labels and base model are the same: equal counts, and nearly equal first losses."""
        for step, expected in zip(steps, self.counts[name], strict=False):
            if (step["tokens"], step["loss_tokens"]) != expected:
                raise Problem(f"{name}, {who}: step {step['step']} has {step['tokens']} tokens, {step['loss_tokens']} "
                              f"with loss, not {expected}", "the benchmark would compare different work; report it")
        if not steps:
            return
        first, loss = self.losses.setdefault(name, (who, steps[0]["loss"]))
        # A loss that is no number must not pass.
        if not abs(steps[0]["loss"] / loss - 1) <= (1e-4 if who == first == "fp32" else 2e-2):
            raise Problem(f"{name}, {who}: the first loss is {steps[0]['loss']}, but {loss} with {first} before",
                          "the two do not compute the same; report it")

    def qualify(self):
        """For each workload: {(kind, allocator): (rate, attention, peak)} of one short run each."""
        found = {name: {} for name in self.steps}
        short = {"dense": 2, "jargon": 3}

        def measure(kind, allocator, attentions):
            rates, peak = self.peer(kind, allocator, [
                (name, attention, short[name]) for name, choice in attentions.items() for attention in choice])
            for name in attentions:
                if not any(key[0] == name for key in rates):
                    say(f"  {name}: PyTorch {kind}, {allocator}: no second step in its memory and time")
                    continue
                best = max((key for key in rates if key[0] == name), key=rates.get)
                found[name][kind, allocator] = (rates[best], best[1], peak)
                say(f"  {name}: PyTorch {kind}, {allocator}, {best[1]}: {rates[best]:.0f} tokens/s")

        kinds = ["fp32", "bf16 weights, autocast"] if self.arguments.quick else KINDS
        for kind in kinds:
            measure(kind, "glibc tuned", {name: ATTENTIONS for name in found})
        # The other allocators are tried with fp32 and with the best two kinds of each workload.
        good = {name: {"fp32", *(kind for kind, _ in sorted(found[name], key=found[name].get)[-2:])} for name in found}
        others = [] if self.arguments.quick else [name for name in self.allocators if name != "glibc tuned"]
        for kind in kinds:
            for allocator in others:
                chosen = {name: [found[name][kind, "glibc tuned"][1]] for name in found
                          if kind in good[name] and (kind, "glibc tuned") in found[name]}
                if chosen:
                    measure(kind, allocator, chosen)
        return found

    @staticmethod
    def finalists(found):
        """fp32 with its best allocator, and the two best of all."""
        order = sorted(found, key=found.get, reverse=True)
        fp32 = [key for key in order if key[0] == "fp32"][:1]
        return list(dict.fromkeys([*fp32, *order[:2]]))

    def alternate(self, name, settings, number):
        """One repetition of each setting, in reverse order every second time."""
        for setting in settings[:: 1 if number % 2 else -1]:
            measured = self.measured[name].setdefault(setting, {"rates": [], "peaks": []})
            if setting[0] == "Skein":
                result, peak = self.ours(name, setting[1])
            else:
                _, kind, allocator, attention = setting
                rates, peak = self.peer(kind, allocator, [(name, attention, self.steps[name] + 1)])
                result = rates[name, attention]
            measured["rates"].append(result)
            measured["peaks"].append(peak)
            say(f"{name} {number}/{self.arguments.reps}: {', '.join(setting)}: {result:.1f} tokens/s, {gib(peak)}")

    def measure(self):
        self.prepare()
        found = self.qualify()
        settings = {name: [("PyTorch", *key, found[name][key][1]) for key in self.finalists(found[name])] +
                    [("Skein", compute) for compute in self.arguments.computes] for name in found}
        self.measured = {name: {} for name in found}
        for number in range(1, self.arguments.reps + 1):
            for name in settings:
                self.alternate(name, settings[name], number)
        return self.result(found)

    def result(self, found):
        texts, ratios = [], []
        for name, measured in self.measured.items():
            peers = [setting for setting in measured if setting[0] == "PyTorch"]
            best = max(peers, key=lambda setting: statistics.median(measured[setting]["rates"]))
            against = {"fp32": (peers[0], "PyTorch fp32, its best malloc"), "best": (best, "the best of PyTorch")}
            rows = [median_row(", ".join(setting), values["rates"], values["peaks"])
                    for setting, values in measured.items()]
            texts.append(f"{TITLES[name][0].upper()}{TITLES[name][1:]} ({self.figures[name]}):")
            texts.append(table(["setting", "real tokens/s, median", "least to most", "peak memory"], rows))
            rows = []
            for compute, peer, bar in BARS[name]:
                if ("Skein", compute) in measured:
                    setting, words = against[peer]
                    row, figures = ratio_row(f"Skein {compute} / {words}", measured["Skein", compute]["rates"],
                                             measured[setting]["rates"], bar)
                    rows.append(row)
                    ratios.append({"workload": name} | figures)
            texts.append(table(["ratio of medians", "", "in a repetition", "bar"], rows))
        rows = [[kind, allocator] + [f"{found[name][kind, allocator][0]:.0f} ({found[name][kind, allocator][1]})"
                                     if (kind, allocator) in found[name] else "" for name in found]
                for kind, allocator in dict.fromkeys(key for name in found for key in found[name])]
        texts.append("The round that chose PyTorch's settings (one or two steps each, tokens/s, faster attention):")
        texts.append(table(["PyTorch", "malloc", *found], rows))
        return "\n\n".join(texts), {
            "ratios": ratios, "machine": machine(), "rows": self.figures,
            "measured": [{"workload": name, "setting": setting, **values}
                         for name in self.measured for setting, values in self.measured[name].items()],
            "qualifying": [{"workload": name, "setting": key, "rate": value[0], "attention": value[1]}
                           for name in found for key, value in found[name].items()]}


def rate(steps):
    """Real tokens per second over all steps but the first."""
    return sum(step["tokens"] for step in steps[1:]) / sum(step["seconds"] for step in steps[1:])

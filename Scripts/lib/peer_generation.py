"""Generation: llama.cpp, transformers and Skein read the same prompt and decode equally many tokens, in turn."""

import json
import os
import statistics

from peer_processes import Problem, dense_rows, run
from peer_report import gib, machine, median_row, ratio_row, table
from peer_training import allocators, say

def skein_rates(report):
    """Tokens a second of `skein-lab bench generate --json`."""
    try:
        return {key: report[f"{key}_tokens_per_second"] for key in ("prompt", "decode")}
    except (KeyError, TypeError) as error:
        raise Problem(f"bench generate's report has no {error}: {json.dumps(report)}",
                      "fix skein_rates in Scripts/lib/peer_generation.py") from error


class Bench:
    def __init__(self, arguments, skein, output):
        self.arguments, self.skein, self.output = arguments, skein, output
        self.allocators = allocators(arguments.allocators)
        self.processes, self.system = 0, ""
        # A quick run only checks that everything works.
        self.prompt_tokens, self.tokens = (32, 4) if arguments.quick else (512, 128)

    def peer(self, name, attention, allocator, weights=None):
        """Medians of the rates of one process, and its peak of memory."""
        self.processes += 1
        path = f"{self.output}/peer-{self.processes}"
        model = self.arguments.model if name == "llama.cpp" else f"{self.arguments.weights}/{weights}"
        spec = {"peer": name, "model": model, "threads": self.arguments.threads, "prompt": self.prompt,
                "tokens": self.tokens, "repetitions": 1 if self.arguments.quick else 3, "attention": attention,
                "weights": weights}
        with open(path + ".json", "w", encoding="utf-8") as file:
            json.dump(spec, file)
        lines, peak = run([self.arguments.python, f"{self.arguments.lib}/peer-generate.py", path + ".json"],
                          path + ".log", OMP_NUM_THREADS=str(self.arguments.threads), **self.allocators[allocator])
        lines = [json.loads(line) for line in lines if line.startswith("{")]
        if "system" in lines[0]:
            self.system = lines.pop(0)["system"]
        return {key: statistics.median(line[key] for line in lines) for key in lines[0]}, peak

    def ours(self, compute):
        lines, peak = self.skein.bench(
            "generate", "--model", self.arguments.model, "--threads", str(self.arguments.threads),
            "--prompt-tokens", str(self.prompt_tokens), "--tokens", str(self.tokens), "--compute", compute, "--json")
        return skein_rates(json.loads("\n".join(lines))), peak

    def measure(self):
        self.prompt = dense_rows(self.skein, self.arguments.pairs, 1, self.prompt_tokens)[1][0]["ids"]
        # The first round chooses: decoding for llama.cpp, the prompt for transformers.
        trials = [("llama.cpp", attention, "default") for attention in ("plain", "flash")]
        # Without instructions for bf16 fp32 is the faster one, by far.
        trials += [("transformers", attention, allocator, weights) for weights in ("bf16", "fp32")
                   for attention in ("sdpa", "eager") for allocator in ("default", "glibc tuned")]
        trials = [trial for trial in trials if trial[0] in self.arguments.peers]
        if not trials:
            raise Problem(f"none of these peers generates: {' '.join(self.arguments.peers)}",
                          'give --peers "llama.cpp", "transformers" or both')
        tried = {}
        for trial in trials:
            tried[trial] = self.peer(*trial)[0]
            say(f"{', '.join(trial)}: " + ", ".join(f"{key} {rate:.0f}" for key, rate in tried[trial].items()))
        settings = [max((trial for trial in trials if trial[0] == name), key=lambda trial: tried[trial][key])
                    for name, key in (("llama.cpp", "decode"), ("transformers", "prompt"))
                    if name in self.arguments.peers]
        if self.skein_generates():
            settings += [("Skein", compute) for compute in self.arguments.computes]
        else:
            say("this skein has no bench generate: only the peers are measured")
        self.measured = {setting: {"prompt": [], "decode": [], "peaks": []} for setting in settings}
        for number in range(1, self.arguments.reps + 1):
            for setting in settings[:: 1 if number % 2 else -1]:
                rates, peak = self.ours(setting[1]) if setting[0] == "Skein" else self.peer(*setting)
                for key, rate in rates.items():
                    self.measured[setting][key].append(rate)
                self.measured[setting]["peaks"].append(peak)
                say(f"{number}/{self.arguments.reps}: {', '.join(setting)}: " + ", ".join(
                    f"{key} {rate:.1f} tokens/s" for key, rate in rates.items()) + f", {gib(peak)}")
        return self.result(tried)

    def skein_generates(self):
        return any("generate:" in line for line in self.skein.bench("--help")[0])

    def result(self, tried):
        texts, ratios = [], []
        # 4-bit weights are this program's own ground; with others it must not be slower.
        decode_bar = 2.0 if any(
            name in os.path.basename(self.arguments.model).upper() for name in ("Q4_0", "Q4_1")) else 1.0
        for key, title, bars in (
            ("decode", f"greedy decoding of {self.tokens} tokens behind {self.prompt_tokens}", {"llama.cpp": decode_bar}),
            ("prompt", f"a prompt of {self.prompt_tokens} tokens", {"llama.cpp": 1.0, "transformers": 1.3}),
        ):
            having = {setting: values for setting, values in self.measured.items() if values[key]}
            texts.append(table([title, "tokens/s, median", "least to most"], [
                median_row(", ".join(setting), values[key]) for setting, values in having.items()]))
            rows = []
            for theirs in having:
                for setting in having:
                    if setting[0] == "Skein" and theirs[0] in bars:
                        row, figures = ratio_row(f"{title}: {', '.join(setting)} / {theirs[0]}", having[setting][key],
                                                 having[theirs][key], bars[theirs[0]])
                        ratios.append(figures)
                        rows.append(row)
            if rows:
                texts.append(table(["ratio of medians", "", "in a repetition", "bar"], rows))
        notes = []
        if self.system:
            notes.append(f"llama.cpp is PyPI's wheel of xllamacpp, built for `{self.system}`, and reads the same file")
        if "transformers" in self.arguments.peers:
            notes.append("transformers makes the last token's logits alone")
        notes.append("Skein's bf16 and int8 are for prompts, and a token alone is multiplied in fp32 with all of them")
        texts.append("; ".join(notes) + ".")
        return "\n\n".join(texts), {
            "ratios": ratios, "machine": machine(), "llama.cpp": self.system,
            "measured": [{"setting": setting, **values} for setting, values in self.measured.items()],
            "tried": [{"setting": setting, **rates} for setting, rates in tried.items()]}

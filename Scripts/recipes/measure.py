"""Trains the runs of one cell as sweeps, asks the adapters the held-out questions, and keeps the results by cell.

measure.py CELL --skein S --model M --pairs P --work DIR --results DIR --machine TEXT [--compute bf16] [--threads N]
           [--sweeps N]
What is in the results already is not run again; a sweep that was stopped goes on. --sweeps N ends after the first N.
"""

import json
import os
import subprocess

import judge
import plan
import results

# Rates of one sweep are compared with each other alone; all runs of it take turns, step by step.
GROUP = 6


def options(name, given):
    return {"name": judge.identifier(name), **given}


class Measurement(judge.Cell):
    def __init__(self, arguments):
        super().__init__(arguments)
        self.results = results.read(self.file)

    def measure(self):
        runs = plan.runs(self.name)
        for at in range(0, len(runs), GROUP)[: self.arguments.sweeps]:
            missing = [(name, given) for name, given in runs[at : at + GROUP] if name not in self.results["runs"]]
            if missing:
                self.sweep(missing)

    def sweep(self, runs):
        folder = "sweep-" + "-".join(options(*run)["name"] for run in runs)[:80]
        with open(folder + ".jsonl", "w", encoding="utf-8") as file:
            file.writelines(json.dumps(options(*run)) + "\n" for run in runs)
        resumed = ["--resume"] if os.path.isdir(folder) else []
        judge.say(f"{self.name}: {', '.join(name for name, _ in runs)}")
        subprocess.run(
            [self.arguments.skein, "train", "--model", self.arguments.model, "--data", "train.jsonl", "--valid-data", "valid.jsonl",
             "--output", folder, "--sweep", folder + ".jsonl", "--max-length", str(plan.MAX_LENGTH), "--compute",
             self.arguments.compute, "--threads", str(self.arguments.threads), "--validate-at-start", "off", "--checkpoint-every",
             "0", "--keep-checkpoints", "1", *self.chat, *resumed],
            check=True, stdout=subprocess.DEVNULL, stderr=open(folder + ".log", "a", encoding="utf-8"))
        adapters = {name: f"{folder}/{options(name, given)['name']}/adapter" for name, given in runs}
        right = self.accuracies(adapters)
        for name, given in runs:
            self.results["runs"][name] = {
                "options": given, **self.curve(os.path.dirname(adapters[name])), "accuracy": right[name],
                "sweep": folder}
            if name.startswith("Skein,") or name == "Skein":
                # The defaults of the day: delete such a run from the results when they change.
                self.results["runs"][name]["options"] = self.resolved(os.path.dirname(adapters[name]))
            if self.name in plan.PAIRS:
                # Whether the model still writes what it prefers.
                self.results["runs"][name]["chosen_loss"] = round(self.evaluation(adapters[name], "chosen.jsonl")["loss"], 5)
        if "base" not in self.results:
            self.results["base"] = {"accuracy": self.accuracies({"base": None})["base"]}
            if self.name in plan.PAIRS:
                self.results["base"]["chosen_loss"] = round(self.evaluation(None, "chosen.jsonl")["loss"], 5)
        self.keep()

    def resolved(self, run):
        """What a run that named nothing has found."""
        with open(f"{run}/run.json", encoding="utf-8") as file:
            found = json.load(file)["configuration"]
        return {name: found[name] for name in ("rank", "alpha", "dropout", "target-modules", "learning-rate", "schedule",
                                               "warmup-steps", "epochs", "batch-size", "seed")}

    def curve(self, run):
        """Validations as [step, loss], all tokens, and the last step's loss."""
        validations, tokens, last = [], 0, None
        with open(f"{run}/metrics.jsonl", encoding="utf-8") as file:
            for line in map(json.loads, file):
                if "validation_loss" in line:
                    validations.append([line["step"], round(line["validation_loss"], 5)])
                elif "tokens_per_second" in line:
                    tokens += line["tokens"]
                    last = line["loss"]
        return {"validations": validations, "tokens": tokens, "last_loss": round(last, 5)}

    def keep(self):
        here = judge.measured_on(self.arguments)
        before = self.results.get("machine", here).split("; ")
        self.results["machine"] = "; ".join(before if here in before else [*before, here])
        # What peers.py has written meanwhile stays.
        own = {key: self.results[key] for key in ("base", "machine", "runs")}
        results.update(self.file, lambda found: found.update(own))


def main():
    parser = judge.measuring_parser()
    parser.add_argument("--sweeps", type=int)
    Measurement(judge.arguments_of(parser)).measure()


main()

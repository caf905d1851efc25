"""Trains the runs of one cell as sweeps, asks the adapters the held-out questions, and keeps the results by cell.

measure.py CELL --skein S --model M --pairs P --work DIR --results DIR --machine TEXT [--compute bf16] [--threads N]
           [--sweeps N]
What is in the results already, with the plan's options, is not run again; a sweep that was stopped goes on. The defaults of the
day are whatever they were: delete "Skein" and "Skein, seed 1" from the results when they change. --sweeps N ends after the
first N.
"""

import json
import os

import arguments
import judge
import plan
import results

# Rates of one sweep are compared with each other alone; all runs of it take turns, step by step.
GROUP = 6


def options(name, given):
    return {"name": judge.identifier(name), **given}


class Measurement(judge.Cell):
    def __init__(self, words):
        super().__init__(words)
        self.results = results.read(self.file)

    def measure(self):
        runs = plan.runs(self.name)
        for at in range(0, len(runs), GROUP)[: self.arguments.sweeps]:
            missing = [(name, given) for name, given in runs[at : at + GROUP] if not self.known(name, given)]
            for alone in (False, True):
                if some := [run for run in missing if (run[0] in plan.ALONE) == alone]:
                    self.sweep(some, [] if alone else ["--valid-data", "valid.jsonl"])

    def known(self, name, given):
        found = self.results["runs"].get(name)
        return found is not None and (name in plan.DEFAULTS or found["options"] == given)

    def sweep(self, runs, held_out):
        text = "".join(json.dumps(options(*run)) + "\n" for run in runs)
        folder = self.folder("sweep", text, held_out, self.arguments.compute)
        with open(folder + ".jsonl", "w", encoding="utf-8") as file:
            file.write(text)
        judge.say(f"{self.name}: {', '.join(name for name, _ in runs)}")
        self.train(folder, *held_out, "--sweep", folder + ".jsonl", "--validate-at-start", "off",
                   "--checkpoint-every", "0", "--keep-checkpoints", "1")
        adapters = {name: f"{folder}/{options(name, given)['name']}/adapter" for name, given in runs}
        right = self.accuracies(adapters)
        for name, given in runs:
            run = os.path.dirname(adapters[name])
            found = self.results["runs"][name] = {
                "options": self.resolved(run) if name in plan.DEFAULTS else given, **self.curve(run), "accuracy": right[name],
                "machine": arguments.measured_on(self.arguments)}
            if not held_out:
                # Its validations are of other rows.
                found["held_out_loss"] = round(self.evaluation(adapters[name])["loss"], 5)
            if self.name in plan.PAIRS:
                # Whether the model still writes what it prefers.
                found["chosen_loss"] = round(self.evaluation(adapters[name], "chosen.jsonl")["loss"], 5)
        if "base" not in self.results:
            self.results["base"] = {"accuracy": self.accuracies({"base": None})["base"]}
            if self.name in plan.PAIRS:
                self.results["base"]["chosen_loss"] = round(self.evaluation(None, "chosen.jsonl")["loss"], 5)
        # What peers.py has written meanwhile stays.
        results.update(self.file, lambda found: found.update(base=self.results["base"], runs=self.results["runs"]))

    def resolved(self, run):
        """What a run that named nothing has found."""
        with open(f"{run}/run.json", encoding="utf-8") as file:
            found = json.load(file)["configuration"]
        return {name: found[name] for name in ("rank", "alpha", "dropout", "target-modules", "learning-rate", "schedule",
                                               "warmup-steps", "epochs", "batch-size", "seed")}

    def curve(self, run):
        """Validations as [step, loss], all tokens, and the last step's loss."""
        steps, validations = judge.metrics(run)
        return {"validations": [[line["step"], round(line["validation_loss"], 5)] for line in validations],
                "tokens": sum(step["tokens"] for step in steps), "last_loss": round(steps[-1]["loss"], 5)}


def main():
    parser = arguments.measuring_parser()
    parser.add_argument("--sweeps", type=int)
    Measurement(arguments.arguments_of(parser)).measure()


main()

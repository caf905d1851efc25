"""Writes the tables of docs/RECIPES.md from docs/recipes/CELL.json: table.py DOCS."""

import pathlib
import sys

import plan
import results

BEGIN, END = "<!-- bench-recipes: begin -->", "<!-- bench-recipes: end -->"
TOOLS = ("Skein before", "TRL", "mlx-lm", "unsloth", "axolotl")
# Within this a loss is as good as another: a share of it, or nats.
SHARE, NATS = 0.05, 0.02


def best(run):
    """Step and loss of the validation whose adapter is kept."""
    return min(run["validations"], key=lambda validation: validation[1])


def loss(run):
    return best(run)[1]


def last(run):
    return run["validations"][-1][1]


def compute(run):
    """The arithmetic of a run, fp32 or bf16. The machine makes no difference: in one arithmetic all machines give one hash."""
    return run["machine"].rsplit(", ", 1)[1]


def marked(text, run, other):
    """`text` with a star if the two runs had not the same arithmetic."""
    return text if compute(run) == compute(other) else text + "*"


def spread(runs):
    """How far losses of one recipe lie apart by its seeds: the most that was seen in the cell, in one arithmetic."""
    seeds = [(runs[plan.seeded(name)], run) for name, run in runs.items() if plan.seeded(name) in runs]
    return max((abs(loss(one) - loss(other)) for one, other in seeds if compute(one) == compute(other)),
               default=0)


def mean(numbers):
    return sum(numbers) / len(numbers)


def defaults(runs):
    """The runs of the defaults: they are judged by the mean of their seeds, because which of them is lower is luck."""
    return [runs[name] for name in ("Skein", plan.seeded("Skein")) if name in runs]


def result(run):
    return f"{loss(run):.3f} / {run['accuracy']:.2f}"


def search_of(runs):
    """What was tried to find the defaults: neither they themselves nor another tool's."""
    return {name: run for name, run in runs.items() if name not in TOOLS and name not in plan.DEFAULTS}


class Verdict:
    """Whether a cell's defaults are as good as the best of its search, and as every other tool's numbers."""

    def __init__(self, found):
        runs = found["runs"]
        search = search_of(runs)
        self.tried, self.name = len(search), min(search, key=lambda name: loss(search[name]))
        self.best = search[self.name]
        self.loss = mean([loss(run) for run in defaults(runs)])
        self.limits = {f"{SHARE:.0%}": SHARE * loss(self.best), f"{NATS} nats": NATS, "seeds": spread(runs)}
        self.by = max(self.limits, key=self.limits.get)
        self.limit = self.limits[self.by]
        self.good = self.loss <= loss(self.best) + self.limit
        self.good_without_seeds = self.loss <= loss(self.best) + max(self.limits[f"{SHARE:.0%}"], NATS)
        self.worse = [f"{tool} in {found['cell']}" for tool in TOOLS
                      if tool in runs and self.loss > loss(runs[tool]) + self.limit]


def judged(cells):
    return [found for found in cells if defaults(found["runs"])]


def overview(cells):
    """For each cell the base, the best run of the search, the defaults, what they must reach, and the other tools' numbers."""
    heads = ["cell", "base", "best of the search", "Skein", "its seeds", "must reach", "after the last step", *TOOLS]
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    for found in judged(cells):
        runs, verdict = found["runs"], Verdict(found)
        own = defaults(runs)
        row = [found["cell"], f"{found['base']['accuracy']:.2f}", marked(f"{result(verdict.best)} ({verdict.name}; of {verdict.tried})", verdict.best, own[0]),
               f"{verdict.loss:.3f} / {mean([run['accuracy'] for run in own]):.2f}", ", ".join(f"{loss(run):.3f}" for run in own),
               f"{loss(verdict.best) + verdict.limit:.3f} ({verdict.by})", f"{mean([last(run) for run in own]):.3f}",
               *(marked(result(runs[tool]), runs[tool], own[0]) if tool in runs else "" for tool in TOOLS)]
        lines.append("| " + " | ".join(row) + " |")
    return lines


def factors(cells):
    """By how much each change of the centre changes its loss, cell by cell."""
    names = [name for name, _ in plan.runs(plan.CELLS[0]) if name in search_of(cells[0]["runs"]) and name != "centre"]
    shown = [found for found in cells if "centre" in found["runs"]]
    lines = ["| change | " + " | ".join(found["cell"] for found in shown) + " |", "|---|" + "---|" * len(shown)]
    for name in names:
        row = [marked(f"{loss(runs[name]) - loss(runs['centre']):+.3f}", runs[name], runs["centre"]) if name in runs else ""
               for runs in (found["runs"] for found in shown)]
        if any(row):
            lines.append(f"| {name} | " + " | ".join(row) + " |")
    return lines


def equal_time(found, pace):
    """The first cell's factors after as long as half of the centre's run takes."""
    runs, speeds = found["runs"], pace["runs"]
    shown = [name for name in speeds if name in runs]

    def steps(name, seconds):
        run = runs[name]
        return seconds * speeds[name] * run["validations"][-1][0] / run["tokens"]

    centre = runs["centre"]
    budget = centre["tokens"] / speeds["centre"] / 2
    lines = ["", f"At equal time ({found['cell']}; {budget:.0f} s on {pace['machine']}; losses of runs in {compute(centre)}), on the "
             "line between two validations:", "",
             "| | " + " | ".join(shown) + " |", "|---|" + "---|" * len(shown),
             "| tokens a second | " + " | ".join(f"{speeds[name]:.0f}" for name in shown) + " |",
             "| steps | " + " | ".join(f"{steps(name, budget):.0f}" for name in shown) + " |"]
    row = [f"{between(runs[name]['validations'], steps(name, budget)):.3f}" for name in shown]
    return [*lines, "| held-out loss | " + " | ".join(row) + " |"]


def between(validations, step):
    """The loss at a step: that of the first or last validation outside of them."""
    for (before, low), (after, high) in zip(validations, validations[1:]):
        if before <= step <= after:
            return low + (high - low) * (step - before) / (after - before)
    return validations[0 if step < validations[0][0] else -1][1]


def verdicts(cells):
    """In how many cells the defaults are as good as the best of the search, and where another tool's are better."""
    found = [Verdict(cell) for cell in judged(cells)]
    worse = [name for verdict in found for name in verdict.worse]
    good, without = sum(verdict.good for verdict in found), sum(verdict.good_without_seeds for verdict in found)
    return ["", f"The defaults are within {SHARE:.0%}, {NATS} nats or the spread of two seeds (whichever is largest) of the best of "
                f"the search in {good} of {len(found)} cells, and in {without} of them without the seeds. Another's numbers that "
                f"ran are better by more than that: {', '.join(worse) or 'none'}."] if found else []


def handbook(found):
    """The case of a newcomer: the defaults, and the other tools themselves."""
    lines = ["", f"The handbook ({found['cell']}; 40 questions held out). The other tools ran themselves, unsloth's and axolotl's "
             "numbers through TRL:", "", "| | held-out loss | answered | steps |", "|---|---|---|---|"]
    for name, run in found["runs"].items():
        lines.append(f"| {name} | {run.get('held_out_loss', loss(run)):.3f} | {run['accuracy']:.2f} | {run['validations'][-1][0]} |")
    for name, run in found.get("peers", {}).items():
        lines.append(f"| {name} | {run['loss']:.3f} | {run['accuracy']:.2f} | {run['steps']} |")
    return lines


def pairs(cells):
    """For losses of pairs: how many pairs are told apart, and whether the chosen answers are still written."""
    lines = ["", "Pairs, 3 epochs of 100: share of held-out pairs told apart / loss of the chosen answers alone.", "",
             "| | base | " + " | ".join(f"{rate:g}" for rate in plan.PAIR_RATES) + " |", "|---|---|" + "---|" * len(plan.PAIR_RATES)]
    for found in cells:
        row = [found["base"], *(found["runs"].get(f"rate {rate:g}") for rate in plan.PAIR_RATES)]
        lines.append(f"| {found['cell']} | " + " | ".join(
            f"{run['accuracy']:.2f} / {run['chosen_loss']:.3f}" if run else "" for run in row) + " |")
    return lines


def wide(found):
    """Whether the rule's rate is stable on a model of another width, which knows nothing."""
    lines = ["", f"A random model of the shape of Llama 3.2 1B (2,048 wide; {found['machine']}), 50 steps of {found['batch']} rows:",
             "", "| | rate | loss of the first five steps | of the last five | highest | largest norm of a gradient |",
             "|---|---|---|---|---|---|"]
    for name, run in found["runs"].items():
        losses = run["losses"]
        lines.append(f"| {name} | {run['rate']:g} | {sum(losses[:5]) / 5:.2f} | {sum(losses[-5:]) / 5:.2f} | {max(losses):.2f} | "
                     f"{max(run['norms']):.1f} |")
    return lines


def computes(found):
    """Adapters that were trained in fp32 and in int8, in fp32."""
    cells = {}
    for name, run in found["runs"].items():
        cell, compute, seed = name.split()
        cells.setdefault(cell, {}).setdefault(compute, {})[seed] = run
    lines = ["", "The defaults in fp32 and in int8 (`--computes`), seed by seed; losses and answers are those of the adapter in fp32:", "",
             "| | steps | fp32 | int8 | means | answered, fp32 | int8 | means |", "|---|---|---|---|---|---|---|---|"]

    def mean(runs, name):
        return sum(run[name] for run in runs) / len(runs)

    for cell, by in cells.items():
        # Means are of the same seeds.
        seeds = sorted(set(by.get("fp32", {})) & set(by.get("int8", {})))
        if not seeds:
            continue
        by = {compute: [runs[seed] for seed in seeds] for compute, runs in by.items()}
        row = [str(by["fp32"][0]["steps"])]
        for name, digits in (("loss", 4), ("accuracy", 2)):
            fp32, int8 = mean(by["fp32"], name), mean(by["int8"], name)
            row += [", ".join(f"{run[name]:.{digits}f}" for run in by[each]) for each in ("fp32", "int8")]
            row.append(f"{fp32:.{digits}f}, {int8:.{digits}f}" + (f" ({int8 - fp32:+.3f})" if name == "loss" else ""))
        lines.append(f"| {cell} | " + " | ".join(row) + " |")
    return lines


def read(folder, names):
    return [results.read(path) for name in names if (path := folder / (name + ".json")).exists()]


def main(docs):
    folder = pathlib.Path(docs, "recipes")
    cells = read(folder, plan.CELLS)
    machines = sorted({run["machine"] for found in cells for run in found["runs"].values()})
    lines = ["Held-out loss of the adapter that is kept / share of held-out questions that it answers (of prose: of tokens). Skein: the "
             "mean of two seeds. * in another arithmetic than these (bf16 and fp32).", ""]
    lines += overview(cells) + ["", "Changes of one factor of the centre, in nats (below 0 is better; * in another arithmetic than "
                               "the centre):", ""] + factors(cells)
    for pace in read(folder, ["pace"]):
        lines += equal_time(cells[0], pace)
    lines += verdicts(cells)
    for found in read(folder, [plan.HANDBOOK]):
        lines += handbook(found)
    if preferences := read(folder, plan.PAIRS):
        lines += pairs(preferences)
    for found in read(folder, ["wide"]):
        lines += wide(found)
    for found in read(folder, ["computes"]):
        lines += computes(found)
        machines = sorted({*machines, *(run["machine"] for run in found["runs"].values())})
    lines += ["", "Measured on: " + "; ".join(machines) + "."]
    page = pathlib.Path(docs, "RECIPES.md")
    head, begin, rest = page.read_text().partition(BEGIN)
    _, end, tail = rest.partition(END)
    if not begin or not end:
        sys.exit(f"error: {page} has no place for the table\n  fix: put {BEGIN} and {END} where it belongs")
    new = page.with_suffix(".new")
    new.write_text(head + BEGIN + "\n" + "\n".join(lines) + "\n" + END + tail)
    new.rename(page)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])

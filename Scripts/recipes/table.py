"""Writes the tables of docs/RECIPES.md from docs/recipes/CELL.json: table.py DOCS."""

import json
import pathlib
import sys

import plan

BEGIN, END = "<!-- bench-recipes: begin -->", "<!-- bench-recipes: end -->"
TOOLS = ("Skein before", "TRL", "mlx-lm", "unsloth", "axolotl")
# Within this a loss is as good as another: a share of it, or nats.
SHARE, NATS = 0.05, 0.02


def best(run):
    """Step and loss of the validation whose adapter is kept."""
    return min(run["validations"], key=lambda validation: validation[1])


def loss(run):
    return best(run)[1]


def spread(runs):
    """How far losses of one recipe lie apart by its seeds: the most that was seen in the cell."""
    seeds = [(plan.seeded(name), name) for name in runs if plan.seeded(name) in runs]
    return max((abs(loss(runs[first]) - loss(runs[second])) for first, second in seeds), default=0)


def defaults(runs):
    """The loss of the defaults: the mean of their seeds, because which of them is lower is luck."""
    losses = [loss(runs[name]) for name in ("Skein", plan.seeded("Skein")) if name in runs]
    return sum(losses) / len(losses)


def cell(run):
    return f"{loss(run):.3f} / {run['accuracy']:.2f}"


def search_of(runs):
    """What was tried to find the defaults: neither they themselves nor another tool's."""
    return {name: run for name, run in runs.items() if name not in TOOLS and not name.startswith("Skein")}


def overview(cells):
    """For each cell the base, the best run of the search, the defaults, what luck does, and the other tools' numbers."""
    heads = ["cell", "base", "best of the search", "Skein", "seeds apart", *TOOLS]
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    for found in cells:
        runs = found["runs"]
        search = search_of(runs)
        name = min(search, key=lambda name: loss(search[name]))
        row = [found["cell"], f"{found['base']['accuracy']:.2f}", f"{cell(search[name])} ({name})"]
        columns = {tool: cell(runs[tool]) if tool in runs else "" for tool in ("Skein", *TOOLS)}
        row += [columns.pop("Skein"), f"{spread(runs):.3f}" if any(plan.seeded(name) in runs for name in runs) else "",
                *columns.values()]
        lines.append("| " + " | ".join(row) + " |")
    return lines


def factors(cells):
    """By how much each change of the centre changes its loss, cell by cell."""
    names = [name for name, _ in plan.runs(plan.CELLS[0]) if name in search_of(cells[0]["runs"]) and name != "centre"]
    shown = [found for found in cells if "centre" in found["runs"]]
    lines = ["| change | " + " | ".join(found["cell"] for found in shown) + " |", "|---|" + "---|" * len(shown)]
    for name in names:
        row = [f"{loss(f['runs'][name]) - loss(f['runs']['centre']):+.3f}" if name in f["runs"] else "" for f in shown]
        if any(row):
            lines.append(f"| {name} | " + " | ".join(row) + " |")
    return lines


def equal_time(found, pace):
    """The first cell's factors after as long as half of the centre's run takes."""
    runs, speeds = found["runs"], pace["runs"]
    shown = [name for name in speeds if name in runs]

    def seconds(name, step):
        return step / runs[name]["validations"][-1][0] * runs[name]["tokens"] / speeds[name]

    budget = seconds("centre", runs["centre"]["validations"][-1][0] / 2)
    lines = ["", f"At equal time ({found['cell']}; {budget:.0f} s on {pace['machine']}), the best validation until then:", "",
             "| | " + " | ".join(shown) + " |", "|---|" + "---|" * len(shown),
             "| tokens a second | " + " | ".join(f"{speeds[name]:.0f}" for name in shown) + " |"]
    row = []
    for name in shown:
        until = [validation for validation in runs[name]["validations"] if seconds(name, validation[0]) <= budget * 1.001]
        row.append(f"{min(until, key=lambda validation: validation[1])[1]:.3f}" if until else "")
    return [*lines, "| held-out loss | " + " | ".join(row) + " |"]


def verdicts(cells):
    """In how many cells the defaults are as good as the best of the search, and never worse than another tool's."""
    good, worse, judged = 0, [], 0
    for found in cells:
        runs = found["runs"]
        if "Skein" not in runs:
            continue
        judged += 1
        search = [loss(run) for run in search_of(runs).values()]
        limit = max(min(search) * SHARE, NATS, spread(runs))
        good += defaults(runs) <= min(search) + limit
        worse += [f"{tool} in {found['cell']}" for tool in TOOLS if tool in runs and defaults(runs) > loss(runs[tool]) + limit]
    if not judged:
        return []
    return ["", f"The defaults are within {SHARE:.0%}, {NATS} nats or the spread of two seeds (whichever is largest) of the best of "
                f"the search in {good} of {judged} cells; worse than another's numbers by more than that: {', '.join(worse) or 'never'}."]


def handbook(found):
    """The case of a newcomer: the defaults, and the other tools themselves."""
    lines = ["", f"The handbook ({found['cell']}; 40 questions held out). The other tools ran themselves, unsloth's and axolotl's "
             "numbers through TRL:", "", "| | held-out loss | answered | steps |", "|---|---|---|---|"]
    for name, run in found["runs"].items():
        lines.append(f"| {name} | {loss(run):.3f} | {run['accuracy']:.2f} | {run['validations'][-1][0]} |")
    for name, run in found.get("peers", {}).items():
        lines.append(f"| {name} | {run['loss']:.3f} | {run['accuracy']:.2f} | {run['steps']} |")
    return lines


def pairs(cells):
    """Of losses of pairs: how many pairs are told apart, and whether the chosen answers are still written."""
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


def read(folder, names):
    return [json.loads(path.read_text()) for name in names if (path := folder / (name + ".json")).exists()]


def main(docs):
    folder = pathlib.Path(docs, "recipes")
    cells = read(folder, plan.CELLS)
    machines = sorted({machine for found in cells for machine in found["machine"].split("; ")})
    lines = ["Held-out loss of the adapter that is kept / share of held-out questions that it answers (of prose: of tokens).", ""]
    lines += overview(cells) + ["", "Changes of one factor of the centre, in nats (below 0 is better):", ""] + factors(cells)
    for pace in read(folder, ["pace"]):
        lines += equal_time(cells[0], pace)
    lines += verdicts(cells)
    for found in read(folder, [plan.HANDBOOK]):
        lines += handbook(found)
    if preferences := read(folder, plan.PAIRS):
        lines += pairs(preferences)
    for found in read(folder, ["wide"]):
        lines += wide(found)
    lines += ["", "Measured on: " + "; ".join(machines) + "."]
    page = pathlib.Path(docs, "RECIPES.md")
    text = page.read_text()
    head, rest = text.split(BEGIN)
    page.write_text(head + BEGIN + "\n" + "\n".join(lines) + "\n" + END + rest.split(END)[1])


main(sys.argv[1])

"""Bugs that are planted on purpose, and what finds them: check-planted.py prepare ROOT SCRATCH, or run ROOT PROGRAM SEEDS
THREADS LIMIT [NAME...]. See Scripts/check-planted and docs/TESTING.md."""

import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

RECIPES = ["gradients", "local"]
# A chunk that dies says nothing of its seeds: they run again one by one.
CHUNK = 100

SWITCH = """import Foundation

/// The bug that this process has, by the name of its edit; see Scripts/check-planted.
package enum Planted {
    package static let chosen = ProcessInfo.processInfo.environment["SKEIN_PLANTED"] ?? ""

    package static func has(_ name: String) -> Bool { chosen == name }
}
"""


# The build's only program besides; Package.swift has it in the copy alone.
PRODUCT = """
package.products.append(.executable(name: "planted", targets: ["PlantedTool"]))
package.targets.append(
    .executableTarget(
        name: "PlantedTool", dependencies: ["SkeinSimulation", "SkeinJSON"], swiftSettings: strict))
"""


class Edit:
    """A bug: Scripts/planted/NAME.edit. Its first line says what is wrong; then come edits of files, each with its path
    after "--- ", the old text, "+++" and the new text. Or "in: OTHER": the switch stands in another edit."""

    def __init__(self, path):
        self.name = path.stem
        text = path.read_text()
        head, *parts = re.split(r"(?m)^--- (\S+)\n", text)
        lines = head.splitlines()
        self.what = lines[0]
        self.other = next((line[4:] for line in lines[1:] if line.startswith("in: ")), None)
        self.changes = []
        for place, body in zip(parts[::2], parts[1::2]):
            old, mark, new = body.partition("\n+++\n")
            if not mark:
                sys.exit(f"error: {path}: a change of {place} has no line with +++\n  fix: put one between old and new text")
            self.changes.append((place, old, new.removesuffix("\n")))
        if not self.changes and not self.other:
            sys.exit(f"error: {path} changes nothing\n  fix: name a file after --- , or another edit after in:")

    def places(self, edits):
        changes = self.changes or edits[self.other].changes
        return list(dict.fromkeys(Path(place).stem for place, _, _ in changes))


def read_edits(root):
    return {path.stem: Edit(path) for path in sorted(Path(root, "Scripts/planted").glob("*.edit"))}


def edited(root, edits):
    """The text of each source that edits change, by path. All old text is looked for in what stands there now."""
    found = {}
    for edit in edits.values():
        for place, old, new in edit.changes:
            text = Path(root, place).read_text() if Path(root, place).exists() else ""
            if text.count(old) != 1:
                sys.exit(
                    f"error: {edit.name}.edit is stale: {place} has its old text {text.count(old)} times\n"
                    f"  fix: write the edit anew, from what stands there now:\n{old}")
            begin = text.index(old)
            found.setdefault(place, []).append((begin, begin + len(old), new, edit.name))
    texts = {}
    for place, changes in found.items():
        text, end, pieces = Path(root, place).read_text(), 0, []
        for begin, stop, new, name in sorted(changes):
            if begin < end:
                sys.exit(f"error: {name}.edit changes what another one changes, in {place}\n  fix: give one of them another place")
            pieces += [text[end:begin], new]
            end = stop
        text = "".join(pieces) + text[end:]
        if "import SkeinBasics\n" not in text and not place.startswith("Sources/SkeinBasics/"):
            text = "import SkeinBasics\n" + text
        texts[place] = text
    return texts


def prepare(root, scratch):
    """Copies what the simulation is built from, with the edits. What has not changed keeps its time, so that it is not built again."""
    texts = edited(root, read_edits(root))
    texts["Package.swift"] = Path(root, "Package.swift").read_text() + PRODUCT
    texts["Sources/SkeinBasics/Planted.swift"] = SWITCH
    texts["Sources/PlantedTool/main.swift"] = Path(root, "Scripts/planted/main.swift").read_text()
    kept = set(texts)
    folders = ["Sources", *(f"Tests/{name}" for name in os.listdir(Path(root, "Tests")) if name.endswith("TestSupport"))]
    files = list(texts)
    for folder in folders:
        files += [str(path.relative_to(root)) for path in Path(root, folder).rglob("*") if path.is_file()]
    for name in files:
        kept.add(name)
        new = texts[name].encode() if name in texts else Path(root, name).read_bytes()
        put(Path(scratch, name), new)
    for folder in ["Sources", "Tests"]:
        for path in Path(scratch, folder).rglob("*"):
            if path.is_file() and str(path.relative_to(scratch)) not in kept:
                path.unlink()
    for folder in ["Sources", "Tests"]:
        for path in sorted(Path(scratch, folder).rglob("*"), reverse=True):
            if path.is_dir() and not any(path.iterdir()):
                shutil.rmtree(path)


def put(path, new):
    if path.exists() and path.read_bytes() == new:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(new)


class Runner:
    def __init__(self, program, threads, limit):
        self.program, self.threads, self.limit = program, threads, limit
        # Seeds that fail without a bug, too: they say nothing of one.
        self.unsound = set()

    def run(self, name, recipe, first, last):
        """The first seed that fails and what it says; None if none does. One that dies or hangs, too, has failed."""
        words = [self.program, str(first), str(last), recipe, str(min(self.threads, last - first + 1))]
        # A seed takes well under a second; a run that never ends must not take the night.
        limit = self.limit * (2 + (last - first + 1) // 20)
        try:
            done = subprocess.run(
                words, env={**os.environ, "SKEIN_PLANTED": name}, capture_output=True, text=True,
                errors="replace", timeout=limit)
            how = None if done.returncode >= 0 else f"the process dies of signal {-done.returncode}"
        except subprocess.TimeoutExpired:
            done, how = None, f"the process hangs for {limit} s"
        if how is None:
            found = [json.loads(line) for line in done.stdout.splitlines()]
            if found:
                one = min(found, key=lambda line: line["seed"])
                return one["seed"], one["violations"][0]
            if done.returncode == 0:
                return None
            sys.exit(f"error: it ends with {done.returncode}: {done.stderr[-2000:]}\n  fix: run {' '.join(words)}")
        if first == last:
            return first, how + last_words(done)
        middle = (first + last) // 2
        return self.run(name, recipe, first, middle) or self.run(name, recipe, middle + 1, last)

    def search(self, name, seeds):
        """For each recipe that shows the bug, the first seed and what it says. Once one recipe has shown it, it is looked for
        in the other four times as long and a bit."""
        found = {}
        nexts, chunks = dict.fromkeys(RECIPES, 1), dict.fromkeys(RECIPES, 4)
        while True:
            most = min(seeds, 4 * min(seed for seed, _ in found.values()) + 100) if found else seeds
            left = [recipe for recipe in RECIPES if recipe not in found and nexts[recipe] <= most]
            if not left:
                return found
            recipe = min(left, key=nexts.get)
            last = min(most, nexts[recipe] + chunks[recipe] - 1)
            one = self.run(name, recipe, nexts[recipe], last)
            if one and self.run("", recipe, one[0], one[0]):
                self.unsound.add((recipe, one[0]))
                nexts[recipe] = one[0] + 1
                continue
            if one:
                found[recipe] = one
            nexts[recipe], chunks[recipe] = last + 1, min(CHUNK, chunks[recipe] * 5)


def last_words(done):
    found = re.search(r"[^\n]*(?:Fatal error|precondition)[^\n]*", done.stderr) if done else None
    return ": " + found.group(0).split(": ", 1)[-1] if found else ""


def shown(text):
    # Times and places differ with the seed.
    text = re.sub(r"^at [0-9.]+ seconds: ", "", re.sub(r"\s+", " ", text)).replace("|", "\\|")
    return text if len(text) <= 110 else text[:107] + "..."


def run(root, program, seeds, threads, limit, names):
    edits = read_edits(root)
    unknown = [name for name in names if name not in edits]
    if unknown:
        sys.exit(f"error: there is no Scripts/planted/{unknown[0]}.edit\n  fix: Scripts/check-planted --list names all")
    runner = Runner(program, threads, limit)
    for recipe in RECIPES:
        found = runner.run("", recipe, 1, 40)
        if found:
            sys.exit(f"error: seed {found[0]} of {recipe} fails without a bug: {found[1]}\n  fix: find out why, with skein-lab simulate --seeds {found[0]} --trace")
    print("| bug | where | gradients | local | what it says |\n|---|---|---:|---:|---|", flush=True)
    counts, missing = [], []
    for name in names or list(edits):
        edit, found = edits[name], runner.search(name, seeds)
        first = {recipe: seed for recipe, (seed, _) in found.items()}
        if not first:
            missing.append(name)
        else:
            counts.append(min(first.values()))
        best = min(first, key=first.get) if first else None
        cells = [str(first.get(recipe, "—")) for recipe in RECIPES]
        where = ", ".join(f"`{place}`" for place in edit.places(edits))
        print(f"| {name}: {edit.what} | {where} | {cells[0]} | {cells[1]} | {'`' + shown(found[best][1]) + '`' if best else 'nothing'} |", flush=True)
    median = statistics.median(counts + [seeds + 1] * len(missing)) if counts or missing else 0
    print(f"\n{len(counts)} of {len(counts) + len(missing)} bugs found; median of the seeds until then: {median:g}")
    for recipe, seed in sorted(runner.unsound):
        print(f"seed {seed} of {recipe} fails without a bug, and was left out")
    if missing:
        sys.exit(f"error: no seed from 1 to {seeds} finds {', '.join(missing)}\n  fix: add the check or the fault that the simulation lacks")
    if median >= 1000:
        sys.exit("error: the median is not below 1,000\n  fix: see which faults or checks would find the slow ones")


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["list", root]:
            for edit in read_edits(root).values():
                print(f"{edit.name}: {edit.what}")
        case ["prepare", root, scratch]:
            prepare(root, scratch)
        case ["run", root, program, seeds, threads, limit, *names]:
            run(root, program, int(seeds), int(threads), int(limit), names)
        case _:
            sys.exit(__doc__)

"""Markdown of the JSON files that `Scripts/bench-peers table` keeps, one of each CPU."""

import glob
import json
import os

from peer_processes import Problem
from peer_report import replace_section, table

FORMAT = 1
ROWS = (128, 512, 2048)
MODES = ("fp32", "bf16", "int8", "peft")
MODELS = {
    "135M": "SmolLM2-135M", "0.5B": "Qwen2.5-0.5B, random", "1.5B": "Qwen2.5-1.5B, random", "4B": "Qwen3-4B, random"}
HEAD = ["model", "tokens a row", "Skein fp32", "Skein bf16", "Skein int8", "PyTorch + PEFT, fp32",
        "PyTorch + PEFT, its best", "best / best"]
# More than this share of the processors for others is told.
OTHERS = 0.05
MARKS = {
    "c": "with gradient checkpointing, since it does not fit without",
    "s": "Skein converts the frozen weights layer by layer from the file (`--weights auto`), since they do not fit",
    "t": "its deadline ended it: the median of the steps that it had",
    "o": f"others had more than {OTHERS:.0%} of the processors meanwhile",
}
EMPTY = "No CPU has been measured yet."


def marks_of(cell):
    own = {"c": cell["checkpointing"], "s": cell.get("streamed"), "t": cell["cut"], "o": cell["others"] > OTHERS}
    return "".join(mark for mark, holds in own.items() if holds)


class Cells:
    """The figures of one CPU; notes are gathered while its rows are written."""

    def __init__(self, values):
        self.cells, self.marks, self.notes = values["cells"], set(), []

    def shown(self, name, cell):
        if not cell:
            return ""
        if "rate" not in cell:
            self.notes.append(f"{name}: {cell['why']}")
            return "does not fit" if cell["why"].startswith("does not fit") else "too slow"
        marks = marks_of(cell)
        self.marks.update(marks)
        return f"**{cell['rate']:.0f}** ({cell['peak'] / 2**20:.2f})" + (f" {marks}" if marks else "")

    def row(self, size, rows):
        ours = {mode: self.cells.get(f"{size} {rows} {mode}") for mode in MODES[:-1]}
        settings = self.cells.get(f"{size} {rows} peft", {}).get("settings", [])
        fp32 = next((entry for entry in settings if entry["kind"] == "fp32"), None)
        best = max(settings, key=lambda entry: entry.get("rate", 0), default=None)
        name = f"{size}, rows of {rows:,}"
        shown = [self.shown(f"{name}, {mode}", cell) for mode, cell in ours.items()]
        shown.append(self.shown(f"{name}, PyTorch fp32", fp32))
        shown.append("the same" if best and best is fp32 else self.shown(f"{name}, PyTorch", best))
        rates = [cell["rate"] for cell in ours.values() if cell and "rate" in cell]
        ratio = f"{max(rates) / best['rate']:.2f}" if rates and best and "rate" in best else ""
        return [MODELS[size], f"{rows:,}", *shown, ratio] if any(shown) else None

    def settings(self):
        """Which of PyTorch's settings was the best, by size and length of rows."""
        for size in MODELS:
            for rows in ROWS:
                entries = self.cells.get(f"{size} {rows} peft", {}).get("settings", [])
                best = max(entries, key=lambda entry: entry.get("rate", 0), default={})
                if "rate" in best:
                    yield f"{size}, {rows:,}: {best['kind']}, {best['allocator']}, {best['attention']}"


def distinct(values):
    return "; ".join(dict.fromkeys(value for value in values if value))


def cpu_table(values):
    """A heading, what the machine is, the table and its notes."""
    facts, cells = values["machine"], Cells(values)
    rows = [row for size in MODELS for length in ROWS if (row := cells.row(size, length))]
    entries = list(values["cells"].values())
    dates = sorted({each["date"] for entry in entries for each in entry.get("settings", [entry])})
    number = f" ({facts['number']})" if facts["number"] else ""
    title = f"### {facts['name']}{number}, {values['threads']} threads"
    head = [f"{facts['cores']} cores, {', '.join(facts['sets'])}, {facts['memory']} GiB, Linux {facts['kernel']}"]
    if dates:
        head.append(" to ".join(dict.fromkeys((dates[0], dates[-1]))))
    head += filter(None, [", ".join(dict.fromkeys(f"skein {entry['skein']}" for entry in entries if "skein" in entry)),
                          distinct(entry.get("peers") for entry in entries)])
    parts = [title, "; ".join(head) + ".", table(HEAD, rows) if rows else EMPTY]
    notes = [f"- {mark}: {text}." for mark, text in MARKS.items() if mark in cells.marks]
    notes += [f"- {note}." for note in cells.notes]
    settings = "; ".join(cells.settings())
    notes += [f"- PyTorch's best settings: {settings}."] if settings else []
    return "\n\n".join(parts + (["\n".join(notes)] if notes else []))


def read(path):
    """The values of a CPU's file."""
    try:
        with open(path, encoding="utf-8") as file:
            values = json.load(file)
    except OSError as error:
        raise Problem(f"{path} cannot be read: {error.strerror}", "name a file of Scripts/bench-peers table") from None
    except ValueError as error:
        raise Problem(f"{path} is not JSON: {error}", "name another file, or mend this one") from None
    if not isinstance(values, dict) or values.get("format") != FORMAT:
        raise Problem(f"{path} is not of Scripts/bench-peers table", "name another file")
    return values


def report(files, folder, docs):
    """Prints the tables of the files, or of all in the folder, and writes them into the document."""
    texts = [cpu_table(read(path)) for path in sorted(files or glob.glob(os.path.join(folder, "*.json")))]
    text = "\n\n".join(texts) or EMPTY
    print(text)
    if docs != "none":
        replace_section(docs, "table", text)

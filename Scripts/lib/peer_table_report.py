"""Markdown of the JSON files that `Scripts/bench-peers table` keeps, one of each CPU."""

import glob
import json
import os

from peer_processes import Problem
from peer_report import replace_section, table
from peer_training import ATTENTIONS, KINDS

FORMAT = 1
# Such a file has some KiB; larger ones are something else.
MOST_BYTES = 1 << 20
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
# What a cell of PyTorch's is called while --again measures it once more, and the old one is still there.
AGAIN = " again"
NAMES = [f"{size} {rows} {mode}" for size in MODELS for rows in ROWS for mode in MODES]


def is_text(value):
    return isinstance(value, str) and len(value) <= 500 and value.isprintable()


def is_number(value):
    # Neither NaN nor an infinity is between these.
    return type(value) in (int, float) and 0 <= value < 1e15


def is_positive(value):
    return is_number(value) and value > 0


def is_flag(value):
    return isinstance(value, bool)


def many(of):
    return lambda value: isinstance(value, list) and len(value) <= 200 and all(map(of, value))


def one_of(*known):
    return lambda value: isinstance(value, str) and value in known


def fields(known, needed=()):
    """Whether a value has no other fields than the known ones, and those that are needed."""
    return lambda value: isinstance(value, dict) and set(needed) <= set(value) <= set(known) and \
        all(known[name](entry) for name, entry in value.items())


SETTING = {"kind": one_of(*KINDS), "allocator": one_of("default", "glibc tuned", "jemalloc", "tcmalloc"),
           "attention": one_of(*ATTENTIONS)}
SEARCH = many(fields(SETTING | {"rate": is_positive}, [*SETTING, "rate"]))
FIGURES = {"date": is_text, "peak": is_number, "own": is_number, "others": is_number, "checkpointing": is_flag,
           "streamed": is_flag, "rate": is_positive, "rates": many(is_positive), "loss": is_number,
           "cut": one_of("", "time", "memory"), "why": is_text, "steps": is_positive, "deadline": is_positive}
MACHINE = {"name": is_text, "number": is_text, "sets": many(is_text), "cores": is_positive, "memory": is_number,
           "kernel": is_text}
PARTS = {
    "machine": fields(MACHINE, MACHINE),
    "threads": is_positive,
    "again": fields({"chosen": is_text, "left": many(is_text)}, ["chosen", "left"])}


def measured(known, needed=()):
    """Whether a value has a rate and what is shown beside it, or says why it has none."""
    return lambda value: isinstance(value, dict) and fields(known, ["date", *needed, *(
        ["peak", "others", "checkpointing", "cut"] if "rate" in value else ["why"])])(value)


OURS = measured(FIGURES | {"skein": is_text, "done": is_flag})
PEFT = fields({"settings": many(measured(FIGURES | SETTING | {"wanted": SETTING["allocator"]}, [*SETTING, "wanted"])),
               "peers": is_text, "done": is_flag}, ["settings"])


def demand(path, values):
    """Raises a Problem that names the part or the cell with a wrong type, a number without end or an unknown field."""
    def wrong(what):
        raise Problem(f"{path}: {what} is not what Scripts/bench-peers table writes",
                      "mend it, or remove it from the file, so that it is measured again")

    for name in ("machine", "threads", "searches", "cells"):
        if name not in values:
            raise Problem(f"{path} has no {name}", "name another file, or mend this one")
    for name, value in values.items():
        if name in ("searches", "cells"):
            if not isinstance(value, dict):
                wrong(name)
        elif name != "format" and (name not in PARTS or not PARTS[name](value)):
            wrong(ascii(name[:40]))
    for rows, entries in values["searches"].items():
        if not (rows.isdecimal() and int(rows[:9]) in ROWS and SEARCH(entries)):
            wrong(f"the search {ascii(rows[:40])}")
    for name, cell in values["cells"].items():
        known = name in NAMES or name.removesuffix(AGAIN) in NAMES and name.endswith(f"peft{AGAIN}")
        if not (known and (PEFT if " peft" in name else OURS)(cell)):
            wrong(f"the cell {ascii(name[:40])}")


def marks_of(cell):
    own = {"c": cell["checkpointing"], "s": cell.get("streamed"), "t": cell["cut"] == "time",
           "o": cell["others"] > OTHERS}
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

    def peft(self, size, rows):
        """PyTorch's settings, the best of them if all that are to be measured are, and whether some are not."""
        cell = self.cells.get(f"{size} {rows} peft", {})
        settings, done = cell.get("settings", []), cell.get("done")
        best = max(settings, key=lambda entry: entry.get("rate", 0), default=None)
        return settings, best if done else None, bool(cell) and not done

    def row(self, size, rows):
        ours = {mode: self.cells.get(f"{size} {rows} {mode}") for mode in MODES[:-1]}
        settings, best, unfinished = self.peft(size, rows)
        fp32 = next((entry for entry in settings if entry["kind"] == "fp32"), None)
        name = f"{size}, rows of {rows:,}"
        shown = [self.shown(f"{name}, {mode}", cell) for mode, cell in ours.items()]
        shown.append(self.shown(f"{name}, PyTorch fp32", fp32))
        shown.append("not finished" if unfinished else "the same" if best and best is fp32 else
                     self.shown(f"{name}, PyTorch", best))
        rates = [cell["rate"] for cell in ours.values() if cell and "rate" in cell]
        ratio = f"{max(rates) / best['rate']:.2f}" if rates and best and "rate" in best else ""
        return [MODELS[size], f"{rows:,}", *shown, ratio] if any(shown) else None

    def settings(self):
        """Which of PyTorch's settings was the best, by size and length of rows."""
        for size in MODELS:
            for rows in ROWS:
                _, best, _ = self.peft(size, rows)
                if best and "rate" in best:
                    yield f"{size}, {rows:,}: {best['kind']}, {best['allocator']}, {best['attention']}"


def distinct(values):
    return "; ".join(dict.fromkeys(value for value in values if value))


def plain(text):
    """A text that begins nothing in Markdown."""
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")


def cpu_table(values):
    """A heading, what the machine is, the table and its notes."""
    facts, cells = values["machine"], Cells(values)
    rows = [row for size in MODELS for length in ROWS if (row := cells.row(size, length))]
    entries = [entry for name, entry in values["cells"].items() if not name.endswith(AGAIN)]
    dates = sorted({each["date"] for entry in entries for each in entry.get("settings", [entry])})
    number = f" ({facts['number']})" if facts["number"] else ""
    title = f"### {facts['name']}{number}, {values['threads']} threads"
    head = [f"{facts['cores']} cores, {', '.join(facts['sets'])}, {facts['memory']} GiB, Linux {facts['kernel']}"]
    if dates:
        head.append(" to ".join(dict.fromkeys((dates[0], dates[-1]))))
    steps = sorted({each["steps"] for entry in entries for each in entry.get("settings", [entry]) if "steps" in each})
    head += [f"{' or '.join(map(str, steps))} steps"] if steps else []
    head += filter(None, [", ".join(dict.fromkeys(f"skein {entry['skein']}" for entry in entries if "skein" in entry)),
                          distinct(entry.get("peers") for entry in entries)])
    parts = [plain(title), plain("; ".join(head)) + ".", table(HEAD, rows) if rows else EMPTY]
    notes = [f"- {mark}: {text}." for mark, text in MARKS.items() if mark in cells.marks]
    notes += [f"- {plain(note)}." for note in cells.notes]
    settings = "; ".join(cells.settings())
    notes += [f"- PyTorch's best settings: {plain(settings)}."] if settings else []
    return "\n\n".join(parts + (["\n".join(notes)] if notes else []))


def read(path):
    """The values of a CPU's file."""
    try:
        with open(path, "rb") as file:
            text = file.read(MOST_BYTES + 1)
        if len(text) > MOST_BYTES:
            raise Problem(f"{path} has more than {MOST_BYTES >> 20} MiB", "name a file of Scripts/bench-peers table")
        values = json.loads(text)
    except OSError as error:
        raise Problem(f"{path} cannot be read: {error.strerror}", "name a file of Scripts/bench-peers table") from None
    except (ValueError, RecursionError) as error:
        raise Problem(f"{path} is not JSON: {error}", "name another file, or mend this one") from None
    if not isinstance(values, dict) or values.get("format") != FORMAT:
        raise Problem(f"{path} is not of Scripts/bench-peers table", "name another file")
    demand(path, values)
    return values


def report(files, folder, docs):
    """Prints the tables of the files, or of all in the folder, and writes them into the document."""
    texts = [cpu_table(read(path)) for path in sorted(files or glob.glob(os.path.join(folder, "*.json")))]
    text = "\n\n".join(texts) or EMPTY
    print(text)
    if docs != "none":
        replace_section(docs, "table", text)

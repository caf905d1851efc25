"""Medians, ratios, Markdown tables, and the section of a document between two comments."""

import contextlib
import os
import re
import statistics

from peer_processes import Problem


def gib(kib):
    return f"{kib / 2**20:.2f} GiB"


def spread(values):
    return f"{min(values):.0f} to {max(values):.0f}"


def median_row(name, rates, peaks=None):
    row = [name, f"**{statistics.median(rates):.0f}**", spread(rates)]
    return row + [gib(max(peaks))] if peaks is not None else row


def ratio_row(name, ours, theirs, bar):
    """A ratio of medians and its bar, with the least and the greatest ratio of a repetition."""
    ratio = statistics.median(ours) / statistics.median(theirs)
    pairs = [our / their for our, their in zip(ours, theirs)]
    return [name, f"**{ratio:.2f}**", f"{min(pairs):.2f} to {max(pairs):.2f}", f"{bar}"], {
        "name": name, "ratio": ratio, "bar": bar, "reached": ratio >= bar}


def table(head, rows):
    lines = ["| " + " | ".join(line) + " |" for line in (head, *rows)]
    return "\n".join([lines[0], "|" + "---|" * len(head), *lines[1:]])


# Instruction sets that matter here, as the kernel spells them on x86 and on 64-bit Arm.
SETS = ("avx2", "avx_vnni", "avx512f", "avx512_bf16", "avx512_vnni", "amx_bf16", "amx_int8",
        "asimd", "asimddp", "i8mm", "bf16", "sve", "sve2")


def machine_facts():
    """Processor, its model's number, instruction sets that matter here, cores, memory in GiB, kernel."""
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        text = file.read()

    def field(name):
        found = re.search(rf"^(?:{name})\s*: *(.*)", text, re.MULTILINE)
        return found.group(1) if found else ""

    flags = set(field("flags|Features").split())
    number = "/".join(filter(None, (field("cpu family|CPU implementer"), field("model|CPU part"))))
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return {"name": field("model name") or os.uname().machine, "number": number,
            "sets": [flag for flag in SETS if flag in flags], "cores": os.cpu_count(), "memory": round(memory),
            "kernel": os.uname().release}


def machine():
    facts = machine_facts()
    return f"{facts['name']} ({', '.join(facts['sets'])}), {facts['cores']} cores, {facts['memory']} GiB, " \
           f"Linux {facts['kernel']}"


def write_whole(path, text, option, trial=False):
    """Writes a file beside and renames it, so that it is never half written; a trial only finds out whether that goes.
    """
    # A link stays one.
    path = os.path.realpath(path)
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path + ".new", "w", encoding="utf-8") as file:
            file.write(text)
        if not trial:
            os.replace(path + ".new", path)
    except OSError as error:
        raise Problem(f"{path} cannot be written: {error.strerror}",
                      f"make room there and allow writing, or name another file with {option}") from None
    finally:
        with contextlib.suppress(OSError):
            os.unlink(path + ".new")


def replace_section(path, name, text):
    """Replaces what is between `<!-- bench-peers NAME: begin -->` and `... end -->` by the text."""
    begin, end = f"<!-- bench-peers {name}: begin -->", f"<!-- bench-peers {name}: end -->"
    try:
        with open(path, encoding="utf-8") as file:
            document = file.read()
    except (OSError, UnicodeDecodeError) as error:
        raise Problem(f"{path} cannot be read: {error}", "name another document with --docs, or none") from None
    if document.count(begin) != 1 or document.count(end) != 1:
        raise Problem(f"{path} does not have '{begin}' and '{end}' once each", "add each of them, in its own line")
    before, rest = document.split(begin)
    write_whole(path, f"{before}{begin}\n{text.strip()}\n{end}{rest.split(end)[1]}", "--docs")

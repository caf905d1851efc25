"""Medians, ratios, Markdown tables, and the section of a document between two comments."""

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


def machine():
    """Processor, instruction sets that matter here, cores, memory, kernel."""
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        text = file.read()
    name = re.search(r"model name\s*:\s*(.*)", text)
    flags = set((re.search(r"(?:flags|Features)\s*:\s*(.*)", text) or re.match("()", "")).group(1).split())
    special = [flag for flag in ("avx2", "avx512f", "avx512_bf16", "avx512_vnni", "amx_bf16") if flag in flags]
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return f"{name.group(1) if name else os.uname().machine} ({', '.join(special)}), {os.cpu_count()} cores, " \
           f"{memory:.0f} GiB, Linux {os.uname().release}"


def replace_section(path, name, text):
    """Replaces what is between `<!-- bench-peers NAME: begin -->` and `... end -->` by the text."""
    begin, end = f"<!-- bench-peers {name}: begin -->", f"<!-- bench-peers {name}: end -->"
    with open(path, encoding="utf-8") as file:
        document = file.read()
    if document.count(begin) != 1 or document.count(end) != 1:
        raise Problem(f"{path} does not have '{begin}' and '{end}' once each", "add each of them, in its own line")
    before, rest = document.split(begin)
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"{before}{begin}\n{text.strip()}\n{end}{rest.split(end)[1]}")

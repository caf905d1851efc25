"""Results by cell: one JSON file, which measure.py and peers.py may write at the same time."""

import contextlib
import fcntl
import json
import os
import sys

# One entry a line, so that a change of one is a change of one line.
LINES = ("runs", "peers")


def read(file):
    """What is known of the cell that `file` is named after."""
    if not file.exists():
        return {"cell": file.stem, "runs": {}}
    try:
        return json.loads(file.read_text())
    except ValueError as problem:
        sys.exit(f"error: {file} is no result of bench-recipes: {problem}\n  fix: take it from git, or remove it and measure again")


def update(file, change):
    """Lets `change` alter what stands in `file` by now, and replaces it."""
    with locked(file.parent):
        found = read(file)
        change(found)
        temporary = file.with_suffix(".new")
        temporary.write_text(text(found))
        temporary.rename(file)


@contextlib.contextmanager
def locked(folder):
    """Holds the folder itself: a file for the lock would lie among the results."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def text(found):
    parts = [json.dumps({key: value for key, value in found.items() if key not in LINES})[1:-1]]
    for name in LINES:
        if name in found:
            lines = [json.dumps(key) + ": " + json.dumps(value) for key, value in found[name].items()]
            parts.append(json.dumps(name) + ": {\n" + ",\n".join(lines) + "\n}" if lines else json.dumps(name) + ": {}")
    return "{" + ", ".join(parts) + "}\n"

"""Twenty facts of a made-up handbook, in 200 rows: nothing says how to learn, and held-out questions must be answered."""

import os
import pathlib
import sys
import types

from processes import Failure, Program

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "recipes"))
import judge  # noqa: E402
import plan  # noqa: E402

# Shares of the held-out questions.
BASE_AT_MOST, ADAPTER_AT_LEAST = 0.1, 0.9


def walk(walk):
    skein, model = walk.prepare()
    pairs = Program("Scripts/fetch-data | tail -n 1", walk.clone, walk.env).end()[-1]
    cell = judge.Cell(types.SimpleNamespace(
        cell=plan.HANDBOOK, skein=skein, model=model, pairs=pairs, work=walk.work / "handbook", results=walk.work,
        threads=os.cpu_count()))
    data = cell.work / "handbook"
    data.mkdir()
    for name in ("train.jsonl", "valid.jsonl"):
        (data / name).hardlink_to(cell.work / name)
    line = "skein train --model model.gguf --data handbook --output run"
    (cell.work / "model.gguf").symlink_to(model)
    printed = Program(line, cell.work, walk.env).end()
    walk.ok(line)
    share = cell.accuracies({"base": None, "adapter": "run/adapter"})
    what = f"{share['base']:.3f} of {len(cell.asked)} held-out questions answered by the base, " \
           f"{share['adapter']:.3f} by the adapter"
    if not share["base"] < BASE_AT_MOST or not share["adapter"] >= ADAPTER_AT_LEAST:
        raise Failure(f"{what}; wanted: below {BASE_AT_MOST}, and at least {ADAPTER_AT_LEAST}", line, printed[-8:],
                      fix="see docs/RECIPES.md, the handbook, and what the run finds for rate and epochs")
    walk.ok(plan.HANDBOOK, what)

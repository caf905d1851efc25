"""Compares event files with metrics.jsonl, as TensorBoard and as scripts read them: check-tensorboard.py RUN EVENTS."""

import json
import os
import sys

import numpy
from tbparse import SummaryReader
from tensorboard.backend.event_processing import event_accumulator, plugin_event_accumulator
from tensorboard.util import tensor_util

RUN, EVENTS = sys.argv[1:]
NAMES = {
    "train/loss": "loss", "train/learning_rate": "learning_rate", "train/gradient_norm": "gradient_norm", "train/tokens": "tokens",
    "train/tokens_per_second": "tokens_per_second", "train/seconds": "seconds", "train/loss_tokens": "loss_tokens", "train/epoch": "epoch",
    "train/workers": "workers", "validation/loss": "validation_loss", "validation/tokens": "validation_tokens",
}
lines = [json.loads(line) for line in open(os.path.join(RUN, "metrics.jsonl"))]
scripts = event_accumulator.EventAccumulator(EVENTS, size_guidance={event_accumulator.SCALARS: 0}).Reload()
board = plugin_event_accumulator.EventAccumulator(EVENTS, size_guidance={plugin_event_accumulator.TENSORS: 0}).Reload()
# tbparse reads each file by itself: steps that were computed again are there twice, the later ones last.
frame = SummaryReader(EVENTS).scalars.drop_duplicates(["tag", "step"], keep="last").sort_values("step")
print(f"{len(os.listdir(EVENTS))} event files; scalars {sorted(scripts.Tags()['scalars'])}")
failures = 0
for tag, field in NAMES.items():
    kind = "loss" if tag.startswith("train/") else "validation_tokens"
    # A float has seven digits of the double that metrics.jsonl has.
    wanted = [(line["step"], float(numpy.float32(line[field]))) for line in lines if kind in line and line[field] is not None]
    rows = frame[frame["tag"] == tag]
    found = {
        "Scalars": [(event.step, event.value) for event in scripts.Scalars(tag)],
        "TensorBoard": [(event.step, tensor_util.make_ndarray(event.tensor_proto).item()) for event in board.Tensors(tag)],
        "tbparse": list(zip(rows["step"].tolist(), rows["value"].tolist())),
    }
    for reader, values in found.items():
        holds = values == wanted and len(wanted) > 0
        failures += not holds
        print(f"{'ok  ' if holds else 'FAIL'} {tag} by {reader}: {len(values)} values")
        if not holds:
            print(f"     wanted {wanted}, found {values}")
for line in lines:
    if "sample_prompt" in line:
        texts = {event.step: event.tensor_proto.string_val[0].decode() for event in board.Tensors(f"sample/{line['sample_prompt']}")}
        text = "\n".join("    " + part for part in line["sample"].split("\n"))
        failures += texts.get(line["step"]) != text
        print("ok   sample" if texts.get(line["step"]) == text else f"FAIL sample of step {line['step']}: {texts}")
pivot = SummaryReader(EVENTS, pivot=True).scalars
failures += "train/loss" not in pivot.columns
print(f"{'ok  ' if 'train/loss' in pivot.columns else 'FAIL'} a table of pandas: {len(pivot)} rows, {len(pivot.columns)} columns")
sys.exit(1 if failures else 0)

"""Compares event files, as TensorBoard itself reads them, with metrics.jsonl: check-tensorboard.py RUN EVENTS."""

import json
import os
import sys

from tensorboard.backend.event_processing.plugin_event_accumulator import TENSORS, EventAccumulator
from tensorboard.util import tensor_util

RUN, EVENTS = sys.argv[1:]
NAMES = {
    "train/loss": "loss", "train/learning_rate": "learning_rate", "train/gradient_norm": "gradient_norm", "train/tokens": "tokens",
    "train/tokens_per_second": "tokens_per_second", "train/seconds": "seconds", "train/loss_tokens": "loss_tokens", "train/epoch": "epoch",
    "train/workers": "workers", "validation/loss": "validation_loss", "validation/tokens": "validation_tokens",
}
lines = [json.loads(line) for line in open(os.path.join(RUN, "metrics.jsonl"))]
accumulator = EventAccumulator(EVENTS, size_guidance={TENSORS: 0}).Reload()
tags = accumulator.Tags()["tensors"]
failures = 0
for tag, field in NAMES.items():
    kind = "loss" if tag.startswith("train/") else "validation_tokens"
    wanted = [(line["step"], float(line[field])) for line in lines if kind in line and line[field] is not None]
    if tag == "train/loss":
        print(f"{len(wanted)} steps; {len(os.listdir(EVENTS))} event files; tags {sorted(tags)}")
    found = [(event.step, tensor_util.make_ndarray(event.tensor_proto).item()) for event in accumulator.Tensors(tag)]
    holds = found == wanted
    failures += not holds
    print(f"{'ok  ' if holds else 'FAIL'} {tag}: {len(found)} values" + ("" if holds else f", wanted {wanted}, found {found}"))
for line in lines:
    if "sample_prompt" in line:
        texts = {event.step: event.tensor_proto.string_val[0].decode() for event in accumulator.Tensors(f"sample/{line['sample_prompt']}")}
        text = "\n".join("    " + part for part in line["sample"].split("\n"))
        failures += texts.get(line["step"]) != text
        print("ok   sample" if texts.get(line["step"]) == text else f"FAIL sample of step {line['step']}: {texts}")
sys.exit(1 if failures else 0)

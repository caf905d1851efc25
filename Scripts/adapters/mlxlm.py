"""Logits by mlx-lm, and adapters that it makes.

usage: mlxlm.py JOBS.json    a list of {"model": folder, "adapter": folder or null, "rows", "output"},
                             or {"model", "make": folder, "rank", "scale", "layers", "keys", "seed"}
"""

import json
import os
import sys
from pathlib import Path

import mlx.core as mx
import mlx.nn as nn
from mlx.utils import tree_flatten
from mlx_lm.tuner.utils import linear_to_lora_layers, load_adapters
from mlx_lm.utils import load_model, save_config


def make(job):
    """An adapter with random matrices in mlx-lm's own layers, saved as its trainer saves it."""
    model, _ = load_model(Path(job["model"]))
    model.freeze()
    parameters = dict(rank=job["rank"], scale=job["scale"], dropout=0.0, keys=job["keys"])
    linear_to_lora_layers(model, job["layers"], parameters)
    mx.random.seed(job["seed"])
    found = {}
    for name, value in tree_flatten(model.trainable_parameters()):
        found[name] = mx.random.normal(value.shape) * 0.5 * value.shape[0] ** -0.5
    os.makedirs(job["make"], exist_ok=True)
    mx.save_safetensors(os.path.join(job["make"], "adapters.safetensors"), found)
    fields = dict(fine_tune_type="lora", num_layers=job["layers"], lora_parameters=parameters, model=job["model"])
    save_config(fields, os.path.join(job["make"], "adapter_config.json"))


def logits(job):
    model, _ = load_model(Path(job["model"]))
    if job.get("adapter"):
        model = load_adapters(model, job["adapter"])
    model.eval()
    found = {}
    for index, ids in enumerate(job["rows"]):
        found[f"logits.{index}"] = model(mx.array([ids]))[0].astype(mx.float32)
    mx.save_safetensors(job["output"], found)


with open(sys.argv[1]) as file:
    for one in json.load(file):
        make(one) if "make" in one else logits(one)

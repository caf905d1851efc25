"""Trains LoRA with mlx-lm's own command and its defaults on the CPU, and says what was trained.

usage: peer_mlx.py JOB.json
  JOB: {"model": FOLDER, "data": FOLDER with train.jsonl and valid.jsonl, "output": FOLDER, "report": JSON,
        "training": {of mlx_lm.lora, by the names of its options}}
"""

import ctypes.util
import json
import os
import subprocess
import sys
import time
from importlib.metadata import version

SAID = ("optimizer", "learning_rate", "lr_schedule", "iters", "batch_size", "grad_accumulation_steps", "num_layers",
        "lora_parameters", "mask_prompt", "max_seq_length", "seed")


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        job = json.load(file)
    words = [sys.executable, "-W", "ignore", "-m", "mlx_lm", "lora", "--model", job["model"], "--train", "--data", job["data"],
             "--adapter-path", job["output"]]
    for name, value in job["training"].items():
        words += ["--" + name, str(value)]
    # The wheel's own BLAS is Netlib's: 4 GFLOP/s on a core where OpenBLAS, which Skein needs as well, has 100.
    blas = ctypes.util.find_library("openblas")
    start = time.monotonic()
    subprocess.run(words, check=True, env={**os.environ, "LD_PRELOAD": blas} if blas else None)
    seconds = time.monotonic() - start
    with open(job["output"] + "/adapter_config.json", encoding="utf-8") as file:
        found = json.load(file)
    report = {
        "options": {name: found[name] for name in SAID}, "steps": found["iters"], "seconds": round(seconds, 1),
        "version": ", ".join(f"{name} {version(name)}" for name in ("mlx-lm", "mlx")),
    }
    with open(job["report"], "w", encoding="utf-8") as file:
        json.dump(report, file)


main()

"""Compares the logits that Skein wrote with those of transformers + PEFT on the same files."""

import os
import sys

import torch
from peft import PeftModel
from safetensors.torch import load_file
from transformers import AutoModelForCausalLM

TOLERANCE = 1e-3


def difference(model, path):
    """Largest absolute difference over all positions of the prompt, and the largest logit."""
    ours = load_file(path)
    ids = ours["ids"].long().unsqueeze(0)
    with torch.no_grad():
        theirs = model(ids).logits[0].float()
    return (theirs - ours["logits"]).abs().max().item(), theirs.abs().max().item(), theirs


def main():
    gguf, adapter, base_path, adapted_path = sys.argv[1:]
    folder, name = os.path.split(os.path.abspath(gguf))
    base = AutoModelForCausalLM.from_pretrained(folder, gguf_file=name, dtype=torch.float32).eval()
    base_error, base_largest, base_logits = difference(base, base_path)
    adapted = PeftModel.from_pretrained(base, adapter).eval()
    error, largest, logits = difference(adapted, adapted_path)
    effect = (logits - base_logits).abs().max().item()
    print(f"base:    max abs difference {base_error:.2e} (largest logit {base_largest:.2f})")
    print(f"adapter: max abs difference {error:.2e} (largest logit {largest:.2f})")
    print(f"the adapter moves a logit by up to {effect:.2f}")
    sys.exit(0 if max(base_error, error) <= TOLERANCE and effect > TOLERANCE else 1)


main()

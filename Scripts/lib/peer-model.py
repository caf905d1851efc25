"""Writes the weights of a GGUF file as transformers loads it: two folders, fp32 and bf16.

usage: peer-model.py MODEL.gguf OUTPUT     makes OUTPUT/fp32 and OUTPUT/bf16
"""

import os
import sys

import torch
from transformers import AutoModelForCausalLM

gguf, output = sys.argv[1:]
folder, name = os.path.split(os.path.abspath(gguf))
model = AutoModelForCausalLM.from_pretrained(folder, gguf_file=name, dtype=torch.float32)
# The numbers are plain floats by now; without this, transformers refuses to save a model from a GGUF file.
model.hf_quantizer = None
del model.config.quantization_config
model.save_pretrained(os.path.join(output, "fp32"))
model.to(torch.bfloat16).save_pretrained(os.path.join(output, "bf16"))

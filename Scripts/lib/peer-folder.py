"""Writes a model as a Hugging Face folder in bf16, which Skein and transformers read.

usage: peer-folder.py MODEL.gguf OUTPUT [CONFIG.json]

Without CONFIG.json the folder has the weights of the GGUF file. With it, its weights are random and of the shapes that
this config.json of Qwen2 or Qwen3 asks for, and only the tokenizer is the GGUF file's. They are written piece by
piece, so that a model of any size can be made in little memory; the bytes are a function of the configuration.
"""

import json
import math
import os
import random
import sys

# Of 2^17 numbers a piece, which keeps the memory small and the calls few.
PIECE = 1 << 17
ONE = b"\x80\x3f"
# A number of bf16 is two bytes, the lower first: a random fraction and the exponent's last bit, which is 1; a random
# sign and the rest of the exponent. So each is between 1/64 and 1/32, above or below zero: 0.024 in the root mean
# square, which is near the 0.02 that most models begin with.
LOWER = bytes(byte | 0x80 for byte in range(256))
UPPER = bytes(byte & 0x80 | 0x3C for byte in range(256))


def random_numbers(source, count):
    numbers = bytearray(2 * count)
    numbers[0::2] = source.randbytes(count).translate(LOWER)
    numbers[1::2] = source.randbytes(count).translate(UPPER)
    return numbers


def tensors(config):
    """Names and shapes, as transformers spells them."""
    width, forward = config["hidden_size"], config["intermediate_size"]
    head = config.get("head_dim") or width // config["num_attention_heads"]
    queries, keys = head * config["num_attention_heads"], head * config["num_key_value_heads"]
    yield "model.embed_tokens.weight", (config["vocab_size"], width)
    yield "model.norm.weight", (width,)
    for layer in range(config["num_hidden_layers"]):
        prefix = f"model.layers.{layer}."
        yield prefix + "input_layernorm.weight", (width,)
        yield prefix + "post_attention_layernorm.weight", (width,)
        for name, shape in zip("qkvo", ((queries, width), (keys, width), (keys, width), (width, queries))):
            yield f"{prefix}self_attn.{name}_proj.weight", shape
            if config["model_type"] == "qwen2" and name != "o":
                yield f"{prefix}self_attn.{name}_proj.bias", shape[:1]
            if config["model_type"] == "qwen3" and name in "qk":
                yield f"{prefix}self_attn.{name}_norm.weight", (head,)
        for name, shape in (("gate", (forward, width)), ("up", (forward, width)), ("down", (width, forward))):
            yield f"{prefix}mlp.{name}_proj.weight", shape


def write_random(config, path):
    plan, header, offset = list(tensors(config)), {"__metadata__": {"format": "pt"}}, 0
    for name, shape in plan:
        end = offset + 2 * math.prod(shape)
        header[name] = {"dtype": "BF16", "shape": shape, "data_offsets": [offset, end]}
        offset = end
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    source = random.Random(1)
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for name, shape in plan:
            count = math.prod(shape)
            if name.endswith("norm.weight"):
                file.write(ONE * count)
                continue
            for first in range(0, count, PIECE):
                file.write(random_numbers(source, min(PIECE, count - first)))


def main():
    gguf, output, *rest = sys.argv[1:]
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer
    folder, name = os.path.split(os.path.abspath(gguf))
    AutoTokenizer.from_pretrained(folder, gguf_file=name).save_pretrained(output)
    if not rest:
        model = AutoModelForCausalLM.from_pretrained(folder, gguf_file=name, dtype=torch.bfloat16)
        # The numbers are plain floats by now; without this, transformers refuses to save a model from a GGUF file.
        model.hf_quantizer = None
        del model.config.quantization_config
        model.save_pretrained(output)
        return
    with open(rest[0], encoding="utf-8") as file:
        config = json.load(file)
    with open(os.path.join(output, "config.json"), "w", encoding="utf-8") as file:
        json.dump(config, file, indent=1)
    write_random(config, os.path.join(output, "model.safetensors"))


main()

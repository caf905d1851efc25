"""Models that have nothing but a tokenizer, and what `skein` makes of texts with them."""

import json
import os
import shutil
import struct
import subprocess

import gguf
import numpy

WIDTH = 32


def tensors(vocabulary, has_head=False):
    names = {"model.embed_tokens.weight": (vocabulary, WIDTH)}
    if has_head:
        names["lm_head.weight"] = (vocabulary, WIDTH)
    names["model.norm.weight"] = (WIDTH,)
    layer = "model.layers.0."
    for name in ["q", "k", "v", "o"]:
        names[f"{layer}self_attn.{name}_proj.weight"] = (WIDTH, WIDTH)
    for name in ["gate", "up", "down"]:
        names[f"{layer}mlp.{name}_proj.weight"] = (WIDTH, WIDTH)
    for name in ["input", "post_attention"]:
        names[f"{layer}{name}_layernorm.weight"] = (WIDTH,)
    return names


def folder(path, vocabulary, files, values=None, **fields):
    """A Hugging Face folder of one layer with these files: {name: bytes}. Its tensors are `values(name, shape)`, or zeros;
    `fields` are more of its configuration."""
    shutil.rmtree(path, ignore_errors=True)
    os.makedirs(path)
    configuration = {
        "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": WIDTH, "intermediate_size": WIDTH,
        "num_hidden_layers": 1, "num_attention_heads": 2, "num_key_value_heads": 2, "vocab_size": vocabulary,
        "rms_norm_eps": 1e-5, "rope_theta": 1e4, "max_position_embeddings": 64, "hidden_act": "silu",
        "tie_word_embeddings": True, "torch_dtype": "float32", **fields}
    shapes = tensors(vocabulary, not configuration["tie_word_embeddings"])
    header, offset = {}, 0
    for name, shape in shapes.items():
        size = 4 * int(numpy.prod(shape))
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [offset, offset + size]}
        offset += size
    head = json.dumps(header).encode()
    with open(f"{path}/model.safetensors", "wb") as file:
        file.write(struct.pack("<Q", len(head)) + head)
        for name, shape in shapes.items() if values else ():
            file.write(values(name, shape).astype("<f4").tobytes())
        file.truncate(8 + len(head) + offset)
    with open(f"{path}/config.json", "w") as file:
        json.dump(configuration, file)
    for name, data in files.items():
        with open(f"{path}/{name}", "wb") as file:
            file.write(data)
    return path


GGUF_NAMES = {
    "model.embed_tokens": "token_embd", "model.norm": "output_norm", "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v", "self_attn.o_proj": "attn_output",
    "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down",
    "input_layernorm": "attn_norm", "post_attention_layernorm": "ffn_norm", "model.layers.": "blk."}


def gguf_file(path, vocabulary, write_tokenizer):
    """A GGUF file of zeros; `write_tokenizer(writer)` adds the tokenizer."""
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_block_count(1)
    writer.add_context_length(64)
    writer.add_embedding_length(WIDTH)
    writer.add_feed_forward_length(WIDTH)
    writer.add_head_count(2)
    writer.add_head_count_kv(2)
    writer.add_rope_dimension_count(WIDTH // 2)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_vocab_size(vocabulary)
    write_tokenizer(writer)
    for name, shape in tensors(vocabulary).items():
        for old, new in GGUF_NAMES.items():
            name = name.replace(old, new)
        writer.add_tensor(name, numpy.zeros(shape, dtype=numpy.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def copy_tokenizer(source, writer):
    """Copies all of `tokenizer.ggml.*` of a file that was read by gguf.GGUFReader."""
    for field in source.fields.values():
        if field.name.startswith("tokenizer.ggml."):
            kind = field.types[0]
            sub = field.types[1] if kind == gguf.GGUFValueType.ARRAY else None
            writer.add_key_value(field.name, field.contents(), kind, sub_type=sub)


class Product:
    def __init__(self, skein):
        self.skein = skein

    def run(self, *arguments, data=None):
        result = subprocess.run([self.skein, *arguments], input=data, capture_output=True)
        if result.returncode < 0:
            raise SystemExit(f"skein ended by signal {-result.returncode}: {arguments[:4]}")
        if result.returncode != 0:
            raise RuntimeError(result.stderr.decode().strip().splitlines()[0])
        return result.stdout

    def encode(self, model, texts):
        """The ids of each text. One process for many texts; those with a zero byte go in alone."""
        found = [None] * len(texts)
        batch, size = [], 0
        arguments = ["tokenize", "--model", model, "--json"]

        def flush():
            lines = self.run(*arguments, "--", *[texts[i] for i in batch]).splitlines() if batch else []
            for i, line in zip(batch, lines, strict=True):
                found[i] = json.loads(line)["ids"]
            batch.clear()

        for index, text in enumerate(texts):
            if "\0" in text or text == "-":
                found[index] = json.loads(self.run(*arguments, "-", data=text.encode()))["ids"]
                continue
            batch.append(index)
            size += len(text.encode()) + 16
            if size > 1_000_000:
                flush()
                size = 0
        flush()
        return found

    def decode(self, model, rows):
        arguments = ["tokenize", "--model", model, "--json", "--decode", "--"]
        lines = self.run(*arguments, *[" ".join(map(str, row)) for row in rows]).splitlines()
        return [json.loads(line)["text"] for line in lines]

    def speed(self, model, pairs):
        """MB/s on one core."""
        lab = os.environ.get("SKEIN_LAB") or os.path.join(os.path.dirname(os.path.realpath(self.skein)), "skein-lab")
        words = [lab, "bench", "--json", "--model", model, "--data", pairs, "tokenize"]
        return json.loads(subprocess.run(words, stdout=subprocess.PIPE, check=True).stdout)

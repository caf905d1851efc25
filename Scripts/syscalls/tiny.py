"""Writes a tiny model of random weights and rows for it: a GGUF file of Llama's architecture, two blocks 32 numbers wide, with
a byte-level vocabulary of its own, pairs, and preferences. The bytes are a function of nothing. Imported by Scripts/syscalls.
"""

import json
import math
import random
import struct

UINT32, INT32, FLOAT32, BOOL, STRING, ARRAY = 4, 5, 6, 7, 8, 9
WIDTH, FORWARD, LAYERS, HEADS, KEY_HEADS, CONTEXT = 32, 32, 2, 2, 1, 128
SPECIALS = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
TEMPLATE = (
    "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>' + '\\n' }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"
)
NOUNS = ["goose", "skein", "wind", "lake", "flock", "wing", "reed"]


def letters():
    """GPT-2's letter for each byte: printable bytes are their own, the others count up from 256."""
    following = 256
    for byte in range(256):
        printable = 33 <= byte <= 126 or 161 <= byte <= 172 or 174 <= byte
        yield chr(byte if printable else following)
        following += not printable


def text(value):
    data = value.encode()
    return struct.pack("<Q", len(data)) + data


def entry(key, kind, value):
    return text(key) + struct.pack("<I", kind) + value


def array(kind, items):
    return struct.pack("<IQ", kind, len(items)) + b"".join(items)


def metadata():
    tokens = SPECIALS + list(letters()) + ["Ġt", "he"]
    kinds = [3] * len(SPECIALS) + [1] * (len(tokens) - len(SPECIALS))
    yield entry("general.architecture", STRING, text("llama"))
    yield entry("general.name", STRING, text("tiny"))
    for key, value in [
        ("block_count", LAYERS), ("context_length", CONTEXT), ("embedding_length", WIDTH), ("feed_forward_length", FORWARD),
        ("attention.head_count", HEADS), ("attention.head_count_kv", KEY_HEADS), ("vocab_size", len(tokens)),
        ("rope.dimension_count", WIDTH // HEADS),
    ]:
        yield entry(f"llama.{key}", UINT32, struct.pack("<I", value))
    yield entry("llama.attention.layer_norm_rms_epsilon", FLOAT32, struct.pack("<f", 1e-5))
    yield entry("llama.rope.freq_base", FLOAT32, struct.pack("<f", 1e4))
    yield entry("tokenizer.ggml.model", STRING, text("gpt2"))
    yield entry("tokenizer.ggml.pre", STRING, text("smollm"))
    yield entry("tokenizer.ggml.tokens", ARRAY, array(STRING, [text(token) for token in tokens]))
    yield entry("tokenizer.ggml.token_type", ARRAY, array(INT32, [struct.pack("<i", kind) for kind in kinds]))
    yield entry("tokenizer.ggml.merges", ARRAY, array(STRING, [text("Ġ t"), text("h e")]))
    for name, token in [("bos", 1), ("eos", 2), ("unknown", 0), ("padding", 2)]:
        yield entry(f"tokenizer.ggml.{name}_token_id", UINT32, struct.pack("<I", token))
    yield entry("tokenizer.ggml.add_bos_token", BOOL, b"\0")
    yield entry("tokenizer.ggml.add_space_prefix", BOOL, b"\0")
    yield entry("tokenizer.chat_template", STRING, text(TEMPLATE))


def shapes():
    keys = WIDTH // HEADS * KEY_HEADS
    yield "token_embd.weight", (len(SPECIALS) + 258, WIDTH)
    yield "output_norm.weight", (WIDTH,)
    for layer in range(LAYERS):
        for name, shape in [
            ("attn_norm", (WIDTH,)), ("attn_q", (WIDTH, WIDTH)), ("attn_k", (keys, WIDTH)), ("attn_v", (keys, WIDTH)),
            ("attn_output", (WIDTH, WIDTH)), ("ffn_norm", (WIDTH,)), ("ffn_gate", (FORWARD, WIDTH)),
            ("ffn_up", (FORWARD, WIDTH)), ("ffn_down", (WIDTH, FORWARD)),
        ]:
            yield f"blk.{layer}.{name}.weight", shape


def write_model(path):
    source, plan, entries = random.Random(1), list(shapes()), list(metadata())
    header = b"GGUF" + struct.pack("<IQQ", 3, len(plan), len(entries)) + b"".join(entries)
    data = b""
    for name, shape in plan:
        header += text(name) + struct.pack("<I", len(shape)) + b"".join(struct.pack("<Q", n) for n in reversed(shape))
        header += struct.pack("<IQ", 0, len(data))
        bound = 0.1 if len(shape) == 1 else math.sqrt(3 / shape[1])
        center = 1 if len(shape) == 1 else 0
        count = math.prod(shape)
        data += struct.pack(f"<{count}f", *(center + source.uniform(-bound, bound) for _ in range(count)))
        data += bytes(-len(data) % 32)
    with open(path, "wb") as file:
        file.write(header + bytes(-len(header) % 32) + data)


def write_pairs(path, count):
    with open(path, "w", encoding="utf-8") as file:
        for row in range(count):
            tail = " and ".join(NOUNS[(row + step) % 7] for step in range(1 + row * 5 % 3))
            file.write(json.dumps({"prompt": f"What is {row}?", "completion": f"The {tail}."}) + "\n")


def write_preferences(path, count):
    with open(path, "w", encoding="utf-8") as file:
        for row in range(count):
            better = " and ".join(NOUNS[(row + step) % 7] for step in range(1 + row * 5 % 3))
            worse = " and ".join(NOUNS[(row + 3 + step) % 7] for step in range(1 + row * 3 % 2))
            file.write(json.dumps({"prompt": f"What is {row}?", "chosen": f"The {better}.", "rejected": f"A {worse}."}) + "\n")

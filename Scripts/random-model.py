"""Writes a GGUF file with random Q4_0 weights, to see whether a large model fits.

usage: random-model.py [--architecture llama|qwen3] [--context N] [--varied on] TOKENIZER.gguf OUTPUT.gguf
                       [layers width feed-forward heads key-value-heads]

The tokenizer is copied from TOKENIZER.gguf. The default is of Llama's architecture and has 3.97 billion
parameters. Qwen3's has the sizes of Qwen3-4B, heads of 128 with norms, and rows of the embedding for its
vocabulary of 151,936: 4.02 billion. A tensor repeats its first 131,072 values, which is fast and says how
much memory a model takes; with --varied on it does not, so that the model can be trained. Needs only the
standard library; the bytes are a function of the arguments.
"""

import math
import random
import struct
import sys

UINT32, FLOAT32, STRING, ARRAY = 4, 6, 8, 9
WIDTHS = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
F32, Q4_0 = 0, 2
ALIGNMENT = 32
# Default sizes; the width of a head, else width / heads; rows of the embedding, else the tokenizer's;
# the base of the rotation's frequencies, the context and the norms' epsilon.
ARCHITECTURES = {
    "llama": ([32, 3072, 10240, 24, 8], None, None, 1e4, 4096, 1e-5),
    "qwen3": ([36, 2560, 9728, 32, 8], 128, 151936, 1e6, 40960, 1e-6),
}


def text(value):
    data = value.encode()
    return struct.pack("<Q", len(data)) + data


def skip_value(data, at, kind):
    if kind == STRING:
        return at + 8 + struct.unpack_from("<Q", data, at)[0]
    if kind == ARRAY:
        kind, count = struct.unpack_from("<IQ", data, at)
        at += 12
        if kind != STRING:
            return at + count * WIDTHS[kind]
        for _ in range(count):
            at = skip_value(data, at, STRING)
        return at
    return at + WIDTHS[kind]


def tokenizer_entries(path):
    """The raw metadata entries of the tokenizer, and the size of its vocabulary."""
    with open(path, "rb") as file:
        data = file.read(64 << 20)
    count, at = struct.unpack_from("<Q", data, 16)[0], 24
    entries, vocabulary = [], 0
    for _ in range(count):
        start = at
        length = struct.unpack_from("<Q", data, at)[0]
        key = data[at + 8 : at + 8 + length].decode()
        at += 8 + length
        kind = struct.unpack_from("<I", data, at)[0]
        if key == "tokenizer.ggml.tokens":
            vocabulary = struct.unpack_from("<Q", data, at + 8)[0]
        at = skip_value(data, at + 4, kind)
        if key.startswith("tokenizer."):
            entries.append(data[start:at])
    return entries, vocabulary


def tensors(vocabulary, head, layers, width, forward, heads, key_heads):
    queries, keys = (head or width // heads) * heads, (head or width // heads) * key_heads
    yield "token_embd.weight", (vocabulary, width)
    yield "output_norm.weight", (width,)
    for layer in range(layers):
        prefix = f"blk.{layer}."
        yield prefix + "attn_norm.weight", (width,)
        yield prefix + "ffn_norm.weight", (width,)
        if head:
            yield prefix + "attn_q_norm.weight", (head,)
            yield prefix + "attn_k_norm.weight", (head,)
        for name, shape in [
            ("attn_q", (queries, width)), ("attn_k", (keys, width)), ("attn_v", (keys, width)),
            ("attn_output", (width, queries)), ("ffn_gate", (forward, width)),
            ("ffn_up", (forward, width)), ("ffn_down", (width, forward)),
        ]:
            yield f"{prefix}{name}.weight", shape


def size(shape):
    count = math.prod(shape)
    return count * 4 if len(shape) == 1 else count // 32 * 18


def write_tensor(file, shape, source, varied):
    if len(shape) == 1:
        file.write(struct.pack("<f", 1.0) * shape[0])
        return
    # Values are (nibble - 8) * scale, whose root mean square is 4.6 * scale; here that is 1 / sqrt(in).
    scale = struct.pack("<e", 1 / (4.6 * math.sqrt(shape[1])))
    blocks = math.prod(shape) // 32
    chunk = b"".join(scale + source.randbytes(16) for _ in range(4096))
    for first in range(0, blocks, 4096):
        if varied and first:
            chunk = b"".join(scale + source.randbytes(16) for _ in range(4096))
        file.write(chunk[: 18 * min(4096, blocks - first)])


def main():
    words = sys.argv[1:]
    options = {"--architecture": "llama", "--context": None, "--varied": "off"}
    while words[0] in options:
        options[words[0]], words = words[1], words[2:]
    architecture = options["--architecture"]
    tokenizer, output = words[:2]
    default, head, rows, base, context, epsilon = ARCHITECTURES[architecture]
    context = int(options["--context"] or context)
    sizes = [int(word) for word in words[2:]] or default
    layers, width, forward, heads, key_heads = sizes
    entries, vocabulary = tokenizer_entries(tokenizer)
    vocabulary = rows or vocabulary

    def entry(key, kind, value):
        return text(key) + struct.pack("<I", kind) + value

    entries.append(entry("general.architecture", STRING, text(architecture)))
    for key, value in [
        ("block_count", layers), ("context_length", context), ("embedding_length", width),
        ("feed_forward_length", forward), ("attention.head_count", heads),
        ("attention.head_count_kv", key_heads), ("vocab_size", vocabulary),
    ] + ([("attention.key_length", head), ("attention.value_length", head)] if head else []):
        entries.append(entry(f"{architecture}.{key}", UINT32, struct.pack("<I", value)))
    for key, value in [("rope.freq_base", base), ("attention.layer_norm_rms_epsilon", epsilon)]:
        entries.append(entry(f"{architecture}.{key}", FLOAT32, struct.pack("<f", value)))

    plan = list(tensors(vocabulary, head, *sizes))
    header = b"GGUF" + struct.pack("<IQQ", 3, len(plan), len(entries)) + b"".join(entries)
    offset = 0
    for name, shape in plan:
        header += text(name) + struct.pack("<I", len(shape))
        header += b"".join(struct.pack("<Q", n) for n in reversed(shape))
        header += struct.pack("<IQ", F32 if len(shape) == 1 else Q4_0, offset)
        offset += (size(shape) + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT
    source = random.Random(1)
    with open(output, "wb") as file:
        file.write(header + bytes(-len(header) % ALIGNMENT))
        for _, shape in plan:
            write_tensor(file, shape, source, options["--varied"] == "on")
            file.write(bytes(-size(shape) % ALIGNMENT))
    print(f"{sum(math.prod(shape) for _, shape in plan) / 1e9:.2f} billion parameters", file=sys.stderr)


main()

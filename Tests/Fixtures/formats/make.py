"""Makes the fixtures of FormatsTests. Python 3.11, numpy 2.4.6, gguf 0.19.0, safetensors 0.8.0.

    python3 Tests/Fixtures/formats/make.py [SmolLM2-135M-Instruct.Q4_1.gguf]

NAME.blocks / NAME.floats   random blocks of each type, and what gguf.quants.dequantize makes of them
adapter.safetensors         a file as the reference writer writes it
safetensors-cases.json      sound and broken files, with the reference reader's verdict on each
rope.json                   Llama-3 divisors by the formula of llama.cpp's conversion script
model.json                  with a model given: SHA-256 of all its weights as F32, q and k un-permuted
"""
import base64, hashlib, json, math, pathlib, struct, sys

import gguf
import numpy as np
import safetensors, safetensors.numpy

HERE = pathlib.Path(__file__).parent
# A new type goes last: the random numbers of the others stay as they are.
TYPES = ("F32 F16 BF16 Q4_0 Q4_1 Q5_0 Q5_1 Q8_0 Q2_K Q3_K Q4_K Q5_K Q6_K "
         "IQ4_NL IQ4_XS MXFP4").split()
# Byte offsets of the f16 scales in a block.
SCALES = {"Q4_0": [0], "Q4_1": [0, 2], "Q5_0": [0], "Q5_1": [0, 2], "Q8_0": [0], "Q2_K": [80, 82],
          "Q3_K": [108], "Q4_K": [0, 2], "Q5_K": [0, 2], "Q6_K": [208], "IQ4_NL": [0],
          "IQ4_XS": [0]}


def blocks():
    random = np.random.default_rng(20_240_601)
    for name in TYPES:
        kind = gguf.GGMLQuantizationType[name]
        elements, size = gguf.GGML_QUANT_SIZES[kind]
        count = {1: 259, 32: 12, 256: 3}[elements]
        raw = random.integers(0, 256, (count, size), dtype=np.uint8)
        if name == "F32":
            raw = random.standard_normal((count, 1), dtype=np.float32).view(np.uint8)
        if name == "BF16":
            raw[:, 1] = raw[:, 1] & 0xBF  # finite
        if name == "F16":
            raw[:, 1] = raw[:, 1] & 0xBB  # finite
            raw[:6] = np.array([0, 0x8000, 1, 0x83FF, 0x0400, 0x7BFF], "<u2").view(np.uint8).reshape(6, 2)
        if name == "MXFP4":
            raw[:, 0] = [0, 1, 2, 3, 127, 128, 120, 121, 122, 130, 250, 251]  # 0 and 1: subnormal
        for offset in SCALES.get(name, []):
            scales = (random.standard_normal(count) * 0.1).astype("<f2")
            scales[0], scales[1] = 3e-6, -0.0  # a subnormal and a zero
            raw[:, offset:offset + 2] = scales.view(np.uint8).reshape(count, 2)
        floats = gguf.quants.dequantize(np.ascontiguousarray(raw), kind).astype("<f4")
        assert np.isfinite(floats).all() and floats.size == count * elements
        (HERE / f"{name}.blocks").write_bytes(raw.tobytes())
        (HERE / f"{name}.floats").write_bytes(floats.tobytes())


def adapter():
    random = np.random.default_rng(7)
    tensors = {}
    for layer in (0, 1):
        for module, out in (("self_attn.v_proj", 32), ("self_attn.q_proj", 64)):
            stem = f"base_model.model.model.layers.{layer}.{module}.lora_"
            tensors[stem + "A.weight"] = random.standard_normal((4, 64), dtype=np.float32)
            tensors[stem + "B.weight"] = random.standard_normal((out, 4), dtype=np.float32)
    safetensors.numpy.save_file(tensors, HERE / "adapter.safetensors", {"format": "pt"})


def safetensors_cases():
    one = '{"dtype":"F32","shape":[2],"data_offsets":[0,8]}'
    eight = bytes(range(8))
    cases = {
        # sound
        "one tensor": (f'{{"a":{one}}}', eight),
        "trailing spaces": (f'{{"a":{one}}}   ', eight),
        "trailing newline": (f'{{"a":{one}}}\n', eight),
        "leading space": (f' {{"a":{one}}}', eight),
        "null metadata": (f'{{"__metadata__":null,"a":{one}}}', eight),
        "metadata": (f'{{"__metadata__":{{"k":"v"}},"a":{one}}}', eight),
        "unknown tensor field": (f'{{"a":{one[:-1]},"x":[1]}}}}', eight),
        "zero-size tensor": ('{"a":{"dtype":"F32","shape":[0,3],"data_offsets":[0,0]}}', b""),
        "zero-size tensors around": (
            f'{{"z":{{"dtype":"F32","shape":[0],"data_offsets":[8,8]}},"a":{one},'
            '"b":{"dtype":"F32","shape":[0],"data_offsets":[0,0]}}', eight),
        "scalar": ('{"a":{"dtype":"F32","shape":[],"data_offsets":[0,4]}}', eight[:4]),
        "no tensors": ("{}", b""),
        "other order": (
            '{"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]},'
            '"b":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}', eight),
        "duplicate key": (f'{{"a":{one},"a":{one}}}', eight),
        "bf16": ('{"a":{"dtype":"BF16","shape":[4],"data_offsets":[0,8]}}', eight),
        "no weight type": ('{"a":{"dtype":"I64","shape":[1],"data_offsets":[0,8]}}', eight),
        # broken
        "hole": (
            f'{{"a":{one},"b":{{"dtype":"F32","shape":[1],"data_offsets":[12,16]}}}}', eight * 2),
        "hole at the start": ('{"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}}', eight),
        "overlap": (
            f'{{"a":{one},"b":{{"dtype":"F32","shape":[1],"data_offsets":[4,8]}}}}', eight),
        "trailing bytes": (f'{{"a":{one}}}', eight + b"x"),
        "short data": (f'{{"a":{one}}}', eight[:7]),
        "duplicate key leaves a hole": (
            f'{{"a":{one},"a":{{"dtype":"F32","shape":[1],"data_offsets":[8,12]}}}}', eight + eight[:4]),
        "metadata that is no text": (f'{{"__metadata__":{{"k":1}},"a":{one}}}', eight),
        "shape and size differ": ('{"a":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}}', eight),
        "product overflows": (
            '{"a":{"dtype":"F32","shape":[4294967296,4294967296,4],"data_offsets":[0,8]}}', eight),
        "unknown type": ('{"a":{"dtype":"F128","shape":[1],"data_offsets":[0,8]}}', eight),
        "negative dimension": ('{"a":{"dtype":"F32","shape":[-2],"data_offsets":[0,8]}}', eight),
        "descending offsets": ('{"a":{"dtype":"F32","shape":[0],"data_offsets":[8,0]}}', eight),
        "one offset": ('{"a":{"dtype":"F32","shape":[0],"data_offsets":[0]}}', b""),
        "no shape": ('{"a":{"dtype":"F32","data_offsets":[0,8]}}', eight),
        "no JSON": ("{", b""),
        "array": ("[]", b""),
    }
    rows = []

    def row(name, data):
        try:
            safetensors.deserialize(data)
            verdict = ""
        except Exception as error:
            verdict = str(error)
        rows.append({"name": name, "accepted": verdict == "", "reference": verdict,
                     "base64": base64.b64encode(data).decode()})

    for name, (header, data) in cases.items():
        row(name, struct.pack("<Q", len(header.encode())) + header.encode() + data)
    row("empty file", b"")
    row("seven bytes", b"1234567")
    row("header beyond the file", struct.pack("<Q", 100) + b"{}")
    row("header above 100 MB", struct.pack("<Q", 100_000_001) + b"{}")
    row("header that is no text", struct.pack("<Q", 4) + b'"\xff"x')
    (HERE / "safetensors-cases.json").write_text(json.dumps(rows, indent=1) + "\n")


def rope():
    rows = []
    for dimension, theta, factor, low, high, original in (
            (64, 500_000.0, 32.0, 1.0, 4.0, 8192), (128, 500_000.0, 8.0, 1.0, 4.0, 8192),
            (16, 10_000.0, 4.0, 1.0, 4.0, 64)):
        divisors = []
        for index in range(0, dimension, 2):
            frequency = 1.0 / theta ** (index / dimension)
            wavelength = 2 * math.pi / frequency
            if wavelength < original / high:
                divisors.append(1.0)
            elif wavelength > original / low:
                divisors.append(factor)
            else:
                smooth = (original / wavelength - low) / (high - low)
                divisors.append(1 / ((1 - smooth) / factor + smooth))
        rows.append({"dimension": dimension, "theta": theta, "factor": factor, "low": low,
                     "high": high, "original": original, "divisors": divisors})
    (HERE / "rope.json").write_text(json.dumps(rows, indent=1) + "\n")


def model(path):
    reader = gguf.GGUFReader(path)
    heads = {"attn_q": "head_count", "attn_k": "head_count_kv"}
    digests = {}
    for tensor in reader.tensors:
        floats = gguf.quants.dequantize(tensor.data, tensor.tensor_type).astype("<f4")
        part = tensor.name.split(".")[-2]
        if part in heads:
            count = reader.fields[f"llama.attention.{heads[part]}"].contents()
            rows, columns = floats.shape
            floats = floats.reshape(count, rows // count // 2, 2, columns).swapaxes(1, 2)
        digests[tensor.name] = hashlib.sha256(np.ascontiguousarray(floats).tobytes()).hexdigest()
    whole = hashlib.sha256("".join(digests[name] for name in sorted(digests)).encode()).hexdigest()
    keep = ["token_embd.weight", "blk.0.attn_q.weight", "blk.29.attn_k.weight",
            "blk.7.ffn_down.weight", "output_norm.weight"]
    (HERE / "model.json").write_text(json.dumps({
        "file": hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest(),
        "allTensors": whole, "tensors": {name: digests[name] for name in keep}}, indent=1) + "\n")


blocks()
adapter()
safetensors_cases()
rope()
if len(sys.argv) > 1:
    model(sys.argv[1])

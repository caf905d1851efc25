"""Makes the fixtures of quantized weights. Python 3.11, numpy 2.4.6, mlx 0.32.0, mlx-lm, torch 2.15 (CPU),
bitsandbytes 0.50.2, transformers 5.23.

    OMP_NUM_THREADS=1 python3 Tests/Fixtures/quantized/make.py

affine.safetensors     MODULE.weight, .scales, .biases for each width, group size and type of scales, and
                       MODULE.expected, what mlx.core.dequantize makes of them
codebook.safetensors   the tensors of a bitsandbytes weight, and .expected, what its default backend's
                       dequantize_4bit makes of them
scales.safetensors     8-bit floats with scales of other kinds: E8M0, and those of compressed-tensors, whose
                       products are rounded to the type of the scales
float8.safetensors     .weight, .weight_scale_inv and .expected, what transformers' Fp8Dequantize makes of
                       them for a model in fp32; and all 256 codes
mlx, nf4, fp8          folders of one small random Llama: mlx-lm's and transformers' own files (fp8 with our
                       own quantizer, because transformers' needs a GPU), with expected.json: SHA-256 of each
                       weight as fp32
"""
import hashlib, json, pathlib, shutil, tempfile

import bitsandbytes.functional as bnb
import mlx.core as mx
import mlx_lm
import numpy as np
import torch
from bitsandbytes.backends.default.ops import _dequantize_4bit_compute
from bitsandbytes.backends.utils import _get_4bit_code
from safetensors.torch import load_file, save_file
from transformers import AutoModelForCausalLM, BitsAndBytesConfig, LlamaConfig, LlamaForCausalLM
from transformers.integrations.finegrained_fp8 import Fp8Dequantize

HERE = pathlib.Path(__file__).parent
BLOCK = 128
mx.set_default_device(mx.cpu)


def affine():
    mx.random.seed(3)
    tensors = {}
    for dtype, kind in ((mx.float32, "f32"), (mx.float16, "f16"), (mx.bfloat16, "bf16")):
        for bits in (2, 3, 4, 5, 6, 8):
            for group in (32, 64, 128):
                weight = (mx.random.normal((2, 384)) * mx.array([[0.05], [3e-5]])).astype(dtype)
                codes, scales, biases = mx.quantize(weight, group_size=group, bits=bits)
                name = f"{kind}.{bits}.{group}"
                tensors |= {name + ".weight": codes, name + ".scales": scales, name + ".biases": biases}
                tensors[name + ".expected"] = mx.dequantize(
                    codes, scales, biases, group_size=group, bits=bits)
    mx.save_safetensors(str(HERE / "affine.safetensors"), tensors)


def by_default_backend(codes, state):
    """The reference of all backends, without the CPU kernel's trouble with blocks that span two rows."""
    absmax = state.absmax
    if state.nested:
        absmax = bnb.dequantize_blockwise(absmax, state.state2) + state.offset
    return _dequantize_4bit_compute(
        codes.reshape(-1).view(torch.uint8), absmax, _get_4bit_code(state.quant_type, "cpu"),
        state.blocksize, state.shape, state.dtype)


def codebook():
    torch.manual_seed(4)
    tensors = {}
    for dtype, kind in ((torch.float32, "f32"), (torch.float16, "f16"), (torch.bfloat16, "bf16")):
        for table in ("nf4", "fp4"):
            for nested in (False, True):
                for size in (64, 128):
                    # 96 columns: blocks of 64 and 128 span two rows, the last is short.
                    for columns in (96, 128):
                        weight = (torch.randn(9, columns) * 0.05).to(dtype)
                        codes, state = bnb.quantize_4bit(
                            weight, blocksize=size, quant_type=table, compress_statistics=nested)
                        expected = by_default_backend(codes, state)
                        if columns % size == 0:
                            assert torch.equal(expected, bnb.dequantize_4bit(codes, state))
                        name = f"{kind}.{table}.{'nested' if nested else 'flat'}.{size}.{columns}.weight"
                        tensors[name] = codes
                        for part, tensor in state.as_dict(packed=True).items():
                            tensors[f"{name}.{part}"] = tensor.contiguous().clone()
                        tensors[name + ".expected"] = expected
    save_file(tensors, HERE / "codebook.safetensors")


def quantized_float8(weight, block):
    """Codes and scales as Qwen3-FP8's: the largest magnitude of a block becomes 448."""
    rows, columns = weight.shape
    scales = torch.empty(-(-rows // block), -(-columns // block))
    codes = torch.empty(rows, columns, dtype=torch.float8_e4m3fn)
    for i in range(scales.shape[0]):
        for j in range(scales.shape[1]):
            place = slice(i * block, (i + 1) * block), slice(j * block, (j + 1) * block)
            scales[i, j] = weight[place].abs().max() / 448
            codes[place] = (weight[place] / scales[i, j]).to(torch.float8_e4m3fn)
    return codes, scales


def dequantized_float8(codes, scales):
    return Fp8Dequantize(None)._dequantize_one(codes, scales, torch.float32)


def float8():
    torch.manual_seed(5)
    tensors = {"all.weight": torch.arange(256, dtype=torch.uint8).view(torch.float8_e4m3fn).reshape(4, 64)}
    tensors["all.weight_scale_inv"] = torch.tensor([[0.37, -3e-3]])
    tensors["all.expected"] = dequantized_float8(
        tensors["all.weight"], tensors["all.weight_scale_inv"])
    for kind, dtype in (("f32", torch.float32), ("bf16", torch.bfloat16)):
        codes, scales = quantized_float8(torch.randn(64, 96) * 0.05, 32)
        tensors |= {f"{kind}.weight": codes, f"{kind}.weight_scale_inv": scales.to(dtype)}
        tensors[f"{kind}.expected"] = dequantized_float8(codes, scales.to(dtype))
    save_file(tensors, HERE / "float8.safetensors")


def scales():
    torch.manual_seed(7)
    tensors = {}
    exponents = torch.arange(256, dtype=torch.uint8).view(torch.float8_e8m0fnu)
    for name, (rows, columns), grid in (("exponents", (16, 64), (8, 32)), ("blocks", (32, 96), (2, 3))):
        codes = torch.randint(0, 256, (rows, columns), dtype=torch.uint8).view(torch.float8_e4m3fn)
        powers = exponents.reshape(grid) if name == "exponents" else exponents[120:126].reshape(grid)
        tensors |= {f"{name}.weight": codes, f"{name}.weight_scale_inv": powers.clone()}
        tensors[f"{name}.expected"] = dequantized_float8(codes, powers)
    for kind, dtype in (("f32", torch.float32), ("f16", torch.float16), ("bf16", torch.bfloat16)):
        for grid, shape in (("tensor", (1,)), ("channel", (32, 1)), ("block", (2, 3))):
            codes = torch.randint(0, 256, (32, 96), dtype=torch.uint8).view(torch.float8_e4m3fn)
            scale = (torch.rand(shape) * 1e-3).to(dtype)
            name = f"{grid}.{kind}"
            tensors |= {f"{name}.weight": codes, f"{name}.weight_scale": scale}
            spread = scale
            if grid == "block":
                spread = scale.repeat_interleave(16, 0).repeat_interleave(32, 1)
            tensors[f"{name}.expected"] = codes.to(dtype) * spread
    save_file(tensors, HERE / "scales.safetensors")


def digests(folder, weights):
    (folder / "expected.json").write_text(json.dumps(
        {name: hashlib.sha256(weight.float().numpy().tobytes()).hexdigest()
         for name, weight in sorted(weights.items())}, indent=1) + "\n")


def small(folder):
    torch.manual_seed(6)
    config = LlamaConfig(
        vocab_size=96, hidden_size=128, intermediate_size=192, num_hidden_layers=1,
        num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=128,
        tie_word_embeddings=True, dtype="bfloat16")
    LlamaForCausalLM(config).to(torch.bfloat16).save_pretrained(folder)
    return folder


def keep(source, name):
    folder = HERE / name
    folder.mkdir(exist_ok=True)
    for file in ("config.json", "model.safetensors"):
        shutil.copy(source / file, folder / file)
    return folder


def mlx_folder(base, work):
    model, _ = mlx_lm.utils.load_model(base)

    def choose(path, module):
        if not hasattr(module, "to_quantized"):
            return False
        return {"group_size": 32, "bits": 6} if path.endswith("v_proj") else not path.endswith("o_proj")

    config = json.loads((base / "config.json").read_text())
    model, config = mlx_lm.utils.quantize_model(model, config, 64, 4, quant_predicate=choose)
    mlx_lm.utils.save_model(work / "mlx", model)
    mlx_lm.utils.save_config(config, work / "mlx" / "config.json")
    folder = keep(work / "mlx", "mlx")
    stored = mx.load(str(folder / "model.safetensors"))
    settings = config["quantization"]
    weights = {}
    for name, value in stored.items():
        module = name.removesuffix(".weight")
        if name.endswith((".scales", ".biases")):
            continue
        if module + ".scales" in stored:
            own = settings.get(module, settings)
            own = own if isinstance(own, dict) else settings
            value = mx.dequantize(
                value, stored[module + ".scales"], stored[module + ".biases"],
                group_size=own["group_size"], bits=own["bits"])
        weights[name] = torch.from_numpy(np.array(value.astype(mx.float32)))
    digests(folder, weights)


def nf4_folder(base, work):
    model = AutoModelForCausalLM.from_pretrained(base, dtype=torch.bfloat16, quantization_config=BitsAndBytesConfig(
        load_in_4bit=True, bnb_4bit_quant_type="nf4", bnb_4bit_use_double_quant=True,
        bnb_4bit_compute_dtype=torch.bfloat16))
    model.save_pretrained(work / "nf4")
    folder = keep(work / "nf4", "nf4")
    weights = {}
    for name, value in model.state_dict().items():
        if "weight." in name or name == "lm_head.weight":
            continue
        module = model.get_submodule(name.removesuffix(".weight"))
        state = getattr(module.weight, "quant_state", None)
        weights[name] = bnb.dequantize_4bit(value, state) if state is not None else value
    digests(folder, weights)


def fp8_folder(base, work):
    config = json.loads((base / "config.json").read_text())
    config["quantization_config"] = {
        "activation_scheme": "dynamic", "fmt": "e4m3", "quant_method": "fp8",
        "weight_block_size": [BLOCK, BLOCK]}
    tensors, weights = {}, {}
    for name, value in load_file(base / "model.safetensors").items():
        if "_proj" in name:
            codes, scales = quantized_float8(value.float(), BLOCK)
            tensors |= {name: codes, name + "_scale_inv": scales.to(torch.bfloat16)}
            spread = scales.to(torch.bfloat16).float().repeat_interleave(BLOCK, 0).repeat_interleave(BLOCK, 1)
            weights[name] = codes.float() * spread[: codes.shape[0], : codes.shape[1]]
            if all(n % BLOCK == 0 for n in codes.shape):
                assert torch.equal(weights[name], dequantized_float8(codes, scales.to(torch.bfloat16)))
        else:
            tensors[name] = weights[name] = value
    folder = HERE / "fp8"
    folder.mkdir(exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n")
    save_file(tensors, folder / "model.safetensors", {"format": "pt"})
    digests(folder, weights)


affine()
codebook()
float8()
scales()
with tempfile.TemporaryDirectory() as work:
    work = pathlib.Path(work)
    base = small(work / "base")
    mlx_folder(base, work)
    nf4_folder(base, work)
    fp8_folder(base, work)

"""Makes the fixtures of BlockEncodingTests. Python 3.11, numpy 2.4.6, gguf 0.19.0, xllamacpp 2026.10.11549.

    python3 Tests/Fixtures/quantize/make.py

rows.floats   8 rows of 512 numbers: Gaussian, outliers, positive, tiny, sparse, constant, zero, mixed scales
NAME.blocks   what gguf.quants.quantize makes of them: F16, BF16, Q8_0, Q4_0, Q5_0
errors.json   for each row, the root mean square error of llama.cpp's Q4_K and Q6_K (ggml_quantize_chunk, which the
              wheel exports), relative to the row's root mean square
"""
import ctypes, glob, importlib.util, json, pathlib

import gguf
import numpy as np

HERE = pathlib.Path(__file__).parent


def rows():
    random = np.random.default_rng(20_261_123)
    x = random.standard_normal((8, 512)).astype("<f4") * np.float32(0.02)
    x[1, ::37] *= 40
    x[2] = abs(x[2]) + np.float32(0.01)
    x[3] *= np.float32(1e-6)
    x[4][random.random(512) < 0.9] = 0
    x[5] = 0.25
    x[6] = 0
    x[6, 300] = -0.0
    x[7] *= np.repeat(np.exp(random.standard_normal(16) * 3).astype("<f4"), 32)
    return x


def llama_errors(x):
    package = importlib.util.find_spec("xllamacpp").submodule_search_locations[0]
    library = ctypes.CDLL(glob.glob(package + "/*.so")[0])
    library.ggml_quantize_chunk.restype = ctypes.c_size_t
    errors = {}
    for name in ("Q4_K", "Q6_K"):
        kind = gguf.GGMLQuantizationType[name]
        elements, size = gguf.GGML_QUANT_SIZES[kind]
        out = np.zeros((len(x), x.shape[1] // elements * size), np.uint8)
        library.ggml_quantize_chunk(
            ctypes.c_int(kind.value), x.ctypes.data_as(ctypes.c_void_p), out.ctypes.data_as(ctypes.c_void_p),
            ctypes.c_int64(0), ctypes.c_int64(len(x)), ctypes.c_int64(x.shape[1]), None)
        back = gguf.quants.dequantize(out, kind).astype(np.float64)
        size = np.maximum(np.sqrt((x.astype(np.float64) ** 2).mean(1)), 1e-30)
        errors[name] = [float(f"{e:.9g}") for e in np.sqrt(((back - x) ** 2).mean(1)) / size]
    return errors


def main():
    x = np.ascontiguousarray(rows())
    (HERE / "rows.floats").write_bytes(x.tobytes())
    for name in ("F16", "BF16", "Q8_0", "Q4_0", "Q5_0"):
        blocks = gguf.quants.quantize(x, gguf.GGMLQuantizationType[name])
        (HERE / f"{name}.blocks").write_bytes(np.ascontiguousarray(blocks).tobytes())
    (HERE / "errors.json").write_text(json.dumps(llama_errors(x), indent=1) + "\n")


main()

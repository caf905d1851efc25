"""Logits by llama.cpp with F32 memory of keys and values, through the C functions of PyPI's xllamacpp.

usage: llamacpp.py JOBS.json    a list of {"model", "adapter" or null, "rows": [[id, ...], ...], "output"}
"""

import ctypes as c
import json
import os
import sys

import numpy
import xllamacpp
from safetensors.numpy import save_file

F32, F16 = 0, 1


class ContextParameters(c.Structure):
    """llama_context_params as far as it is needed; its defaults are checked before it is trusted.

    Among the first fields are five kinds, each -1 by default but for the first; the last is flash attention's, which
    computes in half precision.
    """

    _fields_ = [
        ("n_ctx", c.c_uint32), ("head", c.c_int32 * 21), ("callback", c.c_void_p * 2), ("type_k", c.c_int32),
        ("type_v", c.c_int32), ("rest", c.c_char * 256),
    ]


class ModelParameters(c.Structure):
    _fields_ = [("all", c.c_char * 512)]


class Batch(c.Structure):
    _fields_ = [
        ("n_tokens", c.c_int32), ("token", c.POINTER(c.c_int32)), ("embd", c.c_void_p), ("pos", c.POINTER(c.c_int32)),
        ("n_seq_id", c.POINTER(c.c_int32)), ("seq_id", c.POINTER(c.POINTER(c.c_int32))), ("logits", c.POINTER(c.c_int8)),
    ]


def library():
    folder = os.path.dirname(xllamacpp.__file__)
    lib = c.CDLL(os.path.join(folder, next(name for name in os.listdir(folder) if name.endswith(".so"))))
    lib.llama_model_default_params.restype = ModelParameters
    lib.llama_context_default_params.restype = ContextParameters
    lib.llama_batch_init.restype = Batch
    lib.llama_get_logits.restype = c.POINTER(c.c_float)
    for name in ("llama_model_load_from_file", "llama_init_from_model", "llama_adapter_lora_init", "llama_model_get_vocab"):
        getattr(lib, name).restype = c.c_void_p
    quiet = c.CFUNCTYPE(None, c.c_int, c.c_char_p, c.c_void_p)(
        lambda level, text, _: level >= 4 and sys.stderr.write(text.decode(errors="replace")))
    lib.llama_log_set(quiet, None)
    lib.quiet = quiet
    return lib


def run(lib, job):
    model = lib.llama_model_load_from_file(job["model"].encode(), lib.llama_model_default_params())
    if not model:
        sys.exit(f"llama.cpp cannot load {job['model']}")
    longest = max(map(len, job["rows"]))
    parameters = lib.llama_context_default_params()
    kinds = [place for place, value in enumerate(parameters.head) if value == -1]
    if (parameters.n_ctx, parameters.type_k, parameters.type_v, len(kinds)) != (512, F16, F16, 4):
        sys.exit("llama_context_params of this version of xllamacpp has another layout")
    parameters.n_ctx = max(256, longest)
    parameters.head[kinds[-1]], parameters.type_k, parameters.type_v = 0, F32, F32
    size = lib.llama_vocab_n_tokens(c.c_void_p(lib.llama_model_get_vocab(c.c_void_p(model))))
    tensors = {}
    for index, ids in enumerate(job["rows"]):
        context = lib.llama_init_from_model(c.c_void_p(model), parameters)
        if job.get("adapter"):
            adapter = lib.llama_adapter_lora_init(c.c_void_p(model), job["adapter"].encode())
            if not adapter:
                sys.exit(f"llama.cpp cannot load {job['adapter']}")
            one, scale = (c.c_void_p * 1)(adapter), (c.c_float * 1)(1.0)
            if lib.llama_set_adapters_lora(c.c_void_p(context), one, c.c_size_t(1), scale) != 0:
                sys.exit(f"llama.cpp cannot use {job['adapter']}")
        batch = lib.llama_batch_init(len(ids), 0, 1)
        batch.n_tokens = len(ids)
        for place, token in enumerate(ids):
            batch.token[place], batch.pos[place], batch.n_seq_id[place] = token, place, 1
            batch.seq_id[place][0], batch.logits[place] = 0, 1
        if lib.llama_decode(c.c_void_p(context), batch) != 0:
            sys.exit(f"llama.cpp cannot compute {job['model']}")
        logits = numpy.ctypeslib.as_array(lib.llama_get_logits(c.c_void_p(context)), (len(ids), size))
        tensors[f"logits.{index}"] = numpy.array(logits, dtype=numpy.float32)
        lib.llama_free(c.c_void_p(context))
    save_file(tensors, job["output"])
    lib.llama_model_free(c.c_void_p(model))


if __name__ == "__main__":
    loaded = library()
    loaded.llama_backend_init()
    with open(sys.argv[1]) as file:
        for one in json.load(file):
            run(loaded, one)

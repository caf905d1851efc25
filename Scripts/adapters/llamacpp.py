"""Logits by llama.cpp with F32 memory of keys and values, through the C functions of PyPI's xllamacpp.

usage: llamacpp.py JOBS.json    a list of {"model", "adapter" or null, "rows": [[id, ...], ...], "output"}
"""

import ctypes as c
import json
import os
import sys

import numpy
from safetensors.numpy import save_file

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))
from xllama import Library  # noqa: E402

F32, F16 = 0, 1


def precise(llama, longest):
    """The parameters of a context in single precision; their layout is this version's, and is checked by its defaults.

    Among the first fields are five kinds, each -1 by default but for the first; the last is flash attention's, which
    computes in half precision. Behind two pointers come the types of keys and values.
    """
    parameters = llama.context_default_params()
    words = parameters.words
    kinds = [place for place in range(1, 22) if words[place] == -1]
    if (words[0], words[26], words[27], len(kinds)) != (512, F16, F16, 4):
        sys.exit("llama_context_params of this version of xllamacpp has another layout")
    words[0], words[kinds[-1]], words[26], words[27] = max(256, longest), 0, F32, F32
    return parameters


def run(llama, job):
    model = c.c_void_p(llama.model_load_from_file(job["model"].encode(), llama.model_default_params()))
    if not model:
        sys.exit(f"llama.cpp cannot load {job['model']}")
    parameters = precise(llama, max(map(len, job["rows"])))
    size = llama.vocab_n_tokens(c.c_void_p(llama.model_get_vocab(model)))
    tensors = {}
    for index, ids in enumerate(job["rows"]):
        context = c.c_void_p(llama.init_from_model(model, parameters))
        if job.get("adapter"):
            adapter = llama.adapter_lora_init(model, job["adapter"].encode())
            if not adapter:
                sys.exit(f"llama.cpp cannot load {job['adapter']}")
            one, scale = (c.c_void_p * 1)(adapter), (c.c_float * 1)(1.0)
            if llama.set_adapters_lora(context, one, c.c_size_t(1), scale) != 0:
                sys.exit(f"llama.cpp cannot use {job['adapter']}")
        batch = llama.batch_init(len(ids), 0, 1)
        batch.fill([(0, place, token, 1) for place, token in enumerate(ids)])
        if llama.decode(context, batch) != 0:
            sys.exit(f"llama.cpp cannot compute {job['model']}")
        logits = numpy.ctypeslib.as_array(llama.get_logits(context), (len(ids), size))
        tensors[f"logits.{index}"] = numpy.array(logits, dtype=numpy.float32)
        llama.free(context)
    save_file(tensors, job["output"])
    llama.model_free(model)


if __name__ == "__main__":
    loaded = Library()
    quiet = c.CFUNCTYPE(None, c.c_int, c.c_char_p, c.c_void_p)(
        lambda level, text, _: level >= 4 and sys.stderr.write(text.decode(errors="replace")))
    loaded.log_set(quiet, None)
    with open(sys.argv[1]) as file:
        for one in json.load(file):
            run(loaded, one)

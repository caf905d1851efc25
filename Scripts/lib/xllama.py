"""llama.cpp as PyPI's xllamacpp has it: its server, and the C functions that the wheel's extension exports."""

import ctypes

import xllamacpp


def server(path, threads, context, attention="plain", places=1, warmup=True):
    """With `attention` "flash" or "plain", and a part of `context` for each of the places."""
    parameters = xllamacpp.CommonParams()
    parameters.model.path, parameters.n_ctx, parameters.n_parallel, parameters.warmup = path, context, places, warmup
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = threads
    kinds = xllamacpp.llama_flash_attn_type
    parameters.flash_attn_type = (
        kinds.LLAMA_FLASH_ATTN_TYPE_ENABLED if attention == "flash" else kinds.LLAMA_FLASH_ATTN_TYPE_DISABLED)
    return xllamacpp.Server(parameters)


class Opaque(ctypes.Structure):
    """Parameters are passed by value, and their fields change with the version. Longer ones than the library's do no harm."""
    _fields_ = [("words", ctypes.c_int32 * 256)]


class Batch(ctypes.Structure):
    _fields_ = [("n_tokens", ctypes.c_int32), ("token", ctypes.POINTER(ctypes.c_int32)), ("embd", ctypes.c_void_p),
                ("pos", ctypes.POINTER(ctypes.c_int32)), ("n_seq_id", ctypes.POINTER(ctypes.c_int32)),
                ("seq_id", ctypes.POINTER(ctypes.POINTER(ctypes.c_int32))), ("logits", ctypes.POINTER(ctypes.c_int8))]

    def fill(self, rows):
        """rows: (sequence, position, token, whether its logits are wanted)."""
        self.n_tokens = len(rows)
        for place, (sequence, position, token, wants) in enumerate(rows):
            self.token[place], self.pos[place], self.n_seq_id[place] = token, position, 1
            self.seq_id[place][0], self.logits[place] = sequence, wants


class Library:
    """llama_NAME as NAME; pointers are what is returned unless RESULTS says otherwise."""
    RESULTS = {"context_default_params": Opaque, "model_default_params": Opaque, "sampler_chain_default_params": Opaque,
               "batch_init": Batch, "n_ctx": ctypes.c_uint32, "n_seq_max": ctypes.c_uint32, "decode": ctypes.c_int32,
               "tokenize": ctypes.c_int32, "token_to_piece": ctypes.c_int32, "sampler_sample": ctypes.c_int32,
               "vocab_n_tokens": ctypes.c_int32, "set_adapters_lora": ctypes.c_int32, "get_logits": ctypes.POINTER(ctypes.c_float)}

    def __init__(self):
        self.library = ctypes.CDLL(xllamacpp.xllamacpp.__file__)
        self.backend_init()

    def __getattr__(self, name):
        function = getattr(self.library, "llama_" + name)
        function.restype = self.RESULTS.get(name, ctypes.c_void_p)
        setattr(self, name, function)
        return function

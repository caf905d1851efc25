"""llama.cpp for Scripts/bench-serve: bench_llama.py serve|raw MODEL THREADS plain|flash, with PyPI's xllamacpp.

serve: its server with 16 places; prints {"url": ...} and ends with standard input.
raw: llama_decode with a token of each sequence at a time, and the greedy sampler. For each line {"prompts": [...], "tokens": N} of
standard input it prints {"seconds": ..., "texts": [...]}; seconds are those of prompts and answers together.
"""
import ctypes, json, os, sys, time

import xllamacpp

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import xllama

CONTEXT = 256  # of a sequence


class Raw:
    def __init__(self, path, threads, attention):
        self.library, self.threads, self.attention = xllama.Library(), threads, attention
        self.model = ctypes.c_void_p(self.library.model_load_from_file(path.encode(), self.library.model_default_params()))
        self.vocabulary = ctypes.c_void_p(self.library.model_get_vocab(self.model))
        self.greedy = ctypes.c_void_p(self.library.sampler_init_greedy())
        self.contexts = {}

    def context(self, count):
        if count not in self.contexts:
            parameters = self.library.context_default_params()
            words = parameters.words
            # n_ctx, n_batch, n_ubatch, n_seq_max. flash_attn_type is the last of four that are -1 by default.
            words[0], words[3] = count * CONTEXT, count
            place = next(p for p in range(60) if list(words[p : p + 4]) == [-1] * 4)
            words[place + 3] = 1 if self.attention == "flash" else 0
            context = ctypes.c_void_p(self.library.init_from_model(self.model, parameters))
            if not context or self.library.n_ctx(context) != count * CONTEXT or self.library.n_seq_max(context) != count:
                sys.exit("llama_context_params are not as expected")
            self.library.set_n_threads(context, self.threads, self.threads)
            self.contexts[count] = context, self.library.batch_init(count * CONTEXT, 0, 1)
        return self.contexts[count]

    def ids(self, text):
        data, buffer = text.encode(), (ctypes.c_int32 * CONTEXT)()
        count = self.library.tokenize(self.vocabulary, data, len(data), buffer, CONTEXT, ctypes.c_bool(True), ctypes.c_bool(True))
        return list(buffer[:count])

    def text(self, ids):
        pieces, buffer = b"", ctypes.create_string_buffer(256)
        for token in ids:
            pieces += buffer.raw[: self.library.token_to_piece(self.vocabulary, token, buffer, 256, 0, ctypes.c_bool(True))]
        return pieces.decode(errors="replace")

    def decode(self, context, batch, rows):
        """rows: (sequence, position, token, whether its logits are wanted); the tokens that are picked."""
        batch.fill(rows)
        if self.library.decode(context, batch):
            sys.exit("llama_decode failed")
        return [self.library.sampler_sample(self.greedy, context, place) for place, row in enumerate(rows) if row[3]]

    def answers(self, prompts, tokens):
        prompts = [self.ids(prompt) for prompt in prompts]
        context, batch = self.context(len(prompts))
        self.library.memory_clear(ctypes.c_void_p(self.library.get_memory(context)), ctypes.c_bool(True))
        began = time.perf_counter()
        answers = [[token] for token in self.decode(context, batch, [
            (sequence, position, token, position == len(prompt) - 1)
            for sequence, prompt in enumerate(prompts) for position, token in enumerate(prompt)])]
        for step in range(tokens - 1):
            rows = [(sequence, len(prompt) + step, answers[sequence][-1], 1) for sequence, prompt in enumerate(prompts)]
            for answer, token in zip(answers, self.decode(context, batch, rows)):
                answer.append(token)
        seconds = time.perf_counter() - began
        return {"seconds": seconds, "texts": [self.text(answer) for answer in answers], "prompt_tokens": list(map(len, prompts))}


def serve(path, threads, attention):
    server = xllama.server(path, threads, 16 * CONTEXT, attention, places=16)
    print(json.dumps({"url": server.listening_address, "system": xllamacpp.get_system_info()}), flush=True)
    sys.stdin.read()


def main():
    what, path, threads, attention = sys.argv[1:]
    if what == "serve":
        return serve(path, int(threads), attention)
    raw = Raw(path, int(threads), attention)
    print(json.dumps({"system": xllamacpp.get_system_info()}), flush=True)
    for line in sys.stdin:
        asked = json.loads(line)
        print(json.dumps(raw.answers(asked["prompts"], asked["tokens"])), flush=True)


main()

"""Greedy text of llama.cpp: the ids that follow each prompt, as a line of JSON for each.

usage: llama.py MODEL.gguf TOKENS PROMPTS.json      PROMPTS: lists of ids
"""

import json
import sys

import xllamacpp


def main():
    path, count, prompts = sys.argv[1], int(sys.argv[2]), json.load(open(sys.argv[3]))
    parameters = xllamacpp.CommonParams()
    parameters.model.path = path
    parameters.n_ctx = 256
    parameters.n_parallel = 1
    parameters.cpuparams.n_threads = 1
    parameters.warmup = False
    kinds = xllamacpp.llama_flash_attn_type
    parameters.flash_attn_type = kinds.LLAMA_FLASH_ATTN_TYPE_DISABLED
    server = xllamacpp.Server(parameters)
    for prompt in prompts:
        answer = server.handle_completions({
            "prompt": prompt, "n_predict": count, "temperature": 0, "top_k": 1, "samplers": ["top_k"],
            "cache_prompt": False, "n_probs": 1})
        print(json.dumps([one["id"] for one in answer["choices"][0]["logprobs"]["content"]]), flush=True)


main()

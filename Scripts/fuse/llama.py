"""Greedy text of llama.cpp: the ids that follow each prompt, as a line of JSON for each.

usage: llama.py MODEL.gguf TOKENS PROMPTS.json      PROMPTS: lists of ids
"""

import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))
import xllama  # noqa: E402


def main():
    path, count, prompts = sys.argv[1], int(sys.argv[2]), json.load(open(sys.argv[3]))
    server = xllama.server(path, 1, 256, warmup=False)
    for prompt in prompts:
        answer = server.handle_completions({
            "prompt": prompt, "n_predict": count, "temperature": 0, "top_k": 1, "samplers": ["top_k"],
            "cache_prompt": False, "n_probs": 1})
        print(json.dumps([one["id"] for one in answer["choices"][0]["logprobs"]["content"]]), flush=True)


main()

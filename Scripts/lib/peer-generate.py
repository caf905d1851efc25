"""Prompt and decoding rates of llama.cpp or transformers on given ids, as a line of JSON for each repetition.

usage: peer-generate.py SPEC.json
  SPEC: {"peer": "llama.cpp" | "transformers", "model": PATH, "threads": N, "prompt": [ids], "tokens": N,
         "repetitions": N, "attention": "sdpa" | "eager" | "flash" | "plain", "weights": "bf16" | "fp32"}
  "prompt" is processed at once; then "tokens" are decoded greedily. The first repetition warms up and is not
  reported.
"""

import json
import sys
import time


def llama(spec):
    import xllama
    import xllamacpp

    server = xllama.server(spec["model"], spec["threads"], 1024, spec["attention"])

    def repetition():
        answer = server.handle_completions({
            "prompt": spec["prompt"], "n_predict": spec["tokens"], "temperature": 0, "top_k": 1,
            "samplers": ["top_k"], "cache_prompt": False, "ignore_eos": True})
        # llama.cpp's own clock, which includes neither the server's queue nor Python.
        timings = answer["timings"]
        if (timings["prompt_n"], timings["predicted_n"]) != (len(spec["prompt"]), spec["tokens"]):
            sys.exit(f"the token counts are not those asked for: {timings}")
        return {"prompt": timings["prompt_per_second"], "decode": timings["predicted_per_second"]}

    print(json.dumps({"system": xllamacpp.get_system_info().strip(" |\n")}))
    return repetition


def transformers(spec):
    import torch
    from transformers import AutoModelForCausalLM

    torch.set_num_threads(spec["threads"])
    model = AutoModelForCausalLM.from_pretrained(
        spec["model"], dtype={"bf16": torch.bfloat16, "fp32": torch.float32}[spec["weights"]],
        attn_implementation=spec["attention"]).eval()
    ids = torch.tensor([spec["prompt"]])

    def repetition():
        with torch.inference_mode():
            began = time.perf_counter()
            model(ids, use_cache=True, logits_to_keep=1)
            seconds = time.perf_counter() - began
        return {"prompt": len(spec["prompt"]) / seconds}

    return repetition


def main():
    with open(sys.argv[1]) as file:
        spec = json.load(file)
    repetition = {"llama.cpp": llama, "transformers": transformers}[spec["peer"]](spec)
    for number in range(spec["repetitions"] + 1):
        rates = repetition()
        if number:
            print(json.dumps(rates), flush=True)


main()

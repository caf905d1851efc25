"""Compares vLLM's log probabilities of a prompt with Skein's: check-vllm.py SKEIN MODEL DIRECTORY, which has base and run/adapter."""

import json
import os
import shutil
import subprocess
import sys

import torch
from safetensors.torch import load_file
from vllm import LLM, SamplingParams
from vllm.lora.request import LoRARequest

PROMPT = 'What does "foo" mean in hacker slang? It is the first of the metasyntactic variables, and'
LIMIT = 1e-3  # of log probabilities, absolute


def variant(directory):
    """The adapter with other scales, as people's configurations have them."""
    path = os.path.join(directory, "scaled")
    shutil.copytree(os.path.join(directory, "run/adapter"), path)
    name = os.path.join(path, "adapter_config.json")
    with open(name) as file:
        config = json.load(file)
    config.update(use_rslora=True, lora_alpha=4, alpha_pattern={"q_proj": 8, "layers.3.mlp.down_proj": 1}, auto_mapping=None)
    with open(name, "w") as file:
        json.dump(config, file)
    return path


def ours(skein, model, directory, adapter):
    """Ids of the prompt, and the log probability of each after the first, by Skein."""
    path = os.path.join(directory, "logits.safetensors")
    if os.path.exists(path):
        os.remove(path)
    words = ["generate", "--model", model, "--prompt", PROMPT, "--logits", path]
    subprocess.run([skein, *words, *(["--adapter", adapter] if adapter else [])], check=True, capture_output=True)
    file = load_file(path)
    ids = file["ids"].long()
    logits = torch.log_softmax(file["logits"].double(), -1)
    return ids.tolist(), logits[:-1].gather(1, ids[1:, None])[:, 0]


def theirs(llm, ids, adapter):
    request = LoRARequest(adapter, sum(map(ord, adapter)), adapter) if adapter else None
    prompt = {"prompt_token_ids": ids}
    answer = llm.generate([prompt], SamplingParams(temperature=0, max_tokens=1, prompt_logprobs=1), lora_request=request, use_tqdm=False)[0]
    return torch.tensor([found[i].logprob for i, found in zip(ids[1:], answer.prompt_logprobs[1:])], dtype=torch.float64)


def main():
    skein, model, directory = sys.argv[1:]
    llm = LLM(model=os.path.join(directory, "base"), dtype="float32", enable_lora=True, max_lora_rank=8, max_model_len=256,
              max_num_seqs=2, enforce_eager=True)
    failed = False
    base = None
    for name, adapter in (("base", None), ("adapter", os.path.join(directory, "run/adapter")), ("rank-stabilized, with alphas by module", variant(directory))):
        ids, expected = ours(skein, model, directory, adapter)
        error = (theirs(llm, ids, adapter) - expected).abs().max().item()
        base = expected if base is None else base
        effect = (expected - base).abs().max().item()
        print(f"vLLM, {name}: largest difference of a log probability {error:.1e}; the adapter moves one by {effect:.1e}", flush=True)
        failed |= not error <= LIMIT or (adapter is not None and not effect > 100 * LIMIT)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()

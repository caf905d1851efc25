"""Trains LoRA with PyTorch + PEFT on rows of ids, and prints each step's time as a line of JSON.

usage: peer-train.py SPEC.json
  SPEC: {"model": FOLDER, "kind": ..., "threads": N, "batch": N, "rank": N, "runs":
         [{"workload": NAME, "attention": ..., "rows": FILE, "steps": N}], "dropout": X, "checkpointing": BOOL}
  A row is {"ids": [...], "labels": [...]}.
"""

import contextlib
import json
import sys
import time

import torch
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM

IGNORED = -100
# dtype of the frozen weights, whether the adapter stays in fp32 (PEFT's default), autocast, PyTorch's precision of
# fp32 products.
KINDS = {
    "fp32": (torch.float32, True, False, "highest"),
    "fp32, bf16 products": (torch.float32, True, False, "medium"),
    "bf16 weights": (torch.bfloat16, False, False, "highest"),
    "bf16 weights, fp32 adapter": (torch.bfloat16, True, False, "highest"),
    "bf16 autocast": (torch.float32, True, True, "highest"),
    "bf16 weights, autocast": (torch.bfloat16, True, True, "highest"),
}


def make_model(spec):
    dtype, keeps_adapter, _, precision = KINDS[spec["kind"]]
    torch.set_num_threads(spec["threads"])
    torch.set_float32_matmul_precision(precision)
    torch.manual_seed(0)
    attention = spec["runs"][0]["attention"]
    base = AutoModelForCausalLM.from_pretrained(spec["model"], dtype=dtype, attn_implementation=attention)
    base.config.use_cache = False
    lora = LoraConfig(r=spec["rank"], lora_alpha=2 * spec["rank"], lora_dropout=spec["dropout"], task_type="CAUSAL_LM",
                      target_modules=["q_proj", "k_proj", "v_proj", "o_proj"])
    model = get_peft_model(base, lora, autocast_adapter_dtype=keeps_adapter).train()
    if spec["checkpointing"]:
        model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
    return model


def batch_of(rows):
    """Ids, mask and labels, [rows, longest] each, padded at the right to the longest row."""
    longest = max(len(row["ids"]) for row in rows)
    padded = [[], [], []]
    for row in rows:
        gap = longest - len(row["ids"])
        padded[0].append(row["ids"] + [0] * gap)
        padded[1].append([1] * len(row["ids"]) + [0] * gap)
        padded[2].append(row["labels"] + [IGNORED] * gap)
    return dict(zip(("input_ids", "attention_mask", "labels"), map(torch.tensor, padded)))


def train_step(model, optimizer, rows, autocast):
    batch = batch_of(rows)
    with torch.autocast("cpu", dtype=torch.bfloat16) if autocast else contextlib.nullcontext():
        loss = model(**batch).loss
    loss.backward()
    torch.nn.utils.clip_grad_norm_([p for p in model.parameters() if p.requires_grad], 1.0)
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    return loss.item()


def main():
    with open(sys.argv[1]) as file:
        spec = json.load(file)
    model = make_model(spec)
    autocast = KINDS[spec["kind"]][2]
    trained = [p for p in model.parameters() if p.requires_grad]
    for run in spec["runs"]:
        model.get_base_model().set_attn_implementation(run["attention"])
        # Each run starts with an adapter that adds nothing, so that its first loss is the base model's.
        for name, parameter in model.named_parameters():
            if "lora_B" in name:
                torch.nn.init.zeros_(parameter)
        optimizer = torch.optim.AdamW(trained, lr=1e-4, weight_decay=0.01, fused=True)
        with open(run["rows"]) as file:
            rows = [json.loads(line) for line in file]
        for step in range(run["steps"]):
            chosen = rows[step * spec["batch"] : (step + 1) * spec["batch"]]
            began = time.perf_counter()
            loss = train_step(model, optimizer, chosen, autocast)
            seconds = time.perf_counter() - began
            print(json.dumps({
                "workload": run["workload"], "attention": run["attention"], "step": step + 1, "loss": loss,
                "seconds": seconds, "tokens": sum(len(row["ids"]) for row in chosen),
                "loss_tokens": sum(label != IGNORED for row in chosen for label in row["labels"][1:]),
            }), flush=True)


main()

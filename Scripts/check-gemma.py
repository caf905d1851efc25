"""Compares Skein on the real Gemma 3 270M with transformers + PEFT on the dequantized weights.

usage: check-gemma.py MODEL.gguf ROWS.jsonl LOGITS.safetensors GREEDY.json METRICS.jsonl ADAPTER0

LOGITS: what `skein generate --logits` wrote for PROMPT; GREEDY: the text after it; METRICS: of
`skein train` over ROWS, four a step in order; ADAPTER0: the adapter that it began with.
"""

import json
import os
import sys

import torch
from peft import PeftModel
from safetensors.torch import load_file
from transformers import AutoModelForCausalLM, AutoTokenizer

STEPS, BATCH, NEW_TOKENS = 10, 4, 24


def row_tokens(tokenizer, row):
    """[bos] prompt [eos] completion [eos], and whether each token carries loss."""
    bos, eos = [tokenizer.bos_token_id], [tokenizer.eos_token_id]
    prompt = tokenizer.encode(row["prompt"], add_special_tokens=False)
    completion = tokenizer.encode(row["completion"], add_special_tokens=False)
    ids = bos + prompt + eos + completion + eos
    return ids, [False] * (len(prompt) + 2) + [True] * (len(completion) + 1)


def train(model, tokenizer, rows):
    trained = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=1e-4, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01)
    losses = []
    for step in range(STEPS):
        total, count = 0.0, 0
        optimizer.zero_grad()
        for row in rows[step * BATCH : (step + 1) * BATCH]:
            ids, learnt = row_tokens(tokenizer, row)
            logits = model(torch.tensor([ids])).logits[0, :-1]
            targets = torch.tensor(ids[1:])
            chosen = torch.tensor(learnt[1:])
            loss = torch.nn.functional.cross_entropy(logits[chosen], targets[chosen], reduction="sum")
            loss.backward()
            total, count = total + loss.item(), count + int(chosen.sum())
        for parameter in trained:
            parameter.grad /= count
        optimizer.step()
        losses.append(total / count)
    return losses


def main():
    gguf, rows, logits, greedy, metrics, adapter = sys.argv[1:]
    folder, name = os.path.split(os.path.abspath(gguf))
    tokenizer = AutoTokenizer.from_pretrained(folder, gguf_file=name)
    model = AutoModelForCausalLM.from_pretrained(
        folder, gguf_file=name, dtype=torch.float32, attn_implementation="eager"
    ).eval()
    ours = load_file(logits)
    ids = ours["ids"].long().unsqueeze(0)
    with torch.no_grad():
        theirs = model(ids).logits[0].double()
        text = model.generate(ids, max_new_tokens=NEW_TOKENS, do_sample=False)[0, ids.shape[1] :]
    error = ((theirs - ours["logits"].double()).norm() / theirs.norm()).item()
    text = tokenizer.decode(text)
    with open(greedy) as file:
        found = json.load(file)["text"]
    print(f"logits: relative L2 {error:.2e} (limit 1e-4)")
    print(f"greedy text: {'equal' if found == text else f'{found!r}, expected {text!r}'}")
    with open(rows) as file:
        rows = [json.loads(line) for line in file]
    with open(metrics) as file:
        steps = [line for line in map(json.loads, file) if "loss" in line and "learning_rate" in line]
    losses = train(PeftModel.from_pretrained(model, adapter, is_trainable=True), tokenizer, rows)
    worst = 0.0
    for step, (line, expected) in enumerate(zip(steps, losses, strict=True), start=1):
        worst = max(worst, abs(line["loss"] - expected) / expected)
        print(f"step {step}: loss {line['loss']:.7f}, expected {expected:.7f}")
    print(f"losses: worst relative difference {worst:.2e} (limit 5e-5)")
    sys.exit(0 if error <= 1e-4 and found == text and worst <= 5e-5 else 1)


if __name__ == "__main__":
    main()

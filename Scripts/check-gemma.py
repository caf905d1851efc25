"""Compares Skein on the real Gemma 3 270M with transformers + PEFT on the dequantized weights.

usage: check-gemma.py SKEIN MODEL.gguf TOKENS.json ROWS.jsonl LOGITS.safetensors GREEDY.json METRICS.jsonl ADAPTER0

TOKENS: texts with their ids and what these decode to; LOGITS: what `skein generate --logits` wrote
for PROMPT; GREEDY: the text after it; METRICS: of `skein train` over ROWS, four a step in order;
ADAPTER0: the adapter that it began with.
"""

import json
import os
import subprocess
import sys

import torch
from peft import PeftModel
from safetensors.torch import load_file
from transformers import AutoModelForCausalLM, AutoTokenizer

STEPS, BATCH, NEW_TOKENS = 10, 4, 24
PROMPT = "The capital of France is"
LINE = "The keeper didn't count 214 steps.\n"


def ids_of(skein, model, text):
    arguments = [skein, "tokenize", "--model", model, "--json", "-"]
    return json.loads(subprocess.run(arguments, input=text.encode(), capture_output=True, check=True).stdout)["ids"]


def text_of(skein, model, ids):
    arguments = [skein, "tokenize", "--model", model, "--json", "--decode", " ".join(map(str, ids))]
    return json.loads(subprocess.run(arguments, capture_output=True, check=True).stdout)["text"]


def wrong_texts(skein, model, tokenizer, examples):
    """The texts whose ids, or what these decode to, are wrong; the last one is long."""
    wrong = [
        text["text"] for text in examples
        if ids_of(skein, model, text["text"]) != text["ids"] or text_of(skein, model, text["ids"]) != text["decoded"]
    ]
    long = LINE * 30_000
    if ids_of(skein, model, long) != tokenizer.encode(long, add_special_tokens=False):
        wrong.append(LINE)
    return wrong


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
    skein, gguf, tokens, rows, logits, greedy, metrics, adapter = sys.argv[1:]
    folder, name = os.path.split(os.path.abspath(gguf))
    tokenizer = AutoTokenizer.from_pretrained(folder, gguf_file=name)
    model = AutoModelForCausalLM.from_pretrained(
        folder, gguf_file=name, dtype=torch.float32, attn_implementation="eager"
    ).eval()
    with open(tokens) as file:
        reference = json.load(file)
    wrong = wrong_texts(skein, gguf, tokenizer, reference["strings"])
    ours = load_file(logits)
    ids = ours["ids"].long().unsqueeze(0)
    if ids[0].tolist() != [reference["bos"]] + tokenizer.encode(PROMPT, add_special_tokens=False):
        wrong.append(PROMPT)
    print(f"tokens: {f'wrong for {wrong}' if wrong else 'equal'}")
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
        error = abs(line["loss"] - expected) / expected
        worst = max(worst, error if error == error else float("inf"))
        print(f"step {step}: loss {line['loss']:.7f}, expected {expected:.7f}")
    print(f"losses: worst relative difference {worst:.2e} (limit 5e-5)")
    sys.exit(0 if error <= 1e-4 and found == text and not wrong and worst <= 5e-5 else 1)


if __name__ == "__main__":
    main()

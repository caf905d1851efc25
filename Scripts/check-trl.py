"""Compares Skein's losses of pairs of answers, and their gradients, with those of TRL's trainers.

Rows are random words. Their tokens are Skein's; the trainers get them as their own collators would give them. Prompts of
one token, since TRL's ORPO adds the prompt's tokens to its likelihood, and the paper and Skein do not: nothing is
predicted for the first token.
"""

import json
import os
import random
import subprocess
import sys
import tempfile

import torch
from datasets import Dataset
from peft import LoraConfig, set_peft_model_state_dict
from safetensors.torch import load_file
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import DPOConfig, DPOTrainer
from trl.experimental.cpo import CPOConfig, CPOTrainer
from trl.experimental.orpo import ORPOConfig, ORPOTrainer

TOLERANCE = 1e-4
WORDS = "the a river stone light of over under seven bright wave quiet engine garden north letter paper".split()


def run(*words):
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def ids(skein, model, text):
    return json.loads(run(skein, "tokenize", "--model", model, "--json", text))["ids"]


def rows(generator, count):
    def answer():
        return "".join(" " + generator.choice(WORDS) for _ in range(generator.randint(2, 12)))

    made = []
    while len(made) < count:
        row = {"prompt": generator.choice(["The", "A", "In", "On"]), "chosen": answer(), "rejected": answer()}
        if row["chosen"] != row["rejected"]:
            made.append(row)
    return made


def padded(sequences, value):
    longest = max(map(len, sequences))
    return torch.tensor([list(s) + [value] * (longest - len(s)) for s in sequences])


def batch_of(kind, pairs):
    """Tensors as the trainer's collator makes them; pairs of (prompt, chosen, rejected) as tokens."""
    if kind == "dpo":
        whole = [p + c for p, c, _ in pairs] + [p + r for p, _, r in pairs]
        masks = [[0] * len(p) + [1] * len(c) for p, c, _ in pairs] + [[0] * len(p) + [1] * len(r) for p, _, r in pairs]
        return {
            "input_ids": padded(whole, 0),
            "attention_mask": padded([[1] * len(s) for s in whole], 0),
            "completion_mask": padded(masks, 0),
        }
    batch = {}
    for name, index in [("chosen", 1), ("rejected", 2)]:
        whole = [pair[0] + pair[index] for pair in pairs]
        batch[name + "_input_ids"] = padded(whole, 0)
        batch[name + "_attention_mask"] = padded([[1] * len(s) for s in whole], 0)
        batch[name + "_labels"] = padded([[-100] * len(pair[0]) + pair[index] for pair in pairs], -100)
    return batch


def trainer_of(kind, model, tokenizer, data, directory, adapter):
    with open(os.path.join(adapter, "adapter_config.json")) as file:
        config = json.load(file)
    lora = LoraConfig(
        r=config["r"], lora_alpha=config["lora_alpha"], lora_dropout=0.0, target_modules=config["target_modules"],
        task_type="CAUSAL_LM",
    )
    common = dict(output_dir=directory, use_cpu=True, bf16=False, fp16=False, report_to="none", gradient_checkpointing=False)
    cls, args = {
        "dpo": (DPOTrainer, lambda: DPOConfig(beta=0.1, **common)),
        "orpo": (ORPOTrainer, lambda: ORPOConfig(beta=0.1, **common)),
        "simpo": (CPOTrainer, lambda: CPOConfig(loss_type="simpo", cpo_alpha=0.0, beta=2.0, simpo_gamma=1.0, **common)),
    }[kind]
    trainer = cls(
        model=model, args=args(), train_dataset=Dataset.from_list(data), processing_class=tokenizer, peft_config=lora
    )
    set_peft_model_state_dict(trainer.model, load_file(os.path.join(adapter, "adapter_model.safetensors")))
    return trainer


def main():
    skein, gguf, adapter, seed = sys.argv[1:]
    generator = random.Random(int(seed))
    folder, name = os.path.split(os.path.abspath(gguf))
    tokenizer = AutoTokenizer.from_pretrained(folder, gguf_file=name)
    tokenizer.pad_token = tokenizer.pad_token or tokenizer.eos_token
    data = rows(generator, 6)
    end = ids(skein, gguf, tokenizer.eos_token)
    pairs = [
        (ids(skein, gguf, row["prompt"]), ids(skein, gguf, row["chosen"]) + end, ids(skein, gguf, row["rejected"]) + end)
        for row in data
    ]
    assert all(len(pair[0]) == 1 for pair in pairs)
    failed = False
    for kind in ["dpo", "orpo", "simpo"]:
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "rows.jsonl")
            with open(path, "w") as file:
                file.writelines(json.dumps(row) + "\n" for row in data)
            gradients = os.path.join(directory, "gradients.safetensors")
            ours = json.loads(
                run(
                    skein, "evaluate", "--model", gguf, "--adapter", adapter, "--data", path, "--loss", kind,
                    "--prompt-format", "raw", "--gradients", gradients, "--json",
                )
            )["adapter"]
            ours_gradient = load_file(gradients)
            model = AutoModelForCausalLM.from_pretrained(folder, gguf_file=name, dtype=torch.float32)
            # Its weights have been converted to floats; trainers refuse a model that remembers what it was.
            model.is_quantized = False
            trainer = trainer_of(kind, model, tokenizer, data, directory, adapter)
            trainer.model.train()
            loss = trainer.compute_loss(trainer.model, batch_of(kind, pairs))
            loss.backward()
            worst = 0.0
            largest = 0.0
            count = 0
            for key, parameter in trainer.model.named_parameters():
                if "lora_" not in key or ".ref." in key:
                    continue
                mine = ours_gradient[key.replace(".default", "")]
                worst = max(worst, (parameter.grad - mine).abs().max().item())
                largest = max(largest, parameter.grad.abs().max().item())
                count += 1
            assert count == len(ours_gradient), (count, len(ours_gradient))
            difference = abs(loss.item() - ours["loss"])
            print(
                f"{kind:6} loss {ours['loss']:.6f}, trl {loss.item():.6f}, difference {difference:.1e}; "
                f"{count} gradients, largest {largest:.2e}, max abs difference {worst:.1e}"
            )
            failed |= difference > TOLERANCE or worst > TOLERANCE or largest < 10 * TOLERANCE
    sys.exit(1 if failed else 0)


main()

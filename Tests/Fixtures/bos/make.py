"""Writes a random Llama model of 23 thousand numbers whose tokenizer wants a begin token, and goldens.json:
ids, loss tokens and losses of training rows as PyPI transformers makes them.

Usage: python3 make.py        (in this directory)
Made with Python 3.11, torch 2.15.0 (fp32, one thread), transformers 5.23.0, tokenizers 0.23.3.

The tokenizer is ../tokenizers/llama3.json, whose post-processor puts <|begin_of_text|> before a text;
the test lays it beside the files of this directory as tokenizer.json.

| rows | ids |
|---|---|
| text | tokenizer(text) + end |
| eos | tokenizer(prompt) + end + completion + end |
| raw | tokenizer(prompt) + completion + end |
| chat | apply_chat_template(user: prompt, with generation prompt) + completion + end of turn |

Completions are encoded without special tokens. Loss is on texts and completions with their end.
Each list has the loss without the begin token beside it, so that a test can tell the two apart.

"unnamed" has the ids of the same rows with a tokenizer_config.json that has no bos_token, and what some
templates make of a conversation then; null where transformers raises UndefinedError.
"""

import json
import os
import shutil
import tempfile

import torch
from jinja2 import UndefinedError
from transformers import AutoModelForCausalLM, AutoTokenizer, LlamaConfig, LlamaForCausalLM

BEGIN, END = "<|begin_of_text|>", "<|eot_id|>"
TEMPLATE = (
    "{{ bos_token }}{% for message in messages %}{{ '<|eot|>' + message['role'] + '\n' + message['content']"
    " + '<|eot_id|>' }}{% endfor %}{% if add_generation_prompt %}{{ '<|eot|>assistant\n' }}{% endif %}"
)
TEXTS = [
    "The keeper of the northern light climbed 214 steps every evening.",
    "On clear nights she could see 37 ships, 5 islands and a whale.",
    "Three lights, two flashes, one dark; that's how you'll know us.",
]
TEMPLATES = [
    TEMPLATE, "{{ bos_token }}|{{ eos_token }}", "{{ bos_token + 'x' }}",
    "{% if bos_token is defined %}defined{% else %}undefined{% endif %}",
]
PAIRS = [
    ["How many steps?", " 214, every evening."],
    ["What did she write down?", " date, hour, wind, what she'd seen"],
    ["", "an answer without a question"],
]


def model(folder):
    torch.manual_seed(12)
    config = LlamaConfig(
        vocab_size=446, hidden_size=24, intermediate_size=40, num_hidden_layers=2, num_attention_heads=3,
        num_key_value_heads=1, head_dim=16, max_position_embeddings=256, rope_theta=10000.0,
        tie_word_embeddings=True, bos_token_id=443, eos_token_id=444, initializer_range=0.3,
        dtype="float32")
    LlamaForCausalLM(config).save_pretrained(folder)
    os.remove(os.path.join(folder, "generation_config.json"))


def main():
    torch.set_num_threads(1)
    here = os.path.dirname(os.path.abspath(__file__))
    model(here)
    config = {"bos_token": BEGIN, "eos_token": END, "chat_template": TEMPLATE,
              "tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": 256}
    with open(os.path.join(here, "tokenizer_config.json"), "w") as file:
        json.dump(config, file, indent=1)
        file.write("\n")
    with tempfile.TemporaryDirectory() as folder:
        for name in ["config.json", "model.safetensors", "tokenizer_config.json"]:
            shutil.copy(os.path.join(here, name), folder)
        shutil.copy(os.path.join(here, "../tokenizers/llama3.json"), os.path.join(folder, "tokenizer.json"))
        tokenizer = AutoTokenizer.from_pretrained(folder)
        llama = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
        del config["bos_token"]
        with open(os.path.join(folder, "tokenizer_config.json"), "w") as file:
            json.dump(config, file)
        unnamed = AutoTokenizer.from_pretrained(folder)
    begin, end = tokenizer.convert_tokens_to_ids([BEGIN, END])

    def loss(rows):
        total, count = 0.0, 0
        for ids, targets in rows:
            with torch.no_grad():
                logits = llama(torch.tensor([ids])).logits[0]
            losses = torch.nn.functional.cross_entropy(logits[:-1], torch.tensor(ids[1:]), reduction="none")
            kept = losses[max(targets, 1) - 1:]
            total, count = total + kept.double().sum().item(), count + len(kept)
        return {"loss": total / count, "loss_tokens": count}

    def entry(rows):
        assert all(ids[0] == begin and ids.count(begin) == 1 for ids, _ in rows)
        return {"ids": [ids for ids, _ in rows], **loss(rows),
                "without": loss([(ids[1:], targets - 1) for ids, targets in rows])}

    def rows(tokenizer):
        def whole(text):
            return tokenizer(text)["input_ids"]

        def prompt(text):
            return list(tokenizer.apply_chat_template(
                [{"role": "user", "content": text}], add_generation_prompt=True, return_dict=False))

        def pair(head, completion):
            plain = tokenizer(completion, add_special_tokens=False)["input_ids"]
            return (head + plain + [end], len(head))

        return {
            "text": [(whole(text) + [end], 1) for text in TEXTS],
            "eos": [pair(whole(p) + [end], c) for p, c in PAIRS],
            "raw": [pair(whole(p), c) for p, c in PAIRS],
            "chat": [pair(prompt(p), c) for p, c in PAIRS],
        }

    def rendered(source):
        try:
            return unnamed.apply_chat_template(
                [{"role": "user", "content": "a"}], chat_template=source, tokenize=False)
        except UndefinedError:
            return None

    goldens = {
        "texts": TEXTS, "pairs": PAIRS, **{name: entry(list) for name, list in rows(tokenizer).items()},
        "unnamed": {
            **{name: [ids for ids, _ in list] for name, list in rows(unnamed).items()},
            "templates": [{"source": source, "text": rendered(source)} for source in TEMPLATES],
        },
    }
    with open(os.path.join(here, "goldens.json"), "w", encoding="ascii") as file:
        json.dump(goldens, file, separators=(",", ":"))
        file.write("\n")


main()

"""Trains LoRA with TRL's SFTTrainer on the CPU, and says what was trained.

usage: peer_trl.py JOB.json
  JOB: {"model": FOLDER, "data": JSONL, "output": FOLDER, "report": JSON, "training": {of SFTConfig}, "lora": {of LoraConfig},
        "answers_alone": whether conversations teach the assistant's turns only}
"""

import json
import sys
import time
from importlib.metadata import version

from datasets import Dataset
from peft import LoraConfig
from trl import SFTConfig, SFTTrainer

TRAINING = ("learning_rate", "lr_scheduler_type", "warmup_steps", "num_train_epochs", "max_steps", "per_device_train_batch_size",
            "gradient_accumulation_steps", "optim", "weight_decay", "max_grad_norm", "bf16", "gradient_checkpointing", "seed",
            "max_length", "completion_only_loss", "assistant_only_loss", "packing")
LORA = ("r", "lora_alpha", "lora_dropout", "target_modules", "use_rslora")


def conversational(row):
    """A row in TRL's spelling: a pair of texts is the turns of a user and an assistant, so that the chat template is used."""
    if "prompt" not in row:
        return row
    return {"prompt": [{"role": "user", "content": row["prompt"]}],
            "completion": [{"role": "assistant", "content": row["completion"]}]}


def plain(value):
    return sorted(value) if isinstance(value, set) else getattr(value, "value", value)


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        job = json.load(file)
    with open(job["data"], encoding="utf-8") as file:
        rows = [conversational(json.loads(line)) for line in file]
    training = SFTConfig(
        output_dir=job["output"], use_cpu=True, report_to="none", save_strategy="no", disable_tqdm=True,
        assistant_only_loss=job["answers_alone"] and "messages" in rows[0], **job["training"])
    trainer = SFTTrainer(
        model=job["model"], args=training, train_dataset=Dataset.from_list(rows),
        peft_config=LoraConfig(task_type="CAUSAL_LM", **job["lora"]))
    start = time.monotonic()
    trainer.train()
    seconds = time.monotonic() - start
    trainer.save_model(job["output"])
    adapter = trainer.model.peft_config["default"]
    tokens = [sum(label != -100 for label in row["labels"]) for row in trainer.train_dataset]
    report = {
        "options": {**{name: plain(getattr(training, name)) for name in TRAINING},
                    **{name: plain(getattr(adapter, name)) for name in LORA}},
        "steps": trainer.state.global_step, "seconds": round(seconds, 1), "learned_tokens_of_an_epoch": sum(tokens),
        "version": ", ".join(f"{name} {version(name)}" for name in ("trl", "peft", "transformers", "torch")),
    }
    with open(job["report"], "w", encoding="utf-8") as file:
        json.dump(report, file)


main()

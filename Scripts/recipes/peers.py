"""Trains a cell's rows with the other tools themselves, by their own defaults, and judges the adapters as measure.py does.

peers.py CELL --skein S --model GGUF --pairs P --work DIR --results DIR --python VENV_PYTHON [--mlx-python VENV_PYTHON]
         [--tools trl,mlx-lm,unsloth,axolotl] [--threads N]
VENV_PYTHON has torch, transformers, peft, trl, datasets and gguf, and, unless --mlx-python names another, mlx[cpu] and mlx-lm.
What is in the results already is not run again.

What all of them share is the cell: the same weights in fp32, the same text, rows cut at plan.MAX_LENGTH tokens. unsloth and
axolotl need a GPU, so their numbers run through TRL, with PyTorch's AdamW instead of the one in 8 bits, and each row by itself
where axolotl's example packs rows (2048 tokens of a sequence would hold a small cell in one step).
"""

import argparse
import contextlib
import hashlib
import json
import os
import pathlib
import signal
import subprocess

import arguments
import judge
import plan
import results

HERE = os.path.dirname(os.path.abspath(__file__))
ALL_LINEAR = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]
TRL = {
    # SFTConfig() and LoraConfig() as they are.
    "trl": {"training": {}, "lora": {}, "answers_alone": False},
    # unslothai/notebooks bdda2efc, Llama3.2_(1B_and_3B)-Conversational.
    "unsloth": {
        "training": {
            "learning_rate": 2e-4, "lr_scheduler_type": "linear", "warmup_steps": 5, "max_steps": 60, "optim": "adamw_torch",
            "per_device_train_batch_size": 2, "gradient_accumulation_steps": 4, "weight_decay": 0.001, "seed": 3407},
        "lora": {"r": 16, "lora_alpha": 16, "lora_dropout": 0, "bias": "none", "target_modules": ALL_LINEAR},
        "answers_alone": True},
    # axolotl-ai-cloud/axolotl 067b021c, examples/llama-3/lora-1b.yml. A warm-up below 1 is a share of the steps.
    "axolotl": {
        "training": {
            "learning_rate": 2e-4, "lr_scheduler_type": "cosine", "warmup_steps": 0.1, "num_train_epochs": 1,
            "optim": "adamw_torch", "per_device_train_batch_size": 2, "gradient_accumulation_steps": 2, "weight_decay": 0.0},
        "lora": {"r": 16, "lora_alpha": 32, "lora_dropout": 0.05, "target_modules": ALL_LINEAR},
        "answers_alone": True},
}
TOOLS = ("trl", "mlx-lm", "unsloth", "axolotl")


class Peers(judge.Cell):
    def __init__(self, words):
        super().__init__(words)
        self.environment = {
            **os.environ, "HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false",
            "OMP_NUM_THREADS": str(words.threads), "OMP_WAIT_POLICY": "passive",
            "OPENBLAS_NUM_THREADS": str(words.threads)}

    def measure(self, tools):
        for tool in tools:
            if tool in results.read(self.file).get("peers", {}):
                continue
            judge.say(f"{self.name}: {tool}")
            found = self.trained(tool)
            adapter = f"peers/{tool}"
            found["loss"] = round(self.evaluation(adapter)["loss"], 5)
            right = self.accuracies({"base": None, tool: adapter})
            found["accuracy"] = right[tool]
            results.update(self.file, lambda all: self.add(all, tool, found, right["base"]))

    def add(self, all, tool, found, base):
        all.setdefault("base", {"accuracy": base})
        all.setdefault("peers", {})[tool] = found

    def trained(self, tool):
        """What a tool has trained into peers/TOOL; a tool that was stopped while it trained begins again."""
        job, report = f"peers/{tool}.job.json", f"peers/{tool}.report.json"
        if not os.path.exists(report):
            os.makedirs("peers", exist_ok=True)
            words = {"model": self.weights(), "output": f"peers/{tool}", "report": report}
            if tool == "mlx-lm":
                python, script = self.arguments.mlx_python or self.arguments.python, "peer_mlx.py"
                words.update(data=".", training={"max-seq-length": plan.MAX_LENGTH})
            else:
                python, script = self.arguments.python, "peer_trl.py"
                words.update(TRL[tool], data="train.jsonl")
                words["training"] = {**words["training"], "max_length": plan.MAX_LENGTH}
            with open(job, "w", encoding="utf-8") as file:
                json.dump(words, file)
            self.run(python, script, job, log=f"peers/{tool}.log")
        with open(report, encoding="utf-8") as file:
            return json.load(file)

    def weights(self):
        """The model as a folder of Hugging Face's, which is made once for all cells."""
        with open(self.arguments.model, "rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        folder = pathlib.Path(self.arguments.work, "weights", f"{self.model}-{digest[:16]}")
        if not folder.exists():
            part = folder.with_suffix(".part")
            part.mkdir(parents=True, exist_ok=True)
            self.run(self.arguments.python, "peer_weights.py", self.model, self.arguments.model, part, log=f"{part}.log")
            part.rename(folder)
        return str(folder)

    def run(self, python, script, *words, log):
        with open(log, "w", encoding="utf-8") as file:
            # A group of its own, so that a signal ends what the script has started, too: mlx-lm is a program of its own.
            process = subprocess.Popen([python, f"{HERE}/{script}", *words], env=self.environment, stdout=file, stderr=file,
                                       start_new_session=True)
            try:
                status = process.wait()
            except BaseException:
                # It is gone if the signal came as it ended.
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                raise
        if status:
            raise SystemExit(f"{self.name}: {script} failed; see {os.path.abspath(log)}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--python", required=True)
    parser.add_argument("--mlx-python")
    parser.add_argument("--tools", default=",".join(TOOLS))
    words = arguments.arguments_of(parser)
    # A link to an interpreter is its environment, so it is not followed.
    for name in ("python", "mlx_python"):
        if getattr(words, name):
            setattr(words, name, os.path.abspath(getattr(words, name)))
    tools = words.tools.split(",")
    if unknown := set(tools) - set(TOOLS):
        parser.error(f"no such tools: {', '.join(sorted(unknown))}; there are {', '.join(TOOLS)}")
    Peers(words).measure(tools)


main()

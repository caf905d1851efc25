"""Fused models beside base and adapter, transformers + PEFT and llama.cpp. Run by Scripts/check-fuse.

usage: check.py SKEIN MODEL.gguf DIRECTORY [--seed N] [--family NAME ...] [--only smollm2|families]
DIRECTORY has rows.jsonl.
"""

import argparse
import json
import os
import subprocess
import sys

import torch
from peft import LoraConfig, PeftModel, get_peft_model
from safetensors.torch import load_file
from transformers import AutoModelForCausalLM, AutoTokenizer

HERE = os.path.dirname(os.path.abspath(__file__))
NAMED = os.path.join(HERE, "..", "lib", "named.json")
sys.path[:0] = [os.path.join(HERE, "..", "families"), os.path.join(HERE, "..", "lib")]
import convert  # noqa: E402
import draw  # noqa: E402
from peer_processes import end_on_signals  # noqa: E402

PROMPTS = ["The capital of France is", "def fibonacci(n):\n", "Once upon a time", "The three laws of motion are",
           "Dear Sir or Madam,"]
TYPES = ["F32", "F16", "BF16", "Q8_0", "Q6_K", "Q4_K", "Q4_0"]
GREEDY = 20
problems = []


def require(name, value, bound):
    mark = "" if value <= bound else "  <-- above the bound"
    print(f"  {name}: {value:.3g} (bound {bound:.0e}){mark}", flush=True)
    if not value <= bound:
        problems.append(name)


class Skein:
    def __init__(self, path, directory):
        self.path, self.directory = path, directory

    def __call__(self, *words):
        done = subprocess.run([self.path, *words], capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"skein {' '.join(words)}\n{done.stderr}")
        return done.stdout

    def fuse(self, model, adapter, name, *words):
        output = os.path.join(self.directory, name)
        adapted = ["--adapter", adapter] if adapter else []
        return output, json.loads(self("fuse", "--model", model, *adapted, "--output", output, "--json", *words))

    def loss(self, model, rows, *words):
        found = json.loads(self("evaluate", "--model", model, "--data", rows, "--json", *words))
        return found.get("adapter", found["base"])["loss"]

    def logits(self, model, prompt, *words):
        path = os.path.join(self.directory, "logits")
        self("generate", "--model", model, "--raw", "--prompt", prompt, "--logits", path, *words)
        found = load_file(path)
        return found["ids"].long(), found["logits"]


def smollm2(skein, model):
    rows, run = os.path.join(skein.directory, "rows.jsonl"), os.path.join(skein.directory, "run")
    modules = "q_proj,k_proj,v_proj,o_proj,gate_proj,up_proj,down_proj"
    skein("train", "--config", NAMED, "--model", model, "--data", rows, "--output", run, "--iterations", "8",
          "--batch-size", "2", "--max-length", "128", "--target-modules", modules, "--learning-rate", "1e-3",
          "--validation-split", "0")
    adapter = os.path.join(run, "adapter")
    expected = skein.loss(model, rows, "--adapter", adapter)
    base = skein.loss(model, rows)
    print(f"SmolLM2: loss {base:.4f}, with the adapter {expected:.4f}")
    file, report = skein.fuse(model, adapter, "f32.gguf", "--type", "F32")
    folder, _ = skein.fuse(model, adapter, "folder", "--type", "F32")
    again, _ = skein.fuse(folder, None, "again.gguf", "--type", "F32")
    for name, path in [("a GGUF file", file), ("a folder", folder), ("a GGUF file of that folder", again)]:
        require(f"loss of {name}, relative", abs(skein.loss(path, rows) - expected) / expected, 1e-6)
    ids, logits = skein.logits(model, PROMPTS[0], "--adapter", adapter)
    theirs = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    words = AutoTokenizer.from_pretrained(folder)(PROMPTS[0])["input_ids"]
    require("tokens that transformers has otherwise", 0 if words == ids.tolist() else 1, 0)
    with torch.no_grad():
        found = theirs(ids[None]).logits[0]
    require("logits in transformers, relative", ((found - logits).abs().max() / logits.abs().max()).item(), 2e-5)
    greedy(skein, model, adapter)


def greedy(skein, model, adapter):
    """Whether llama.cpp goes on as Skein does, from the same file."""
    ids = [json.loads(line)["ids"] for line in skein("tokenize", "--model", model, "--json", *PROMPTS).splitlines()]
    prompts = os.path.join(skein.directory, "prompts.json")
    with open(prompts, "w") as file:
        json.dump(ids, file)
    for kind in TYPES:
        path, report = skein.fuse(model, adapter, f"{kind}.gguf", "--type", kind)
        ours = [json.loads(skein(
            "generate", "--model", path, "--raw", "--prompt", prompt, "--max-tokens", str(GREEDY), "--temperature",
            "0", "--json"))["tokens"] for prompt in PROMPTS]
        done = subprocess.run(
            [sys.executable, os.path.join(HERE, "llama.py"), path, str(GREEDY), prompts], capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"llama.cpp does not read {path}:\n{done.stderr[-2000:]}")
        theirs = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("[")]
        # Where one ends the text, the other may have its token still.
        equal = [sum(1 for _ in same(a, b)) for a, b in zip(ours, theirs)]
        size = [min(len(a), len(b)) for a, b in zip(ours, theirs)]
        print(f"  {kind}: {os.path.getsize(path) / 1e6:.1f} MB, relative RMS error {report['relative_rms_error']:.3g}, "
              f"logits {report['logits']['largest_difference']:.3g} off, same choice at "
              f"{report['logits']['equal_choices']} of 64; llama.cpp's greedy tokens {equal} of {size}", flush=True)
        # Quantized products round their inputs there.
        if kind in ("F32", "F16", "BF16"):
            require(f"greedy tokens of {kind} that llama.cpp has otherwise", sum(size) - sum(equal), 0)
        os.remove(path)


def same(one, other):
    for a, b in zip(one, other):
        if a != b:
            return
        yield a


def family(skein, name, seed):
    """A random model and a random adapter of all modules that PEFT can reach."""
    source = draw.source_of(seed, name, 0)
    config = convert.sayable(draw.FAMILIES[name](source))
    directory = os.path.join(skein.directory, f"{name}-{seed}")
    torch.manual_seed(seed)
    model = AutoModelForCausalLM.from_config(config) if name != "gemma3" else None
    if model is None:
        from transformers import AutoModelForImageTextToText
        model = AutoModelForImageTextToText.from_config(config)
    draw.fill(model, source, name.startswith("gemma"))
    model.save_pretrained(directory)
    modules = [n for n in ["q_proj", "k_proj", "v_proj", "qkv_proj", "o_proj", "gate_proj", "up_proj", "gate_up_proj",
                           "input_linear", "output_linear", "down_proj"]
               if any(full.endswith(n) and "vision" not in full for full, _ in model.named_modules())]
    text = ".*language_model.*" if name == "gemma3" else ".*"
    lora = LoraConfig(r=4, lora_alpha=12, target_modules=f"{text}({'|'.join(modules)})", init_lora_weights=False)
    adapted = get_peft_model(model, lora)
    adapter = directory + "-adapter"
    adapted.save_pretrained(adapter)
    with open(adapter + "/adapter_config.json") as file:
        fields = json.load(file)
    fields["target_modules"] = modules
    with open(adapter + "/adapter_config.json", "w") as file:
        json.dump(fields, file)
    ids = torch.tensor([[3 + i * 7 % (config.get_text_config().vocab_size - 3) for i in range(40)]])
    kind = type(model)
    expected = PeftModel.from_pretrained(kind.from_pretrained(directory, dtype=torch.float64), adapter).double()
    with torch.no_grad():
        expected = expected(ids).logits
        folder, _ = skein.fuse(directory, adapter, f"{name}-{seed}-fused", "--type", "F32")
        found = kind.from_pretrained(folder, dtype=torch.float64)(ids).logits
    largest = expected.abs().max()
    require(f"{name}: logits in transformers, relative", ((found - expected).abs().max() / largest).item(), 2e-6)
    file, report = skein.fuse(directory, adapter, f"{name}-{seed}.gguf", "--type", "F32")
    require(f"{name}: as a GGUF file in Skein, relative",
            report["logits"]["largest_difference"] / report["logits"]["largest"], 2e-5)
    # Llama 3's numbers are found again if its first context is a power of two.
    rope = config.get_text_config().rope_parameters
    if name != "ministral3" and rope.get("full_attention", rope)["rope_type"] != "llama3":
        _, report = skein.fuse(file, None, f"{name}-{seed}-back", "--type", "F32")
        require(f"{name}: and as a folder again, relative",
                report["logits"]["largest_difference"] / report["logits"]["largest"], 2e-5)


def main():
    parser = argparse.ArgumentParser()
    for name in ("skein", "model", "directory"):
        parser.add_argument(name)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--family", nargs="+", action="extend", default=[], choices=list(draw.FAMILIES))
    parser.add_argument("--only", choices=["smollm2", "families"])
    options = parser.parse_args()
    end_on_signals()
    skein = Skein(options.skein, options.directory)
    if options.only != "families" and not options.family:
        smollm2(skein, options.model)
    if options.only != "smollm2":
        for name in options.family or draw.FAMILIES:
            family(skein, name, options.seed)
    if problems:
        sys.exit(f"{len(problems)} above their bounds: {', '.join(problems)}")
    print("all within their bounds")


main()

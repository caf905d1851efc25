"""Compares what Skein, PEFT, mlx-lm and llama.cpp make of one adapter, each from its own file.

usage: check.py SKEIN [--family NAME ...] [--seed N] [--llama-cpp DIR] [--real NAME=GGUF ... --rows JSONL] [--table PAGE]
                [--keep DIR]
"""

import argparse
import contextlib
import io
import json
import os
import random
import subprocess
import sys
import tempfile

SCRIPTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [os.path.join(SCRIPTS, "families"), os.path.join(SCRIPTS, "lib")]

import torch
import transformers
from peft import LoraConfig, PeftModel, get_peft_model
from safetensors.torch import load_file
from transformers import AutoModelForCausalLM, AutoModelForImageTextToText

import convert
import draw
import models
import oracle
import report
from published_config import spell_as_published

HERE = os.path.dirname(os.path.abspath(__file__))
NAMED = os.path.join(HERE, "..", "lib", "named.json")
LIMIT = 1e-3  # of logits, absolute


class Tools:
    def __init__(self, skein, folder, rows):
        self.skein, self.folder, self.rows, self.count = skein, folder, rows, 0

    def path(self, name):
        self.count += 1
        return os.path.join(self.folder, f"{self.count}.{name}")

    def call(self, *words):
        done = subprocess.run([str(word) for word in words], capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(f"{' '.join(map(str, words))}\nended with {done.returncode}\n{done.stderr[-2000:]}")
        return done.stdout

    def jobs(self, script, jobs):
        path = self.path("jobs")
        with open(path, "w") as file:
            json.dump(jobs, file)
        self.call(sys.executable, "-W", "ignore", os.path.join(HERE, script), path)

    def other(self, script, model, adapter=None):
        out = self.path("safetensors")
        self.jobs(script, [dict(model=model, adapter=adapter, rows=self.rows, output=out)])
        return load_file(out)

    def own(self, model, adapter=None):
        out, plan = self.path("safetensors"), self.path("plan")
        with open(plan, "w") as file:
            rows = [dict(ids=ids, targets=[1]) for ids in self.rows]
            json.dump(dict(rows=rows, prompts=[], tokens=0, jobs=[dict(adapter=adapter, output=out)]), file)
        lab = os.environ.get("SKEIN_LAB") or os.path.join(os.path.dirname(os.path.realpath(self.skein)), "skein-lab")
        self.call(lab, "bench", "model", "--model", model, "--data", plan)
        return {name: value for name, value in load_file(out).items() if name.startswith("logits.")}

    def export(self, adapter, form, model, *more):
        out = self.path(form)
        self.call(self.skein, "export", "--adapter", adapter, "--format", form, "--output", out, "--model", model, *more)
        return out

    def torch(self, model):
        with torch.no_grad():
            return {f"logits.{i}": oracle.logits_of(model, ids).float() for i, ids in enumerate(self.rows)}


def difference(one, other):
    """The largest of all logits; rows of Skein's end one place earlier."""
    worst = 0.0
    for name in one:
        places = min(len(one[name]), len(other[name]))
        error = (one[name][:places].double() - other[name][:places].double()).abs().max().item()
        worst = max(worst, error if error == error else float("inf"))
    return worst


def same_matrices(one, other):
    """Whether two PEFT folders have the same bytes of A and B."""
    a, b = (load_file(os.path.join(folder, "adapter_model.safetensors")) for folder in (one, other))
    return a.keys() == b.keys() and all(torch.equal(a[name], b[name]) for name in a)


class Result:
    def __init__(self, name):
        self.name, self.cells, self.failures = name, {}, []

    def add(self, what, error, limit=LIMIT):
        self.cells[what] = max(self.cells.get(what, 0.0), error)
        if not error <= limit:
            self.failures.append(f"{self.name}: {what}: {error:.1e}, more than {limit:.1e}")

    def limit_of_llama(self):
        """llama.cpp looks Gemma's GELU up in a table of half precision: its base alone differs by more than the limit."""
        return max(LIMIT, 3 * self.cells["base: llama.cpp"]) if self.name.startswith("gemma") else LIMIT

    def require(self, what, holds):
        if not holds:
            self.failures.append(f"{self.name}: {what}")


def load(folder):
    with open(os.path.join(folder, "config.json")) as file:
        kind = AutoModelForImageTextToText if json.load(file)["model_type"] == "gemma3" else AutoModelForCausalLM
    return kind.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager").eval()


def modules(model):
    """Names of what can be adapted in a block, without what comes before the last dot."""
    return [name.split(".")[-1] for name in oracle.modules_of(model)]


def peft_made(folder, out, source, variant):
    """An adapter that PEFT makes, with random matrices; and its logits' model."""
    model = load(folder)
    names = modules(model)
    tower = "(?!.*vision).*" if hasattr(model.model, "language_model") else ".*"
    targets = names if variant not in ("plain", "edges") else source.sample(names, max(1, len(names) - 2))
    more = {}
    if variant == "patterns":
        more = dict(
            rank_pattern={names[0]: 2, r"layers\.1\..*\." + names[-1]: 7}, alpha_pattern={names[0]: 3, names[1]: 5})
    # PEFT takes layers beside a list of names alone.
    pattern = tower + (r"\.layers\.(0|2)\..*" if variant == "layers" else ".*") + r"\.(" + "|".join(targets) + ")"
    if variant == "layers" and tower == ".*":
        more, pattern = dict(layers_to_transform=[0, 2]), targets
    if variant == "edges":
        pattern = tower + r"\.(" + "|".join([*targets, "embed_tokens"]) + ")|lm_head"
    config = LoraConfig(
        r=source.choice([3, 4, 8]), lora_alpha=source.choice([4, 8, 11]), lora_dropout=0.0, task_type="CAUSAL_LM",
        target_modules=pattern, use_rslora=variant == "rslora", **more)
    adapted = get_peft_model(model, config)
    generator = torch.Generator().manual_seed(source.getrandbits(48))
    for name, p in adapted.named_parameters():
        if "lora_" in name:
            p.data = torch.randn(p.shape, generator=generator) * 0.5 * p.shape[-1] ** -0.5
    adapted.save_pretrained(out)
    return adapted


def check_exports(tools, result, folder, gguf, adapter):
    """What others make of an adapter, each from its own file, beside Skein. Returns Skein's logits and the files."""
    ours = tools.own(folder, adapter)
    files = {form: tools.export(adapter, form, folder) for form in ("peft", "mlx", "gguf")}
    peft = PeftModel.from_pretrained(load(folder), files["peft"]).eval()
    result.add("PEFT", difference(ours, tools.torch(peft)))
    result.add("mlx-lm", difference(ours, tools.other("mlxlm.py", folder, files["mlx"])))
    if gguf:
        theirs = tools.other("llamacpp.py", gguf, files["gguf"])
        result.add("llama.cpp", difference(ours, theirs), result.limit_of_llama())
    return ours, files


def check_edges(tools, result, folder, gguf, source, base):
    """An adapter of embedding and head, too; with a tied head no other tool has one of a single of the two."""
    made = tools.path("made")
    adapted = peft_made(folder, made, source, "edges")
    is_tied, theirs = adapted.config.get_text_config().tie_word_embeddings, tools.torch(adapted)
    if is_tied:
        ours = tools.own(folder, made)
        peft = PeftModel.from_pretrained(load(folder), tools.export(made, "peft", folder)).eval()
        result.add("PEFT", difference(ours, tools.torch(peft)))
        for form in ("mlx", "gguf"):
            words = ["export", "--adapter", made, "--format", form, "--output", tools.path(form), "--model", folder]
            ending = subprocess.run([tools.skein, *words], capture_output=True, text=True)
            result.require(f"edges: {form} is not refused", ending.returncode == 64 and "head" in ending.stderr)
    else:
        ours, files = check_exports(tools, result, folder, gguf, made)
        for form in ("mlx", "gguf"):
            # PEFT's own file has the base model's weights beside the matrices.
            back = tools.export(files[form], "peft", folder)
            result.require(f"edges: PEFT -> {form} -> PEFT changes bytes", same_matrices(files["peft"], back))
    result.add("made by PEFT", difference(ours, theirs))
    result.require("edges: no effect", difference(ours, base) > 10 * LIMIT)


def check_family(tools, family, source, converter):
    result = Result(family)
    folder, gguf = os.path.join(tools.folder, "model"), None
    config = models.FAMILIES[family]()
    kind = AutoModelForImageTextToText if family == "gemma3" else AutoModelForCausalLM
    model = kind.from_config(config, attn_implementation="eager", dtype=torch.float32).eval()
    draw.fill(model, source, 1 if family.startswith("gemma") else 0)
    oracle.sharpen(model, [dict(ids=ids) for ids in tools.rows], 1 if family.startswith("gemma") else 0, scores=2.0)
    model.save_pretrained(folder)
    spell_as_published(folder)
    base = tools.own(folder)
    result.add("base: PEFT", difference(base, tools.torch(load(folder))))
    result.add("base: mlx-lm", difference(base, tools.other("mlxlm.py", folder)))
    if converter:
        gguf = os.path.join(tools.folder, "model.gguf")
        converter.convert(folder, gguf)
        # What the conversion wanted to see is no tokenizer.
        os.remove(os.path.join(folder, "tokenizer.json"))
        is_exact = not family.startswith("gemma")
        error = difference(base, tools.other("llamacpp.py", gguf))
        result.add("base: llama.cpp", error, LIMIT if is_exact else 100 * LIMIT)
    for variant in ("plain", "rslora", "patterns", "layers"):
        made = tools.path("made")
        theirs = tools.torch(peft_made(folder, made, source, variant))
        ours, files = check_exports(tools, result, folder, gguf, made)
        result.add("made by PEFT", difference(ours, theirs))
        result.require(f"{variant}: no effect", difference(ours, base) > 10 * LIMIT)
        if variant != "patterns":
            for form in ("mlx", "gguf"):
                back = tools.export(files[form], "peft", folder)
                result.require(f"{variant}: PEFT -> {form} -> PEFT changes bytes", same_matrices(made, back))
    check_edges(tools, result, folder, gguf, source, base)
    made = tools.path("mlx-made")
    keys = source.sample(list(oracle.modules_of(model)), 2)
    tools.jobs("mlxlm.py", [dict(
        model=folder, make=made, rank=5, scale=3.0, layers=2, keys=keys, seed=source.getrandbits(30))])
    ours = tools.own(folder, made)
    result.add("made by mlx-lm", difference(ours, tools.other("mlxlm.py", folder, made)))
    result.require("mlx-lm's adapter has no effect", difference(ours, base) > 10 * LIMIT)
    return result


TEXT = (
    "Geese fly in a skein, one after another, and whoever drops out catches up again. In 1998 the keeper counted 214 of "
    "them over the lake; def count(birds): return len(birds) gives the same answer. Nobody knows why they turn, or when "
    "they rest, but they always come back before the evening.")


def train_with_peft(tools, folder, out):
    """Two steps of PyTorch on the rows."""
    torch.manual_seed(0)
    adapted = get_peft_model(load(folder), LoraConfig(
        r=4, lora_alpha=8, lora_dropout=0.0, task_type="CAUSAL_LM", target_modules=["q_proj", "v_proj", "down_proj"],
        rank_pattern={"v_proj": 6}))
    optimizer = torch.optim.AdamW([p for p in adapted.parameters() if p.requires_grad], lr=1e-3)
    for _ in range(2):
        for ids in tools.rows:
            batch = torch.tensor([ids])
            adapted(batch, labels=batch).loss.backward()
            optimizer.step()
            optimizer.zero_grad()
    adapted.save_pretrained(out)
    return adapted.eval()


def train_with_mlx(tools, folder, out):
    """Two steps of mlx-lm's own trainer."""
    data = tools.path("data")
    os.makedirs(data)
    for name in ("train", "valid"):
        with open(os.path.join(data, f"{name}.jsonl"), "w") as file:
            file.writelines(json.dumps(dict(text=TEXT)) + "\n" for _ in range(4))
    tools.call(
        sys.executable, "-W", "ignore", "-m", "mlx_lm", "lora", "--model", folder, "--train", "--data", data, "--iters", 2,
        "--batch-size", 1, "--num-layers", 4, "--learning-rate", 1e-3, "--adapter-path", out, "--val-batches", 1)


def check_real(tools, name, gguf, data):
    """A published model from its quantized GGUF file, and as a folder with the same numbers in F32."""
    result = Result(name)
    words = [tools.skein, "tokenize", "--model", gguf, "--json", TEXT]
    tools.rows = [json.loads(tools.call(*words))["ids"][:64]]
    folder = os.path.join(tools.folder, "model")
    place, file = os.path.split(gguf)
    read = AutoModelForCausalLM.from_pretrained(place, gguf_file=file, dtype=torch.float32)
    # transformers does not save what it has read from GGUF.
    config = transformers.AutoConfig.from_pretrained(place, gguf_file=file)
    model = AutoModelForCausalLM.from_config(config, dtype=torch.float32)
    model.load_state_dict(read.state_dict())
    model.save_pretrained(folder)
    transformers.AutoTokenizer.from_pretrained(place, gguf_file=file).save_pretrained(folder)
    spell_as_published(folder)
    run = tools.path("run")
    tools.call(
        tools.skein, "train", "--config", NAMED, "--model", gguf, "--data", data, "--output", run, "--iterations", 2,
        "--batch-size", 2, "--learning-rate", 1e-3, "--target-modules", "all-linear", "--validation-split", 0)
    adapter = os.path.join(run, "adapter")
    base = tools.own(folder)
    result.add("base: PEFT", difference(base, tools.torch(load(folder))))
    files = {form: tools.export(adapter, form, gguf) for form in ("peft", "mlx", "gguf")}
    ours = tools.own(folder, adapter)

    def beside_mlx(own, peft=None):
        """Skein's logits, or, of Gemma, those of transformers with mlx-lm's factor."""
        if "Gemma" not in name:
            return own
        model = load(folder)
        return tools.torch(as_in_mlx(PeftModel.from_pretrained(model, peft).eval() if peft else model))

    # Where it is transformers that mlx-lm is compared with, both may be as far apart as they are without adapter.
    result.add("base: mlx-lm", difference(beside_mlx(base), tools.other("mlxlm.py", folder)))
    limit = max(LIMIT, 2 * result.cells["base: mlx-lm"]) if "Gemma" in name else LIMIT
    result.require("no effect", difference(ours, base) > 10 * LIMIT)
    result.add("PEFT", difference(ours, tools.torch(PeftModel.from_pretrained(load(folder), files["peft"]).eval())))
    result.add("mlx-lm", difference(beside_mlx(ours, files["peft"]), tools.other("mlxlm.py", folder, files["mlx"])), limit)
    error = difference(tools.own(gguf), tools.other("llamacpp.py", gguf))
    result.add("base: llama.cpp", error, float("inf"))
    theirs = tools.other("llamacpp.py", gguf, files["gguf"])
    result.add("llama.cpp", difference(tools.own(gguf, files["gguf"]), theirs), error)
    for form in ("mlx", "gguf"):
        back = tools.export(files[form], "peft", gguf)
        result.require(f"PEFT -> {form} -> PEFT changes bytes", same_matrices(adapter, back))
    made = tools.path("peft-made")
    theirs = tools.torch(train_with_peft(tools, folder, made))
    result.add("made by PEFT", difference(tools.own(folder, made), theirs))
    made = tools.path("mlx-made")
    train_with_mlx(tools, folder, made)
    back = tools.export(made, "peft", folder)
    theirs = tools.other("mlxlm.py", folder, made)
    ours = tools.own(folder, made)
    result.add("PEFT", difference(ours, tools.torch(PeftModel.from_pretrained(load(folder), back).eval())))
    result.add("made by mlx-lm", difference(beside_mlx(ours, back), theirs), limit)
    return result


def as_in_mlx(model):
    """mlx-lm rounds Gemma's factor of embeddings to bf16, which transformers does with weights in bf16 alone."""
    for module in model.modules():
        if hasattr(module, "embed_scale"):
            module.embed_scale = module.embed_scale.bfloat16().float()
    return model


COLUMNS = [
    "base: PEFT", "PEFT", "made by PEFT", "base: mlx-lm", "mlx-lm", "made by mlx-lm", "base: llama.cpp", "llama.cpp"]


def write_table(path, results, seed):
    report.replace_section(path, "check-adapters", [
        f"Largest absolute difference of logits from Skein's; seed {seed}.", "",
        "| model | " + " | ".join(COLUMNS) + " |", "|---" * (len(COLUMNS) + 1) + "|",
        *(
            f"| {name} | " + " | ".join(f"{cells[what]:.0e}" if what in cells else "" for what in COLUMNS) + " |"
            for name, cells in results.items()),
    ])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("skein")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--family", nargs="*", default=list(models.FAMILIES), choices=list(models.FAMILIES))
    parser.add_argument("--llama-cpp")
    parser.add_argument("--keep")
    parser.add_argument("--real", nargs="*", default=[], help="NAME=GGUF of published models")
    parser.add_argument("--rows", help="training rows for these, a .jsonl file")
    parser.add_argument("--table", help="page whose table is replaced, after a run without a failure")
    arguments = parser.parse_args()
    transformers.logging.set_verbosity_error()
    torch.set_num_threads(2)
    converter = convert.Converter(arguments.llama_cpp) if arguments.llama_cpp else None
    failures, results = [], {}

    def check(name, body):
        with contextlib.ExitStack() as stack:
            if arguments.keep:
                folder = os.path.join(arguments.keep, name.replace(" ", "-"))
                os.makedirs(folder, exist_ok=True)
            else:
                folder = stack.enter_context(tempfile.TemporaryDirectory())
            with contextlib.redirect_stderr(io.StringIO()):
                result = body(Tools(arguments.skein, folder, []))
        print(f"{name:17}", "  ".join(f"{k} {v:.0e}" for k, v in result.cells.items() if v), flush=True)
        for line in result.failures:
            print("  " + line, flush=True)
        failures.extend(result.failures)
        results[name] = result.cells

    for family in arguments.family:
        source = random.Random(f"{arguments.seed} {family}")
        rows = [[source.randrange(3, 156) for _ in range(length)] for length in (5, 40, 64)]

        def drawn(tools, family=family, source=source, rows=rows):
            tools.rows = rows
            return check_family(tools, family, source, converter)

        check(family, drawn)
    for one in arguments.real:
        name, path = one.split("=", 1)
        check(name, lambda tools, name=name, path=path: check_real(tools, name, path, arguments.rows))
    if arguments.table and not failures:
        write_table(arguments.table, results, arguments.seed)
    sys.exit(f"{len(failures)} failures" if failures else 0)


main()

"""Writes numbers.json: what transformers and PEFT make of one small model of each family, in float64.

    python make_numbers.py [dora|edges]

With `dora` it writes dora.json: some of these models with magnitudes (DoRA); with `edges` edges.json: with adapters of
the embedding and the head, too.
transformers 5.23.0, torch 2.15 (edges.json: 2.13), peft 0.21.2. Weights are a function of their names, which the test
computes, too: a tensor's place i is offset + scale * u, u uniform in [-1, 1).
"""

import json
import os
import sys
import tempfile

import numpy
import torch
from transformers import AutoModelForCausalLM, AutoModelForImageTextToText

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(here, "../../../Scripts/families"))
import draw  # noqa: E402
import oracle  # noqa: E402

SEED = 5
TOKENS = 8


def uniform(name, count):
    """Splitmix64 from the name's FNV-1a hash; 24 bits of each word."""
    key = 0xCBF29CE484222325
    for byte in name.encode():
        key = (key ^ byte) * 0x100000001B3 % 2**64
    with numpy.errstate(over="ignore"):
        z = numpy.uint64(key) + numpy.arange(1, count + 1, dtype=numpy.uint64) * numpy.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> numpy.uint64(30))) * numpy.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> numpy.uint64(27))) * numpy.uint64(0x94D049BB133111EB)
        z = z ^ (z >> numpy.uint64(31))
    return (z >> numpy.uint64(40)).astype(numpy.float32) * numpy.float32(2.0**-23) - numpy.float32(1)


def value(name, shape, offset, scale):
    flat = numpy.float32(offset) + numpy.float32(scale) * uniform(name, int(numpy.prod(shape)))
    return torch.from_numpy(flat).reshape(shape)


def single(number):
    return float(numpy.float32(number))


class Weights:
    """The tensors of a model in its folder's names, as offset and scale."""

    def __init__(self, model, is_offset):
        self.spec, self.parameters = {}, {}
        for name, p in model.named_parameters():
            if "vision" in name or "multi_modal" in name:
                continue
            self.parameters[name] = p
            if "norm" in name:
                self.spec[name] = [0.0 if is_offset else 1.0, 0.5]
            elif p.dim() == 1:
                self.spec[name] = [0.0, 0.5]
            elif "embed" in name and not is_offset:
                self.spec[name] = [0.0, 1.7]
            else:
                self.spec[name] = [0.0, (3 / p.shape[-1]) ** 0.5]
        self.is_offset = is_offset
        for name in self.spec:
            self.apply(name)

    def apply(self, name, factor=1.0):
        offset, scale = self.spec[name]
        if "norm" in name and self.is_offset:
            offset = (1 + offset) * factor - 1
        else:
            offset *= factor
        self.spec[name] = [single(offset), single(scale * factor)]
        p = self.parameters[name]
        p.data = value(name, p.shape, *self.spec[name]).to(p.dtype)

    def sharpen(self, model, rows):
        text = oracle.text_model(model)
        prefix = next(n for n in self.spec if ".layers.0." in n).split("layers.0.")[0]
        for index in range(len(text.layers)):
            factor = 3.5 / oracle.measured_scores(model, rows)[index]
            for kind, power in (("q_norm", 1), ("q_proj", 1), ("qkv_proj", 0.5)):
                names = [f"{prefix}layers.{index}.self_attn.{kind}.{end}" for end in ("weight", "bias")]
                names = [name for name in names if name in self.spec]
                for name in names:
                    self.apply(name, factor**power)
                if names:
                    break
        with torch.no_grad():
            spread = torch.cat([oracle.logits_of(model, row["ids"]) for row in rows]).std().item()
        if getattr(model.config.get_text_config(), "final_logit_softcapping", None) is None:
            self.apply(prefix + "norm.weight", 4.0 / spread)


def golden(family, **more):
    source = draw.source_of(SEED, family, 0)
    config = draw.FAMILIES[family](source)
    kind = AutoModelForImageTextToText if family == "gemma3" else AutoModelForCausalLM
    model = kind.from_config(config, attn_implementation="eager", dtype=torch.float32).eval().double()
    rows, prompts = draw.rows_of(source, config.get_text_config().vocab_size)
    weights = Weights(model, family.startswith("gemma"))
    weights.sharpen(model, rows)
    spread = min(oracle.measured_scores(model, rows))
    with tempfile.TemporaryDirectory() as folder:
        model.float().save_pretrained(folder)
        with open(os.path.join(folder, "config.json")) as file:
            written = json.load(file)
        model.double()
        peft = oracle.adapted(model, source, folder, **more)
        with open(os.path.join(folder, "adapter_config.json")) as file:
            adapter = json.load(file)
    for name, p in peft.named_parameters():
        if "lora_magnitude_vector" in name:
            p.data = value(oracle.own_name(name), p.shape, 2.0, 0.75).double()
        elif "lora_" in name:
            scale = single((0.75 / p.shape[-1]) ** 0.5)
            p.data = value(name.replace(".default", ""), p.shape, 0, scale).double()
    found = oracle.expected(peft, rows, prompts, TOKENS)
    gradients = {}
    for name, tensor in found.items():
        if "lora_" in name:
            flat = tensor.flatten()
            probe = torch.from_numpy(uniform("probe " + name, flat.numel())).double()
            gradients[name] = [flat.norm().item(), (flat @ probe).item() / probe.norm().item()]
    return dict(
        config=json.dumps(written), tensors={n: dict(shape=list(weights.parameters[n].shape), offset=o, scale=s)
                                 for n, (o, s) in weights.spec.items()},
        magnitudes=adapter["use_dora"], rank=adapter["r"], alpha=adapter["lora_alpha"], rankStabilized=adapter["use_rslora"],
        targets=sorted(adapter["target_modules"]), rows=rows, prompts=prompts, scoreSpread=round(spread, 3),
        loss=found["loss"][0].item(),
        # Of each row the logits at its last two places.
        logits=[[round(x, 7) for x in found[f"logits.{i}"][-2:].flatten().tolist()] for i in range(len(rows))],
        gradients=gradients, tokens=[found[f"tokens.{i}"].int().tolist() for i in range(len(prompts))])


torch.set_num_threads(1)
if sys.argv[1:] == ["dora"]:
    name = "dora.json"
    families = ["gemma2", "granite", "llama", "phi3", "qwen2"]
    goldens = {f"{family} dora": golden(family, use_dora=True) for family in families}
elif sys.argv[1:] == ["edges"]:
    name = "edges.json"
    # Factors of embeddings and logits, caps, names of a model with vision, fused modules; tied heads and others.
    cases = [
        ("gemma2", ["embed_tokens", "lm_head"]), ("gemma3", ["embed_tokens"]), ("granite", ["embed_tokens", "lm_head"]),
        ("llama", ["embed_tokens", "lm_head"]), ("phi3", ["embed_tokens", "lm_head"]), ("qwen2", ["lm_head"])]
    goldens = {f"{family} edges": golden(family, edges=edges) for family, edges in cases}
else:
    name = "numbers.json"
    goldens = {family: golden(family) for family in draw.FAMILIES}
with open(os.path.join(here, name), "w") as file:
    lines = [f"{json.dumps(family)}: {json.dumps(numbers)}" for family, numbers in goldens.items()]
    file.write("{\n" + ",\n".join(lines) + "\n}\n")

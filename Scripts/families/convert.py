"""GGUF files by llama.cpp's own conversion, from a folder of llama.cpp's sources. Without a tokenizer."""

import contextlib
import io
import json
import logging
import os
import sys
from pathlib import Path

import torch

# Conversions that write the divisors of Llama 3's rotation; the others drop them without a word.
WITH_DIVISORS = ["llama", "mistral", "smollm3"]


def sayable(config):
    """The same configuration, but for what llama.cpp's conversion does not write and llama.cpp takes for granted."""
    kind, fields = config.model_type, config.to_dict()
    if kind == "gemma3":
        fields["text_config"] = sayable(config.text_config).to_dict()
        return type(config).from_dict(fields)
    rope = fields["rope_parameters"]
    for one in [rope.get("full_attention", rope)]:
        if one["rope_type"] == "llama3" and kind not in WITH_DIVISORS:
            theta = one["rope_theta"]
            one.clear()
            one.update(rope_type="default", rope_theta=theta)
    if kind in ("qwen2", "qwen3", "mistral", "ministral3"):  # no windows
        fields.update(use_sliding_window=False, sliding_window=None)
        fields.pop("layer_types", None)
    if kind == "smollm3":  # each fourth layer without rotation
        fields.update(no_rope_layer_interval=4)
        fields.pop("no_rope_layers", None)
    if kind == "granitemoehybrid":  # rotated, and the width of what experts share is that of the others
        fields.update(position_embedding_type="rope", intermediate_size=fields["shared_intermediate_size"])
    if kind in ("gemma2", "gemma3_text"):
        fields.update(query_pre_attn_scalar=fields["head_dim"])
    if kind == "gemma2":
        fields["rope_parameters"] = dict(rope_type="default", rope_theta=1e4)
    if kind == "gemma3_text":  # each sixth layer without window
        fields.update(num_hidden_layers=7)
        fields["layer_types"] = ["full_attention" if i == 5 else "sliding_attention" for i in range(7)]
    return type(config).from_dict(fields)


def names_in_file(name, family):
    """A tensor's names with the family that reads the GGUF file; the conversion takes Granite 4's gate and up apart."""
    # A GGUF file of a model that sees holds its language model alone.
    name = name.replace("language_model.", "")
    if family != "granitemoehybrid":
        return [name]
    name = name.replace("shared_mlp.output_linear", "mlp.down_proj")
    parts = ["gate", "up"] if "shared_mlp.input_linear" in name else ["none"]
    return [name.replace("shared_mlp.input_linear", f"mlp.{part}_proj") for part in parts]


def adapter_of_file(tensors, family):
    """The adapter for the model in the GGUF file."""
    found = {}
    for name, value in tensors.items():
        names = names_in_file(name, family)
        # Gate and up share A.
        values = [value] * len(names) if "lora_A" in name else value.chunk(len(names))
        found.update((one, part.clone()) for one, part in zip(names, values))
    return found


def as_in_folder(found, expected, family):
    """What was found with that adapter, under the names of `expected`."""
    names = {name: names_in_file(name, family) for name in expected}
    if set(found) != {one for own in names.values() for one in own}:
        raise SystemExit("the adapter of the GGUF file has other matrices")
    tensors = {}
    for name, own in names.items():
        values = [found[one] for one in own]
        # The gradient of a shared A is the sum of what gate and up see.
        tensors[name] = sum(values) if "lora_A" in name else torch.cat(values)
    return tensors


class Converter:
    def __init__(self, sources):
        """`sources`: a directory with llama.cpp's `conversion` and `gguf-py`."""
        sys.path[:0] = [sources, os.path.join(sources, "gguf-py")]
        import conversion
        import gguf

        logging.disable(logging.WARNING)
        self.conversion, self.gguf = conversion, gguf

    def vocabulary(self, folder):
        with open(os.path.join(folder, "config.json")) as file:
            fields = json.load(file)
        return fields.get("text_config", fields)["vocab_size"]

    def spell_as_published(self, folder):
        """transformers has renamed kinds of layers; the conversion looks for the old names."""
        path = os.path.join(folder, "config.json")
        with open(path) as file:
            fields = json.load(file)
        if fields["model_type"] == "granitemoehybrid":
            fields["layer_types"] = ["attention"] * len(fields["layer_types"])
            with open(path, "w") as file:
                json.dump(fields, file)

    def convert(self, folder, path):
        """Writes the model in `folder` as F32."""
        self.spell_as_published(folder)
        # The conversion of Gemma 3 counts the vocabulary here.
        words = {str(i): i for i in range(self.vocabulary(folder))}
        with open(os.path.join(folder, "tokenizer.json"), "w") as file:
            json.dump(dict(model=dict(vocab=words), added_tokens=[]), file)
        base = self.conversion.ModelBase
        fields = base.load_hparams(Path(folder), False)
        name = self.conversion.get_model_architecture(fields, self.conversion.ModelType.TEXT)
        kind = self.conversion.get_model_class(name, mmproj=False)
        kind = getattr(kind, "Ministral3Model", kind)

        class WithoutTokenizer(kind):
            model_arch = kind.model_arch

            def set_vocab(self):
                self._set_vocab_none()

            def set_gguf_parameters(self):
                super().set_gguf_parameters()
                keys = self.gguf_writer.kv_data[0]
                if not any(key.endswith(".vocab_size") for key in keys):
                    self.gguf_writer.add_vocab_size(self.hparams["vocab_size"])

        with contextlib.redirect_stderr(io.StringIO()):
            model = WithoutTokenizer(Path(folder), self.gguf.LlamaFileType.ALL_F32, Path(path))
            model.write()

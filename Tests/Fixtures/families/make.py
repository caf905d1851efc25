"""Writes families.json: for each family config.json as transformers writes it, the names and shapes
of its tensors, its rotations, and the GGUF metadata that llama.cpp's conversion makes of it.

    python make.py

transformers 5.23.0, torch 2.15, gguf 0.19.0. Only configurations; no weights.
"""

import contextlib
import io
import json
import os
import tempfile

import gguf as gguf_py
import torch
from transformers import (
    AutoModelForCausalLM, AutoModelForImageTextToText, Gemma2Config, Gemma3Config, Gemma3TextConfig, GraniteConfig,
    GraniteMoeHybridConfig, LlamaConfig, Ministral3Config, Mistral3Config, MistralConfig, Olmo2Config, Olmo3Config, Phi3Config,
    Qwen2Config, Qwen3Config, SmolLM3Config,
)

SIZE = dict(
    vocab_size=96, hidden_size=32, intermediate_size=48, num_hidden_layers=7,
    num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=64, pad_token_id=0)
EIGHT = [1.0 + 0.25 * i for i in range(8)]
YARN = dict(rope_type="yarn", factor=4.0, original_max_position_embeddings=16)
SEE = dict(
    hidden_size=16, intermediate_size=16, num_hidden_layers=1, num_attention_heads=2, image_size=8,
    patch_size=4)

CASES = {
    "llama": LlamaConfig(
        **SIZE, attention_bias=True, mlp_bias=True, rope_parameters=dict(
            rope_type="llama3", rope_theta=5e5, factor=8.0, low_freq_factor=1.0,
            high_freq_factor=4.0, original_max_position_embeddings=32)),
    "qwen2": Qwen2Config(**SIZE, rope_parameters=dict(rope_type="default", rope_theta=1e6)),
    "qwen2-windows": Qwen2Config(
        **SIZE, use_sliding_window=True, sliding_window=8, max_window_layers=5),
    "qwen3": Qwen3Config(
        **SIZE, head_dim=16, tie_word_embeddings=True,
        rope_parameters=dict(YARN, rope_theta=1e6)),
    "smollm3": SmolLM3Config(**SIZE),
    "granite": GraniteConfig(
        **SIZE, embedding_multiplier=12.0, attention_multiplier=0.015625,
        residual_multiplier=0.22, logits_scaling=8.0, tie_word_embeddings=True),
    "granitemoehybrid": GraniteMoeHybridConfig(
        **SIZE, shared_intermediate_size=48, num_local_experts=0, num_experts_per_tok=0,
        layer_types=["attention"] * 7, position_embedding_type="rope", mamba_n_heads=2,
        embedding_multiplier=12.0, attention_multiplier=0.015625, residual_multiplier=0.22,
        logits_scaling=8.0, attention_bias=True),
    "mistral": MistralConfig(**SIZE, sliding_window=8),
    "ministral3": Ministral3Config(
        **SIZE, head_dim=16, rope_parameters=dict(
            YARN, rope_theta=1e6, beta_fast=32.0, beta_slow=1.0, mscale=1.0, mscale_all_dim=1.0,
            llama_4_scaling_beta=0.1)),
    "olmo2": Olmo2Config(**SIZE),
    "olmo3": Olmo3Config(
        **SIZE, sliding_window=8, rope_parameters=dict(
            full_attention=dict(YARN, rope_theta=5e5, attention_factor=1.25, beta_fast=8.0),
            sliding_attention=dict(rope_type="default", rope_theta=5e5))),
    "gemma2": Gemma2Config(**SIZE, head_dim=16, query_pre_attn_scalar=16, sliding_window=8),
    "gemma3_text": Gemma3TextConfig(
        **SIZE, head_dim=16, query_pre_attn_scalar=16, sliding_window=8, rope_parameters=dict(
            full_attention=dict(rope_type="linear", factor=8.0, rope_theta=1e6),
            sliding_attention=dict(rope_type="default", rope_theta=1e4))),
    "gemma3": Gemma3Config(
        text_config=Gemma3TextConfig(
            **SIZE, head_dim=16, query_pre_attn_scalar=16, sliding_window=8).to_dict(),
        vision_config=SEE),
    "mistral3": Mistral3Config(
        text_config=MistralConfig(**SIZE, sliding_window=None).to_dict(),
        vision_config=dict(SEE, head_dim=8), tie_word_embeddings=False),
    "phi3": Phi3Config(**SIZE, sliding_window=8),
    "phi3-long": Phi3Config(
        **{**SIZE, "hidden_size": 96}, original_max_position_embeddings=16,
        tie_word_embeddings=True, rope_parameters=dict(
            rope_type="longrope", rope_theta=1e4, partial_rotary_factor=0.75,
            original_max_position_embeddings=16, short_factor=[1.0 + 0.25 * i for i in range(9)],
            long_factor=[2.0 + 0.5 * i for i in range(9)])),
}


# Families whose GGUF files have another's name.
ARCHITECTURES = {
    "mistral": "llama", "ministral3": "mistral3", "olmo3": "olmo2", "gemma3_text": "gemma3",
    "granitemoehybrid": "granite"}


def rotations(model):
    """Of each module of rotation: inverse frequencies and the factor of cosines and sines."""
    found = {}
    for name, module in model.named_modules():
        if not name.endswith("rotary_emb") or "vision" in name:
            continue
        for key, value in module.named_buffers():
            if key.endswith("inv_freq") and "original" not in key:
                prefix = key.removesuffix("inv_freq")
                kind = prefix.removesuffix("_") or "full_attention"
                factor = getattr(module, prefix + "attention_scaling", None)
                found[kind] = dict(inverse=value.tolist(), factor=factor)
        if getattr(module, "rope_type", None) == "longrope":
            with torch.no_grad():
                module(torch.zeros(1, 1, 1), torch.arange(17)[None])
            found["long"] = dict(
                inverse=module.inv_freq.tolist(), factor=module.attention_scaling)
    return found


def gguf(config):
    """Metadata and tensors of rotations as llama.cpp's conversion/*.py write them."""
    c = config.get_text_config()
    kind = c.model_type
    arch = ARCHITECTURES.get(kind, kind)
    head = getattr(c, "head_dim", None) or c.hidden_size // c.num_attention_heads
    keys = {"general.architecture": arch}
    tensors = {}

    def put(key, value):
        keys[f"{arch}.{key}"] = value

    rope = c.rope_parameters.get("full_attention", c.rope_parameters)
    put("context_length", c.max_position_embeddings)
    put("embedding_length", c.hidden_size)
    put("feed_forward_length", c.intermediate_size)
    put("block_count", c.num_hidden_layers)
    put("attention.head_count", c.num_attention_heads)
    put("attention.head_count_kv", c.num_key_value_heads)
    put("attention.layer_norm_rms_epsilon", float(c.rms_norm_eps))
    put("vocab_size", c.vocab_size)
    if kind != "gemma2":
        put("rope.freq_base", float(rope["rope_theta"]))
    if getattr(c, "head_dim", None):
        put("attention.key_length", head)
        put("attention.value_length", head)
    if arch in ("llama", "mistral3", "granite", "smollm3"):
        put("rope.dimension_count", head)
    if arch == "granite":
        put("attention.scale", c.attention_multiplier)
        put("embedding_scale", c.embedding_multiplier)
        put("residual_scale", c.residual_multiplier)
        put("logit_scale", c.logits_scaling)
    if kind == "gemma2":
        put("attn_logit_softcapping", c.attn_logit_softcapping)
        put("final_logit_softcapping", c.final_logit_softcapping)
    if kind in ("gemma2", "gemma3_text", "olmo3", "mistral") and c.sliding_window:
        put("attention.sliding_window", c.sliding_window)
    if kind == "olmo3" or kind == "qwen2" and c.use_sliding_window:
        put("attention.sliding_window", c.sliding_window)
        put("attention.sliding_window_pattern",
            [t == "sliding_attention" for t in c.layer_types])
    if rope["rope_type"] == "llama3":
        inverse = 1 / (rope["rope_theta"] ** (torch.arange(0, head, 2).float() / head))
        original = rope["original_max_position_embeddings"]
        low, high = original / rope["low_freq_factor"], original / rope["high_freq_factor"]
        divisors = []
        for wave in (2 * torch.pi / inverse).tolist():
            smooth = (original / wave - rope["low_freq_factor"]) / (
                rope["high_freq_factor"] - rope["low_freq_factor"])
            divisors.append(
                1.0 if wave < high else rope["factor"] if wave > low
                else 1 / ((1 - smooth) / rope["factor"] + smooth))
        tensors["rope_freqs.weight"] = divisors
    if rope["rope_type"] == "linear":
        put("rope.scaling.type", "linear")
        put("rope.scaling.factor", rope["factor"])
    if rope["rope_type"] == "yarn":
        put("rope.scaling.type", "yarn")
        put("rope.scaling.factor", rope["factor"])
        put("rope.scaling.original_context_length", rope["original_max_position_embeddings"])
        for theirs, ours in (("attention_factor", "yarn_attn_factor"),
                             ("beta_fast", "yarn_beta_fast"), ("beta_slow", "yarn_beta_slow")):
            if rope.get(theirs) is not None:
                put(f"rope.scaling.{ours}", float(rope[theirs]))
    if kind == "ministral3":
        put("rope.scaling.yarn_log_multiplier", rope["mscale_all_dim"])
        put("attention.temperature_scale", rope["llama_4_scaling_beta"])
    if kind == "phi3":
        put("rope.dimension_count", int(head * rope.get("partial_rotary_factor", 1.0)))
        put("rope.scaling.original_context_length", c.original_max_position_embeddings)
        put("attention.sliding_window", c.sliding_window or 0)
        if rope["rope_type"] == "longrope":
            original = rope["original_max_position_embeddings"]
            factor = torch.log(torch.tensor(c.max_position_embeddings / original).double())
            put("rope.scaling.attn_factor",
                (1 + factor / torch.log(torch.tensor(original).double())).sqrt().item())
            tensors["rope_factors_short.weight"] = rope["short_factor"]
            tensors["rope_factors_long.weight"] = rope["long_factor"]
    def tagged(value):
        """With its GGUF type: u uint32, f float32, s string, b bools."""
        if isinstance(value, list):
            return {"b": value}
        return {"s" if isinstance(value, str) else "f" if isinstance(value, float) else "u": value}

    # Their presence says what the metadata does not.
    shapes = {"token_embd.weight": [c.vocab_size, c.hidden_size]}
    if not config.tie_word_embeddings:
        shapes["output.weight"] = [c.vocab_size, c.hidden_size]
    if kind in ("llama", "granitemoehybrid") and c.attention_bias:
        for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
            shapes[f"blk.0.{name}.bias"] = [c.hidden_size]
    if kind == "llama" and c.mlp_bias:
        for name in ("ffn_gate", "ffn_up", "ffn_down"):
            shapes[f"blk.0.{name}.bias"] = [c.hidden_size]
    return dict(metadata={key: tagged(value) for key, value in keys.items()}, divisors=tensors,
        shapes=shapes)


def gguf_names(config, tensors):
    """The file's names of a block's tensors and of those outside, by the folder's names."""
    c = config.get_text_config()
    arch = ARCHITECTURES.get(c.model_type, c.model_type)
    kind = next(key for key, value in gguf_py.MODEL_ARCH_NAMES.items() if value == arch)
    names = gguf_py.get_tensor_name_map(kind, c.num_hidden_layers)
    plain = [
        name.replace("language_model.", "").replace("shared_mlp.output_linear", "mlp.down_proj")
        for name in tensors]
    # llama.cpp's conversion takes this tensor apart.
    for name in [name for name in plain if "shared_mlp.input_linear" in name]:
        plain.remove(name)
        plain += [name.replace("shared_mlp.input_linear", f"mlp.{part}_proj") for part in ("gate", "up")]
    return {
        name: names.get_name(name, try_suffixes=(".weight", ".bias"))
        for name in plain if ".layers." not in name or ".layers.3." in name}


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    goldens = {}
    for name, config in CASES.items():
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
            config.save_pretrained(folder)
            with open(f"{folder}/config.json") as file:
                written = json.load(file)
        sees = name in ("gemma3", "mistral3")
        kind = AutoModelForImageTextToText if sees else AutoModelForCausalLM
        model = kind.from_config(config)
        shapes = {
            key: list(value.shape) for key, value in model.state_dict().items()
            if "vision" not in key and "projector" not in key
            and not (key == "lm_head.weight" and config.tie_word_embeddings)}
        goldens[name] = dict(
            config=written, tensors=shapes, rotations=rotations(model),
            gguf=dict(gguf(config), names=gguf_names(config, shapes)))
    with open(f"{here}/families.json", "w") as file:
        json.dump(goldens, file, indent=None, separators=(",", ":"), sort_keys=True)
        file.write("\n")


main()

"""Random models of every family from a seed: small, of odd shapes, and such that every number matters."""

import random

import torch
from transformers import (
    Gemma2Config, Gemma3Config, Gemma3TextConfig, GraniteConfig, GraniteMoeHybridConfig, LlamaConfig, Ministral3Config,
    MistralConfig, Olmo2Config, Olmo3Config, Phi3Config, Qwen2Config, Qwen3Config, SmolLM3Config,
)

CONTEXT = 256
ORIGINAL = 24  # what rotations are scaled from; rows are shorter and longer


def scaled_rotation(source):
    """Any rotation that config.json can state for whole heads."""
    theta = source.choice([50.0, 1e3, 1e4, 5e5])
    kind = source.choice(["default", "default", "linear", "llama3", "yarn"])
    rope = dict(rope_type=kind, rope_theta=theta)
    if kind == "linear":
        rope.update(factor=source.choice([1.5, 2.0, 8.0]))
    if kind == "llama3":
        rope.update(
            factor=source.choice([2.0, 8.0]), low_freq_factor=1.0, high_freq_factor=source.choice([2.0, 4.0]),
            original_max_position_embeddings=ORIGINAL)
    if kind == "yarn":
        rope.update(factor=source.choice([2.0, 4.0]), original_max_position_embeddings=ORIGINAL)
        if source.random() < 0.4:
            rope.update(attention_factor=1.25, beta_fast=8.0)
    return rope


def longrope(source, elements):
    rope = dict(rope_type="longrope", rope_theta=1e4, original_max_position_embeddings=ORIGINAL)
    rope["short_factor"] = [round(source.uniform(1, 2), 3) for _ in range(elements // 2)]
    rope["long_factor"] = [round(source.uniform(2, 6), 3) for _ in range(elements // 2)]
    return rope


def sizes(source, own_head_dimension, layers=(2, 4)):
    heads, keys = source.choice([(2, 1), (3, 1), (4, 2), (4, 1), (6, 3), (6, 2), (3, 3)])
    head = source.choice([6, 8, 10, 12, 16])
    # transformers wants a multiple of the heads even where they have a dimension of their own.
    width = heads * (source.choice([7, 9, 11, 13, 17]) if own_head_dimension else head)
    return head, dict(
        vocab_size=source.randint(101, 260), hidden_size=width, intermediate_size=source.randint(31, 90),
        num_hidden_layers=source.randint(*layers), num_attention_heads=heads, num_key_value_heads=keys,
        max_position_embeddings=CONTEXT, pad_token_id=0, bos_token_id=1, eos_token_id=2,
        tie_word_embeddings=source.random() < 0.5, rms_norm_eps=source.choice([1e-6, 1e-5, 1e-3]))


def flip(source):
    return source.random() < 0.5


def window(source):
    return source.randint(3, 14)


def llama(s):
    head, size = sizes(s, True)
    return LlamaConfig(
        **size, head_dim=head, attention_bias=flip(s), mlp_bias=flip(s), rope_parameters=scaled_rotation(s))


def qwen2(s):
    _, size = sizes(s, False)
    windows = dict(use_sliding_window=True, sliding_window=window(s), max_window_layers=1) if flip(s) else {}
    return Qwen2Config(**size, **windows, rope_parameters=scaled_rotation(s))


def qwen3(s):
    head, size = sizes(s, True)
    windows = dict(use_sliding_window=True, sliding_window=window(s), max_window_layers=1) if flip(s) else {}
    return Qwen3Config(
        **size, **windows, head_dim=head, attention_bias=flip(s), rope_parameters=scaled_rotation(s))


def smollm3(s):
    _, size = sizes(s, False, layers=(4, 5))
    return SmolLM3Config(
        **size, attention_bias=flip(s), mlp_bias=flip(s), rope_parameters=scaled_rotation(s),
        no_rope_layer_interval=s.choice([2, 3, 4]))


def granite(s):
    _, size = sizes(s, False)
    return GraniteConfig(
        **size, attention_bias=flip(s), mlp_bias=flip(s), rope_parameters=scaled_rotation(s),
        embedding_multiplier=s.uniform(2, 12), attention_multiplier=s.uniform(0.1, 0.2),
        residual_multiplier=s.uniform(0.2, 0.8), logits_scaling=s.uniform(2, 8))


def granitemoehybrid(s):
    """Granite 4 with attention in each layer and without experts."""
    _, size = sizes(s, False)
    size.update(shared_intermediate_size=s.randint(31, 90), attention_bias=flip(s))
    positions = s.choice(["rope", "rope", "rope", "rope", "nope", None])
    # The scaling of a model that is not rotated would make no difference.
    rotation = dict(rope_parameters=scaled_rotation(s)) if positions == "rope" else {}
    return GraniteMoeHybridConfig(
        **size, **rotation, position_embedding_type=positions, num_local_experts=0, num_experts_per_tok=0,
        layer_types=["attention"] * size["num_hidden_layers"], mamba_n_heads=2,
        embedding_multiplier=s.uniform(2, 12), attention_multiplier=s.uniform(0.1, 0.2),
        residual_multiplier=s.uniform(0.2, 0.8), logits_scaling=s.uniform(2, 8))


def mistral(s):
    head, size = sizes(s, True)
    return MistralConfig(
        **size, head_dim=head, sliding_window=window(s) if flip(s) else None, rope_parameters=scaled_rotation(s))


def ministral3(s):
    head, size = sizes(s, True)
    rope = dict(
        rope_type="yarn", rope_theta=s.choice([1e4, 1e6]), factor=s.choice([2.0, 8.0]), beta_fast=32.0, beta_slow=1.0,
        original_max_position_embeddings=s.choice([8, 16]), mscale=1.0, mscale_all_dim=1.0,
        llama_4_scaling_beta=s.uniform(0.1, 0.5))
    return Ministral3Config(
        **size, head_dim=head, sliding_window=window(s) if flip(s) else None, rope_parameters=rope)


def olmo2(s):
    _, size = sizes(s, False)
    return Olmo2Config(**size, attention_bias=flip(s), rope_parameters=scaled_rotation(s))


def olmo3(s):
    _, size = sizes(s, False, layers=(4, 5))
    rope = scaled_rotation(s)
    return Olmo3Config(
        **size, attention_bias=flip(s), sliding_window=window(s), rope_parameters=dict(
            full_attention=rope,
            sliding_attention=dict(rope_type="default", rope_theta=rope["rope_theta"])))


def gemma2(s):
    head, size = sizes(s, True)
    size["tie_word_embeddings"] = True
    return Gemma2Config(
        **size, head_dim=head, query_pre_attn_scalar=s.choice([5, 9, 20]), sliding_window=window(s),
        attention_bias=flip(s), attn_logit_softcapping=s.uniform(2, 6), final_logit_softcapping=s.uniform(2, 5),
        rope_parameters=dict(rope_type="default", rope_theta=s.choice([50.0, 1e4])))


def gemma3_text(s):
    head, size = sizes(s, True, layers=(3, 4))
    size["tie_word_embeddings"] = True
    full = dict(rope_type="default", rope_theta=s.choice([1e5, 1e6]))
    if flip(s):
        full = dict(rope_type="linear", factor=8.0, rope_theta=s.choice([1e3, 1e6]))
    kinds = ["full_attention" if (i + 1) % 3 == 0 else "sliding_attention" for i in range(size["num_hidden_layers"])]
    return Gemma3TextConfig(
        **size, head_dim=head, query_pre_attn_scalar=s.choice([5, 9, 20]), sliding_window=window(s),
        attention_bias=flip(s), layer_types=kinds, rope_parameters=dict(
            full_attention=full, sliding_attention=dict(rope_type="default", rope_theta=s.choice([50.0, 1e4]))))


def gemma3(s):
    see = dict(
        hidden_size=16, intermediate_size=16, num_hidden_layers=1, num_attention_heads=2, image_size=8, patch_size=4)
    text = gemma3_text(s)
    ids = dict(
        boi_token_index=text.vocab_size - 3, eoi_token_index=text.vocab_size - 2,
        image_token_index=text.vocab_size - 1)
    return Gemma3Config(text_config=text.to_dict(), vision_config=see, mm_tokens_per_image=4, **ids)


def phi3(s):
    head, size = sizes(s, False)
    if size["hidden_size"] // size["num_attention_heads"] < 8:
        return phi3(s)
    elements, partial = head, {}
    if flip(s):
        elements = s.choice([4, 6])
        partial = dict(partial_rotary_factor=elements / head)
    rope = longrope(s, elements) if s.random() < 0.7 else dict(rope_type="default", rope_theta=1e4)
    return Phi3Config(
        **size, sliding_window=window(s) if flip(s) else None, original_max_position_embeddings=ORIGINAL,
        rope_parameters={**rope, **partial})


FAMILIES = dict(
    llama=llama, qwen2=qwen2, qwen3=qwen3, smollm3=smollm3, granite=granite, granitemoehybrid=granitemoehybrid,
    mistral=mistral, ministral3=ministral3, olmo2=olmo2, olmo3=olmo3, gemma2=gemma2, gemma3_text=gemma3_text,
    gemma3=gemma3, phi3=phi3)


def source_of(seed, family, number):
    return random.Random(f"{seed} {family} {number}")


def fill(model, source, is_offset):
    """Random weights, norms and biases included; `is_offset`: norms are 1 + w."""
    generator = torch.Generator().manual_seed(source.getrandbits(48))
    for name, p in model.named_parameters():
        noise = torch.randn(p.shape, generator=generator, dtype=torch.float64)
        if "norm" in name:
            value = noise.clamp(-2, 2) * 0.3 + (0 if is_offset else 1)
        elif p.dim() == 1:
            value = noise * 0.3
        elif "embed" in name:
            value = noise * (p.shape[-1] ** -0.5 if is_offset else 1)
        else:
            value = noise * p[0].numel() ** -0.5
        p.data = value.float().to(p.dtype)


def rows_of(source, vocabulary):
    """Rows of ids with the places that carry loss, and prompts."""
    def ids(count):
        return [source.randrange(3, vocabulary) for _ in range(count)]

    lengths = [source.randint(4, 12), source.choice([20, ORIGINAL, ORIGINAL + 1, ORIGINAL + 2, 33]), source.randint(50, 96)]
    rows = []
    for length in lengths:
        targets = sorted(source.sample(range(1, length), max(1, length // 2)))
        rows.append(dict(ids=ids(length), targets=targets))
    return rows, [ids(source.randint(1, 6)), ids(source.randint(ORIGINAL - 4, ORIGINAL + 4))]

"""Small models of every family, as plain as published ones, which transformers, mlx-lm and llama.cpp compute alike."""

import transformers as t

SIZE = dict(
    vocab_size=160, hidden_size=64, intermediate_size=96, num_hidden_layers=3, num_attention_heads=4,
    num_key_value_heads=2, max_position_embeddings=256, pad_token_id=0, bos_token_id=1, eos_token_id=2, rms_norm_eps=1e-5)
ROPE = dict(rope_type="default", rope_theta=1e4)
LOCAL = dict(full_attention=dict(rope_type="default", rope_theta=1e6), sliding_attention=ROPE)
YARN = dict(
    rope_type="yarn", rope_theta=1e6, factor=2.0, beta_fast=32.0, beta_slow=1.0, original_max_position_embeddings=128,
    mscale=1.0, mscale_all_dim=1.0, llama_4_scaling_beta=0.1)


def windows(layers, every):
    return ["full_attention" if (i + 1) % every == 0 else "sliding_attention" for i in range(layers)]


def gemma3_text():
    return t.Gemma3TextConfig(
        **dict(SIZE, num_hidden_layers=7), head_dim=16, query_pre_attn_scalar=16, sliding_window=24,
        layer_types=windows(7, 6), rope_parameters=LOCAL, tie_word_embeddings=True)


def gemma3():
    see = dict(
        hidden_size=16, intermediate_size=16, num_hidden_layers=1, num_attention_heads=2, image_size=8, patch_size=4)
    return t.Gemma3Config(
        text_config=gemma3_text().to_dict(), vision_config=see, mm_tokens_per_image=4, boi_token_index=157,
        eoi_token_index=158, image_token_index=159)


FACTORS = dict(embedding_multiplier=6.0, attention_multiplier=0.2, residual_multiplier=0.4, logits_scaling=4.0)
FAMILIES = dict(
    llama=lambda: t.LlamaConfig(**SIZE, rope_parameters=ROPE, tie_word_embeddings=True),
    qwen2=lambda: t.Qwen2Config(**SIZE, rope_parameters=ROPE, tie_word_embeddings=True),
    qwen3=lambda: t.Qwen3Config(**SIZE, head_dim=24, rope_parameters=ROPE, tie_word_embeddings=False),
    smollm3=lambda: t.SmolLM3Config(
        **dict(SIZE, num_hidden_layers=4), no_rope_layer_interval=4, rope_parameters=ROPE, tie_word_embeddings=True),
    granite=lambda: t.GraniteConfig(**SIZE, **FACTORS, rope_parameters=ROPE, tie_word_embeddings=True),
    granitemoehybrid=lambda: t.GraniteMoeHybridConfig(
        **SIZE, **FACTORS, rope_parameters=ROPE, tie_word_embeddings=True, shared_intermediate_size=96,
        position_embedding_type="rope", num_local_experts=0, num_experts_per_tok=0, layer_types=["attention"] * 3,
        mamba_n_heads=2),
    mistral=lambda: t.MistralConfig(**SIZE, head_dim=16, sliding_window=None, rope_parameters=ROPE),
    ministral3=lambda: t.Ministral3Config(**SIZE, head_dim=16, sliding_window=None, rope_parameters=YARN),
    olmo2=lambda: t.Olmo2Config(**SIZE, rope_parameters=ROPE, tie_word_embeddings=False),
    olmo3=lambda: t.Olmo3Config(
        **dict(SIZE, num_hidden_layers=4), sliding_window=24, layer_types=windows(4, 4),
        rope_parameters=dict(full_attention=ROPE, sliding_attention=ROPE)),
    gemma2=lambda: t.Gemma2Config(
        # mlx-lm computes no windows here.
        **SIZE, head_dim=16, query_pre_attn_scalar=16, sliding_window=128, attn_logit_softcapping=50.0,
        final_logit_softcapping=30.0, rope_parameters=ROPE, tie_word_embeddings=True),
    gemma3_text=gemma3_text, gemma3=gemma3,
    phi3=lambda: t.Phi3Config(**SIZE, sliding_window=None, original_max_position_embeddings=256, rope_parameters=ROPE),
)

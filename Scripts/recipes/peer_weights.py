"""Writes a GGUF model in fp32 as transformers and mlx-lm load it, with the chat template that cells are trained and asked with.

usage: peer_weights.py smollm2|gemma MODEL.gguf FOLDER
"""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))

import torch
from published_config import spell_as_published
from transformers import AutoModelForCausalLM, AutoTokenizer

# The text of SmolLM2's own template, and of Skein's for Gemma. The marks around an answer and its end show TRL what to learn
# where it is told to learn answers alone; they make no text.
TEMPLATES = {
    "smollm2": (
        "{% for m in messages %}{% if loop.first and m.role != 'system' %}{{ '<|im_start|>system\\nYou are a helpful AI assistant "
        "named SmolLM, trained by Hugging Face<|im_end|>\\n' }}{% endif %}{{ '<|im_start|>' + m.role + '\\n' }}"
        "{% if m.role == 'assistant' %}{% generation %}{{ m.content + '<|im_end|>' }}{% endgeneration %}"
        "{% else %}{{ m.content + '<|im_end|>' }}{% endif %}{{ '\\n' }}{% endfor %}"
        "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"),
    "gemma": (
        "{{ bos_token }}{% for m in messages %}{{ '<start_of_turn>' + ('model' if m.role == 'assistant' else m.role) + '\\n' }}"
        "{% if m.role == 'assistant' %}{% generation %}{{ m.content|trim + '<end_of_turn>' }}{% endgeneration %}"
        "{% else %}{{ m.content|trim + '<end_of_turn>' }}{% endif %}{{ '\\n' }}{% endfor %}"
        "{% if add_generation_prompt %}{{ '<start_of_turn>model\\n' }}{% endif %}"),
}
TALK = [{"role": role, "content": text} for role, text in (
    ("user", "What is it?"), ("assistant", "A test."), ("user", "Of what?"), ("assistant", "Of templates."))]


def main():
    name, gguf, output = sys.argv[1:]
    folder, file = os.path.split(os.path.abspath(gguf))
    tokenizer = AutoTokenizer.from_pretrained(folder, gguf_file=file)
    own = tokenizer.chat_template
    texts = [tokenizer.apply_chat_template(TALK, tokenize=False, chat_template=template)
             for template in (own, TEMPLATES[name]) if template]
    if len(set(texts)) > 1:
        raise SystemExit(f"the template of {gguf} makes another text than the one with marks: {texts}")
    tokenizer.chat_template = TEMPLATES[name]
    tokenizer.save_pretrained(output)
    model = AutoModelForCausalLM.from_pretrained(folder, gguf_file=file, dtype=torch.float32)
    # The numbers are plain floats by now; without this, transformers refuses to save a model from a GGUF file.
    model.hf_quantizer = None
    del model.config.quantization_config
    model.save_pretrained(output)
    spell_as_published(output)


main()

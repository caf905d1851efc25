"""Adapters of slices of fused modules, such as q_proj of qkv_proj, beside those of the modules, which are all that PEFT
knows.

With n slices adapted, the module's A has theirs one below the other, its B theirs on the block diagonal; what no slice
fills is zero. n is that of the module with the most, for all modules. So the gradient of a slice's matrix is that part
of the module's gradient where the matrix lies.
"""

import json
import os

import torch
from safetensors.torch import save_file

# The slices of each module, in the order of their rows.
PARTS = dict(
    qkv_proj=["q_proj", "k_proj", "v_proj"], gate_up_proj=["gate_proj", "up_proj"],
    input_linear=["gate_proj", "up_proj"])


def rows_of(config, slice_):
    """How many rows of the module a slice has."""
    head = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    width = getattr(config, "shared_intermediate_size", config.intermediate_size)
    heads = dict(
        q_proj=config.num_attention_heads, k_proj=config.num_key_value_heads, v_proj=config.num_key_value_heads)
    return heads[slice_] * head if slice_ in heads else width


class Slices:
    """An adapter of `targets`: slices, and modules beside them."""

    def __init__(self, config, modules, targets, rank):
        """`modules`: all that can be adapted, by their names in a block, to their numbers of columns and rows."""
        self.rank, self.places = rank, {}
        adapted = {}
        for path, (columns, rows) in modules.items():
            module = path.split(".")[-1]
            first, taken = 0, 0
            # The module as a whole, or its slices.
            for part in [module] if module in targets else PARTS.get(module, [module]):
                count = rows if part == module else rows_of(config, part)
                if part in targets:
                    own = path if part == module else f"{'self_attn' if part[0] in 'qkv' else 'mlp'}.{part}"
                    self.places[own] = (path, columns, range(first, first + count), taken)
                    taken += 1
                first += count
            if first != rows:
                raise SystemExit(f"the slices of {path} have {first} rows of {rows}")
            adapted[path] = taken
        self.multiplier = max(adapted.values())
        self.modules = sorted(path.split(".")[-1] for path, taken in adapted.items() if taken)

    def draw(self, layers, generator):
        """Random matrices by their names in a file."""
        tensors = {}
        for layer in range(layers):
            for own, (_, columns, rows, _) in self.places.items():
                for matrix, shape in dict(A=(self.rank, columns), B=(len(rows), self.rank)).items():
                    noise = torch.randn(shape, generator=generator, dtype=torch.float64)
                    tensors[f"base_model.model.model.layers.{layer}.{own}.lora_{matrix}.weight"] = (
                        noise * 0.5 * shape[-1] ** -0.5).float()
        return tensors

    def of(self, expected, layers):
        """The same tensors, with the gradients of slices in place of those of modules."""
        found = {name: value for name, value in expected.items() if "lora_" not in name}
        for layer in range(layers):
            block = f"base_model.model.model.layers.{layer}."
            for own, (path, columns, rows, place) in self.places.items():
                a, b = (expected[f"{block}{path}.lora_{matrix}.weight"] for matrix in "AB")
                ranks = slice(place * self.rank, (place + 1) * self.rank)
                if a.shape != (self.multiplier * self.rank, columns) or b.shape[1] != a.shape[0]:
                    raise SystemExit(f"{path} has matrices {tuple(a.shape)} and {tuple(b.shape)}")
                found[f"{block}{own}.lora_A.weight"] = a[ranks]
                found[f"{block}{own}.lora_B.weight"] = b[rows.start:rows.stop, ranks]
        return found


def save(tensors, rank, alpha, is_rank_stabilized, folder):
    """An adapter as PEFT would save it, if it knew the slices."""
    os.makedirs(folder)
    save_file(tensors, os.path.join(folder, "adapter_model.safetensors"))
    fields = dict(
        peft_type="LORA", task_type="CAUSAL_LM", r=rank, lora_alpha=alpha, lora_dropout=0.0,
        use_rslora=is_rank_stabilized, target_modules=sorted({name.split(".")[-3] for name in tensors}))
    with open(os.path.join(folder, "adapter_config.json"), "w") as file:
        json.dump(fields, file)

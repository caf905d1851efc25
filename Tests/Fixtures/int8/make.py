"""Writes numbers.json and gradients.safetensors: loss and gradients of a small model under `--compute int8`, in float64.

    python make.py            # writes both
    python make.py changed    # writes nothing; says what each change of the definition does to the gradients
    python make.py seeds N    # writes nothing; the seed below N whose numbers are furthest from a tie

torch 2.15.0, numpy 2.4.6, safetensors. Skein's quantization (Sources/CSkeinKernels/include/int8_product.h) is done here
with real numbers: everything is a double, and only what becomes an integer is rounded. So a number that lies beside
the border between two integers may fall to one side here and to the other in fp32, which moves a gradient by more
than the test allows. There is none such:

- Weights are small integers times 2^-10, so that turning them is exact in fp32, too. What is rounded is v 127 / a, of
  integers v and a, the largest. In every tile of 64 rows and columns (or fewer, at an edge) each row and each
  column has an odd number of odd integers: v and a are odd, 254 v = (2 k + 1) a has no solution, and v 127 / a is at
  least 1 / 2a away from k + 1/2. fp32's two roundings move it by 2^-16 at most; the maker checks that 1 / 2a is more.
- Activations and gradients are counted in integers between -127 and 127, of which fp32 moves them by 1e-5, and at worst
  by 2e-4. SEED, which draws the rows, is the one of 5,000 at which the nearest tie of all is furthest away: 1.9e-4. In
  each product the nearest is 3.2 times as far away as a pass in fp32 is at most, and as int8 has the same bits on
  every processor, what does not happen on one never happens. The maker prints these figures, and what a single
  number on the other side would do.
"""

import json
import os
import sys

import numpy
import torch
from safetensors.numpy import save_file

here = os.path.dirname(os.path.abspath(__file__))
SEED = 236
LAYERS, WIDTH, INNER, HEADS, KEYS, HEAD, VOCABULARY = 2, 192, 320, 4, 2, 48, 300
RANK, ALPHA, EPSILON, THETA = 2, 3, 1e-5, 10000.0
# Targets are the tokens at these places.
LENGTHS, TARGETS = [4, 3], [[1, 3], [2]]
PARTS = {
    "self_attn.q_proj": (HEADS * HEAD, WIDTH), "self_attn.k_proj": (KEYS * HEAD, WIDTH),
    "self_attn.v_proj": (KEYS * HEAD, WIDTH), "self_attn.o_proj": (WIDTH, HEADS * HEAD),
    "mlp.gate_proj": (INNER, WIDTH), "mlp.up_proj": (INNER, WIDTH), "mlp.down_proj": (WIDTH, INNER),
}


def uniform(name, count):
    """[-1, 1): Splitmix64 from the name's FNV-1a hash; 24 bits of each word, as in Fixtures/families."""
    key = 0xCBF29CE484222325
    for byte in name.encode():
        key = (key ^ byte) * 0x100000001B3 % 2**64
    with numpy.errstate(over="ignore"):
        z = numpy.uint64(key) + numpy.arange(1, count + 1, dtype=numpy.uint64) * numpy.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> numpy.uint64(30))) * numpy.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> numpy.uint64(27))) * numpy.uint64(0x94D049BB133111EB)
        z = z ^ (z >> numpy.uint64(31))
    return (z >> numpy.uint64(40)).astype(numpy.float64) * 2.0**-23 - 1


def odd_places(rows, columns):
    """Which integers of a weight are odd: a tile's diagonal, and what is left over in its first row or column."""
    i, j = numpy.arange(rows)[:, None], numpy.arange(columns)[None, :]
    high = numpy.minimum(64, rows - i // 64 * 64)
    wide = numpy.minimum(64, columns - j // 64 * 64)
    i, j = i % 64, j % 64
    return (i == j) | ((i == 0) & (j >= high)) | ((j == 0) & (i >= wide))


def weight(name, rows, columns):
    """Integers between -125 and 125 times 2^-10."""
    even = 2 * numpy.trunc(62 * uniform(name, rows * columns)).reshape(rows, columns)
    return torch.from_numpy((even + odd_places(rows, columns)) * 2.0**-10)


def vector(name, count):
    return torch.from_numpy((1 + 0.5 * uniform(name, count)).astype(numpy.float32)).double()


def adapter(name, rows, columns):
    """Floats around 0, B as large as A: every path carries something."""
    return torch.from_numpy((uniform(name, rows * columns) / 8).astype(numpy.float32)).double().reshape(rows, columns)


class Definition:
    """What `changed` changes."""

    block, turn, row_scales, float_type = 128, 64, True, torch.float64


class Rounding:
    """Rounds to integers and keeps what stood before and, of all numbers, how far the nearest is from a tie.

    `flipping`: numbers as far from a tie as this become the other integer.
    """

    def __init__(self, flipping=-1.0):
        self.nearest, self.codes, self.flipping = 1.0, [], flipping

    def __call__(self, codes):
        distances = (codes - codes.floor() - 0.5).abs()
        self.nearest = min(self.nearest, distances.min().item())
        self.codes.append(codes.double())
        near, other = codes.round(), codes.floor() + codes.ceil() - codes.round()
        return torch.where(distances <= self.flipping, other, near)


def hadamard(n):
    h = torch.ones(1, 1, dtype=torch.float64)
    while h.shape[0] < n:
        h = torch.cat([torch.cat([h, h], 1), torch.cat([h, -h], 1)])
    return h


def turned(x):
    """The last axis with zeros up to a multiple of 64, 64 numbers at a time by H / 8, which turns them back, too."""
    n = Definition.turn
    x = torch.nn.functional.pad(x, (0, -x.shape[-1] % n))
    return (x.unflatten(-1, (-1, n)) @ hadamard(n).to(x.dtype) / n**0.5).flatten(-2)


def quantized(x, size, rounding):
    """Numbers as the integers nearest to 127 x / a times a / 127, a the largest of `size` of the last axis."""
    parts = []
    for part in x.split(size, -1):
        most = part.abs().amax(-1, keepdim=True)
        codes = part * torch.where(most > 0, 127 / most, 0)
        some = (most > 0).expand_as(codes)
        rounded = torch.zeros_like(codes)
        rounded[some] = rounding(codes[some]) if some.any() else codes[some]
        parts.append(rounded * most / 127)
    return torch.cat(parts, -1)


class Product(torch.autograd.Function):
    """x W^T and, backward, dy W: the identity stands for the rounding of x (straight-through)."""

    @staticmethod
    def forward(ctx, x, frozen, rounding):
        ctx.frozen, ctx.rounding = frozen, rounding
        return quantized(turned(x), Definition.block, rounding) @ frozen.ahead.T.to(x.dtype)

    @staticmethod
    def backward(ctx, dy):
        frozen = ctx.frozen
        if not ctx.needs_input_grad[0]:
            return None, None, None
        # [outputs]: a row's, that dy is multiplied with before it is rounded.
        scales = frozen.scales.to(dy.dtype)
        y = turned(dy) * scales if Definition.row_scales else turned(dy)
        y = quantized(y, Definition.block, ctx.rounding)
        return (y if Definition.row_scales else y * scales) @ frozen.back.to(dy.dtype), None, None


class Frozen:
    """A weight as both directions take it."""

    nearest, largest = 1.0, 0.0

    def __init__(self, w):
        rounding = Rounding()
        # [outputs, inputs padded].
        self.ahead = quantized(turned(w), Definition.block, rounding)
        # [outputs padded, inputs], integers; a scale for each row.
        rows = turned(w.T).T.contiguous()
        most = rows.abs().amax(-1, keepdim=True)
        self.back = rounding(rows * 127 / most)
        self.scales = most[:, 0] / 127
        Frozen.nearest = min(Frozen.nearest, rounding.nearest)
        # H w is 8 times `rows`, and an integer times 2^-10.
        ahead = turned(w).abs().max()
        Frozen.largest = max(Frozen.largest, max(most.max(), ahead).item() * 8 * 2**10)


class Model:
    def __init__(self):
        self.tensors, self.adapter = {}, {}
        self.add_weight("model.embed_tokens", VOCABULARY, WIDTH)
        for layer in range(LAYERS):
            for part, (rows, columns) in PARTS.items():
                self.add_weight(f"model.layers.{layer}.{part}", rows, columns)
                for kind, shape in (("A", (RANK, columns)), ("B", (rows, RANK))):
                    name = f"base_model.model.model.layers.{layer}.{part}.lora_{kind}.weight"
                    self.adapter[name] = adapter(name, *shape)
            for norm in ("input_layernorm", "post_attention_layernorm"):
                self.add_vector(f"model.layers.{layer}.{norm}")
        self.add_vector("model.norm")
        self.add_weight("lm_head", VOCABULARY, WIDTH)
        self.frozen = {
            name: Frozen(tensor) for name, tensor in self.tensors.items() if tensor.dim() == 2 and "embed" not in name}

    def add_weight(self, name, rows, columns):
        self.tensors[name + ".weight"] = weight(name + ".weight", rows, columns)

    def add_vector(self, name):
        self.tensors[name + ".weight"] = vector(name + ".weight", WIDTH)

    def rows(self, seed):
        return [numpy.trunc((uniform(f"row {i} {seed}", n) + 1) / 2 * VOCABULARY).astype(int).tolist()
                for i, n in enumerate(LENGTHS)]

    def run(self, seed, number=torch.float64, flipping=-1.0):
        """The loss, the gradients by name, and what was rounded."""
        rounding = Rounding(flipping)
        factors = {name: p.to(number).clone().requires_grad_() for name, p in self.adapter.items()}
        scale = float(numpy.float32(ALPHA / RANK))

        def project(x, place):
            name = "base_model.model." + place
            a, b = factors[name + ".lora_A.weight"], factors[name + ".lora_B.weight"]
            return Product.apply(x, self.frozen[place + ".weight"], rounding) + scale * (x @ a.T) @ b.T

        def norm(x, name):
            r = (x.square().mean(-1, keepdim=True) + float(numpy.float32(EPSILON))).rsqrt()
            return x * r * self.tensors[name + ".weight"].to(number)

        def rotated(x):
            # [tokens, heads, HEAD], positions from 0.
            angles = torch.arange(x.shape[0])[:, None].double() * THETA ** (-torch.arange(0, HEAD, 2) / HEAD).double()
            cosine, sine = angles.cos()[:, None].to(number), angles.sin()[:, None].to(number)
            a, b = x[..., :HEAD // 2], x[..., HEAD // 2:]
            return torch.cat([a * cosine - b * sine, b * cosine + a * sine], -1)

        def attend(q, k, v):
            n = q.shape[0]
            q, k = rotated(q.view(n, HEADS, HEAD)), rotated(k.view(n, KEYS, HEAD))
            k, v = (z.repeat_interleave(HEADS // KEYS, 1) for z in (k, v.view(n, KEYS, HEAD)))
            scores = torch.einsum("qhd,khd->hqk", q, k) / HEAD**0.5
            scores = scores.masked_fill(torch.ones(n, n).triu(1).bool(), -torch.inf)
            return torch.einsum("hqk,khd->qhd", scores.softmax(-1), v).reshape(n, HEADS * HEAD)

        # A row's last token is only ever a target; a target is one place behind the row that predicts it.
        rows, losses = self.rows(seed), []
        ends = numpy.cumsum([n - 1 for n in LENGTHS]).tolist()
        starts = [0] + ends[:-1]
        places = [start + place - 1 for start, some in zip(starts, TARGETS) for place in some]
        targets = torch.tensor([row[place] for row, some in zip(rows, TARGETS) for place in some])
        x = self.tensors["model.embed_tokens.weight"][[t for row in rows for t in row[:-1]]].to(number)
        for layer in range(LAYERS):
            place = f"model.layers.{layer}."
            y = norm(x, place + "input_layernorm")
            q, k, v = (project(y, place + f"self_attn.{z}_proj") for z in "qkv")
            y = torch.cat([attend(q[s:e], k[s:e], v[s:e]) for s, e in zip(starts, ends)])
            if layer == LAYERS - 1:
                # What the last block makes of any other row is not read, nor is it rounded.
                x, y = x[places], y[places]
            x = x + project(y, place + "self_attn.o_proj")
            y = norm(x, place + "post_attention_layernorm")
            y = torch.nn.functional.silu(project(y, place + "mlp.gate_proj")) * project(y, place + "mlp.up_proj")
            x = x + project(y, place + "mlp.down_proj")
        logits = Product.apply(norm(x, "model.norm"), self.frozen["lm_head.weight"], rounding)
        loss = torch.nn.functional.cross_entropy(logits, targets, reduction="sum")
        loss.backward()
        return loss.item(), {name: p.grad.double() for name, p in factors.items()}, rounding


def distance(found, expected):
    """The largest relative error of a matrix."""
    return max(((found[name] - expected[name]).norm() / expected[name].norm()).item() for name in expected)


def changed(model, seed):
    loss, expected, _ = model.run(seed)
    for text, field, value in (
            ("a scale for 64 numbers", "block", 64), ("a scale for 256 numbers", "block", 256),
            ("32 numbers turned together", "turn", 32),
            ("dy multiplied with the scales of W after it is rounded", "row_scales", False)):
        before = getattr(Definition, field)
        setattr(Definition, field, value)
        found = Model().run(seed)
        setattr(Definition, field, before)
        print(f"{text}: gradients {distance(found[1], expected):.1e}, loss {abs(found[0] / loss - 1):.1e}")


def seeds(model, count):
    best = max((model.run(seed)[2].nearest, seed) for seed in range(count))
    print(f"seed {best[1]}: nearest tie {best[0]:.2e}")


def main():
    torch.set_num_threads(1)
    model = Model()
    if sys.argv[1:2] == ["changed"]:
        return changed(model, SEED)
    if sys.argv[1:2] == ["seeds"]:
        return seeds(model, int(sys.argv[2]))
    loss, gradients, rounding = model.run(SEED)
    single = model.run(SEED, torch.float32)
    flipped = model.run(SEED, flipping=rounding.nearest)
    apart = [(a - b).abs().max().item() for a, b in zip(rounding.codes, single[2].codes)]
    ratio = min((a - a.floor() - 0.5).abs().min().item() / most for a, most in zip(rounding.codes, apart))
    rounded = sum(len(codes) for codes in rounding.codes)
    print(f"weights: nearest tie {Frozen.nearest:.2e}; 1 / 2a {0.5 / Frozen.largest:.2e}, more than {2**-16:.2e}")
    assert 0.5 / Frozen.largest > 2**-16
    print(f"activations and gradients: {rounded} numbers, nearest tie {rounding.nearest:.2e}")
    print(f"in fp32 at most {max(apart):.2e} apart, in each product 1 / {ratio:.1f} of its nearest tie; "
          f"gradients {distance(single[1], gradients):.2e}")
    print(f"if the nearest fell to the other side: gradients {distance(flipped[1], gradients):.2e}")
    save_file({name: g.float().numpy() for name, g in gradients.items()}, os.path.join(here, "gradients.safetensors"))
    config = dict(
        model_type="llama", architectures=["LlamaForCausalLM"], hidden_size=WIDTH, intermediate_size=INNER,
        num_hidden_layers=LAYERS, num_attention_heads=HEADS, num_key_value_heads=KEYS, head_dim=HEAD,
        vocab_size=VOCABULARY, rms_norm_eps=EPSILON, rope_theta=THETA, max_position_embeddings=64,
        tie_word_embeddings=False, hidden_act="silu")
    with open(os.path.join(here, "numbers.json"), "w") as file:
        json.dump(dict(
            config=json.dumps(config), shapes={n: list(t.shape) for n, t in model.tensors.items()}, rank=RANK,
            alpha=ALPHA, rows=[dict(ids=ids, targets=t) for ids, t in zip(model.rows(SEED), TARGETS)],
            loss=loss), file, indent=1)
        file.write("\n")


main()

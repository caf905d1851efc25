"""What transformers and PEFT make of a model, in float64."""

import contextlib
import importlib
import itertools
import os

import torch
from peft import LoraConfig, PeftModel, get_peft_model
from safetensors.torch import load_file

import slices


ORDER = [
    "q_proj", "k_proj", "v_proj", "qkv_proj", "o_proj", "gate_proj", "up_proj", "gate_up_proj", "input_linear",
    "down_proj", "output_linear",
]


SINGLE, TO_SINGLE = torch.float32, torch.Tensor.float


@contextlib.contextmanager
def single_as(dtype, conversion):
    before = torch.float32, torch.Tensor.float
    torch.float32, torch.Tensor.float = dtype, conversion
    try:
        yield
    finally:
        torch.float32, torch.Tensor.float = before


def double_precision():
    """transformers computes norms and softmax in float32 on purpose; here in float64."""
    return single_as(torch.float64, torch.Tensor.double)


def keep_rotations(model):
    """Leaves cosines and sines as transformers computes them, from frequencies and angles in float32.

    They are a part of the model, of whatever dtype: a float64 model with other angles is another one, whose gradients
    differ by more than the bound where scores are large. `model.to` would round the frequencies, which
    `from_pretrained` does not.
    """
    for module in model.modules():
        if not hasattr(module, "compute_default_rope_parameters"):
            continue
        buffers = {name: buffer.clone() for name, buffer in module.named_buffers()}

        def forward(*arguments, module=module, buffers=buffers, original=module.forward, **named):
            for name, buffer in buffers.items():
                if getattr(module, name).dtype != SINGLE:
                    setattr(module, name, buffer.clone())
            with single_as(SINGLE, TO_SINGLE):
                return original(*arguments, **named)

        module.forward = forward


def logits_of(model, ids):
    """[n, V] of one row; a row by itself, because transformers chooses longrope's factors by batch."""
    with double_precision() if model.dtype == torch.float64 else contextlib.nullcontext():
        return model(torch.tensor([ids]), use_cache=False).logits[0]


def text_model(model):
    inner = model.model
    return getattr(inner, "language_model", inner)


def measured_scores(model, rows):
    """The standard deviation of each layer's scores before a soft cap."""
    module = importlib.import_module(type(text_model(model)).__module__)
    original = module.eager_attention_forward
    found = {}

    def measure(attention, query, key, value, mask, scaling=None, **more):
        keys = key.repeat_interleave(query.shape[1] // key.shape[1], dim=1)
        scale = attention.head_dim**-0.5 if scaling is None else scaling
        scores = query @ keys.transpose(2, 3) * scale
        seen = scores[:, :, *torch.tril_indices(*scores.shape[-2:])]
        found.setdefault(attention.layer_idx, []).append(seen.flatten())
        return original(attention, query, key, value, mask, scaling=scaling, **more)

    module.eager_attention_forward = measure
    try:
        with torch.no_grad():
            for row in rows:
                logits_of(model, row["ids"])
    finally:
        module.eager_attention_forward = original
    return [torch.cat(found[layer]).std().item() for layer in sorted(found)]


def sharpen(model, rows, is_offset, scores=3.5, logits=4.0):
    """Scales queries and the final norm until scores and logits spread so far that mistakes show."""
    text = text_model(model)
    for index, layer in enumerate(text.layers):
        factor = scores / measured_scores(model, rows)[index]
        attention = layer.self_attn
        if hasattr(attention, "q_norm"):
            weight = attention.q_norm.weight
            weight.data = ((weight.data + is_offset) * factor - is_offset).float().to(weight.dtype)
        else:
            linear = attention.qkv_proj if hasattr(attention, "qkv_proj") else attention.q_proj
            queries = attention.o_proj.in_features
            for p in (linear.weight, linear.bias):
                if p is not None:
                    p.data[:queries] = (p.data[:queries] * factor).float().to(p.dtype)
    config = model.config.get_text_config()
    cap = getattr(config, "final_logit_softcapping", None)
    config.final_logit_softcapping = None
    with torch.no_grad():
        spread = torch.cat([logits_of(model, row["ids"]) for row in rows]).std().item()
    config.final_logit_softcapping = cap
    norm = text.norm.weight
    norm.data = ((norm.data + is_offset) * (logits / spread) - is_offset).float().to(norm.dtype)
    return min(measured_scores(model, rows))


def modules_of(model):
    """What can be adapted in a block, by its names there, with numbers of columns and rows; query first, and so on."""
    found = {
        name: (module.in_features, module.out_features)
        for name, module in text_model(model).layers[0].named_modules() if isinstance(module, torch.nn.Linear)}
    return dict(sorted(found.items(), key=lambda item: ORDER.index(item[0].split(".")[-1])))


def own_name(name):
    """A parameter's name in PEFT's files."""
    return name.replace(".default", "").replace("magnitude_vector.weight", "magnitude_vector")


def adapted(model, source, folder, edges=(), **more):
    """A PEFT model with random matrices, A and B alike, saved to `folder`.

    `edges`: of embed_tokens and lm_head, what is adapted beside modules of blocks. `more` goes to its configuration.
    """
    names = [name.split(".")[-1] for name in modules_of(model)]
    targets = source.sample(names, source.randint(1, len(names))) + list(edges)
    tower = "(?!.*vision).*" if hasattr(model.model, "language_model") else ".*"
    config = LoraConfig(
        r=source.choice([1, 2, 3, 5, 7]), lora_alpha=source.choice([1, 4, 11]), lora_dropout=0.0,
        target_modules=tower + r"\.(" + "|".join(targets) + ")" if tower != ".*" else targets,
        use_rslora=source.random() < 0.2, task_type="CAUSAL_LM", **more)
    adapted = get_peft_model(model, config)
    generator = torch.Generator().manual_seed(source.getrandbits(48))
    for name, p in adapted.named_parameters():
        if "lora_magnitude_vector" in name:
            # Lengths of rows that differ from the model's by up to a half.
            p.data = (p.data * (1 + (torch.rand(p.shape, generator=generator, dtype=torch.float64) - 0.5))).float()
        elif "lora_" in name:
            noise = torch.randn(p.shape, generator=generator, dtype=torch.float64)
            p.data = (noise * 0.5 * p.shape[-1] ** -0.5).float()
    if tower != ".*":
        adapted.peft_config["default"].target_modules = set(targets)
    adapted.save_pretrained(folder)
    return adapted.double()


def adapted_in_slices(model, source, folder, export):
    """A PEFT model with what `export` makes of an adapter of slices, saved to `folder`, and where the slices are."""
    modules = modules_of(model)
    names = [path.split(".")[-1] for path in modules]
    # One fused module in slices; others beside it may be adapted as they are, and then are.
    first = source.choice([name for name in names if name in slices.PARTS])
    apart = {first, *(name for name in slices.PARTS if source.random() < 0.5)}
    names = [part for name in names for part in (slices.PARTS[name] if name in apart else [name])]
    # At least one slice: else it would be an adapter of modules.
    targets = {source.choice(slices.PARTS[first]), *source.sample(names, source.randint(1, len(names)))}
    targets |= {name for name in names if name in slices.PARTS}
    rank, alpha, is_rank_stabilized = source.choice([1, 2, 3, 5]), source.choice([1, 4, 11]), source.random() < 0.2
    found, layers = slices.Slices(model.config, modules, targets, rank), len(text_model(model).layers)
    generator = torch.Generator().manual_seed(source.getrandbits(48))
    tensors = found.draw(layers, generator)
    slices.save(tensors, rank, alpha, is_rank_stabilized, folder)
    exported = export(folder)
    adapted = PeftModel.from_pretrained(model, exported, is_trainable=True)
    loaded = {name.replace(".default", ""): p for name, p in adapted.named_parameters() if "lora_" in name}
    written = load_file(os.path.join(exported, "adapter_model.safetensors"))
    if set(loaded) != set(written) or any(not torch.equal(loaded[name], written[name]) for name in written):
        raise SystemExit("PEFT does not load the exported adapter as it is")
    if sorted(adapted.peft_config["default"].target_modules) != found.modules:
        raise SystemExit(f"the exported adapter is of {adapted.peft_config['default'].target_modules}")
    if any(not torch.equal(value, tensors[name]) for name, value in found.of(written, layers).items()):
        raise SystemExit("the exported matrices are not those of the slices")
    return adapted.double(), found


def expected(model, rows, prompts=(), tokens=0):
    """The tensors that `skein-lab bench model` writes, in the model's own precision."""
    out = {}
    loss = torch.zeros((), dtype=torch.float64)
    for index, row in enumerate(rows):
        logits = logits_of(model, row["ids"])
        out[f"logits.{index}"] = logits[:-1].detach()
        targets = torch.tensor(row["targets"])
        wanted = torch.tensor(row["ids"])[targets]
        loss = loss + torch.nn.functional.cross_entropy(logits[targets - 1], wanted, reduction="sum")
    count = sum(len(row["targets"]) for row in rows)
    out["loss"] = torch.tensor([loss.item(), count], dtype=torch.float64)
    parameters = {n: p for n, p in model.named_parameters() if "lora_" in n}
    for (name, _), gradient in zip(parameters.items(), torch.autograd.grad(loss, list(parameters.values()))):
        out[own_name(name)] = gradient
    with torch.no_grad():
        for index, prompt in enumerate(prompts):
            ids, steps = list(prompt), []
            for _ in range(tokens):
                steps.append(logits_of(model, ids)[-1])
                ids.append(int(steps[-1].argmax()))
            out[f"tokens.{index}"] = torch.tensor(ids[len(prompt):], dtype=torch.float64)
            out[f"steps.{index}"] = torch.stack(steps)
    return out


def in_single_precision(model, rows, prompts, tokens):
    """`expected` in float32, again and again: of the model, then of models whose numbers are moved by at most a unit in
    the last place.

    One run alone may be lucky; the worst of some tells how much of a result is left in float32.
    """
    exact = {name: p.data.clone() for name, p in model.named_parameters()}
    generator = torch.Generator().manual_seed(1)
    try:
        for run in itertools.count():
            for name, p in model.named_parameters():
                noise = 2 * torch.rand(p.shape, generator=generator, dtype=torch.float64) - 1
                p.data = exact[name] * (1 + noise * 2.0**-23) if run else exact[name]
            yield expected(model.float(), rows, prompts, tokens)
            model.double()
    finally:
        model.double()
        for name, p in model.named_parameters():
            p.data = exact[name]

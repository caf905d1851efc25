"""Makes preference-losses.json beside it: losses of pairs and their derivatives by -log p, by TRL's own functions (that of DPO is
a part of a method, and stands here as its documentation has it). Needs torch 2.15.0 and trl 1.16.0."""

import json
import os
import random
import types

import torch
import torch.nn.functional as F
import trl
from trl.experimental.cpo import CPOTrainer
from trl.experimental.orpo import ORPOTrainer

generator = random.Random(18)
cases = []
for index in range(24):
    kind = ["dpo", "orpo", "simpo"][index % 3]
    beta = generator.choice([0.05, 0.1, 0.5, 2.0, 2.5])
    gamma = generator.choice([0.0, 0.5, 1.4])
    counts = [generator.randint(1, 40), generator.randint(1, 40)]
    scale = generator.choice([0.01, 0.5, 3.0])
    known = [-generator.uniform(0.001, 1) * scale * count for count in counts]
    references = [-generator.uniform(0.001, 1) * scale * count for count in counts]
    tensor = torch.tensor(known, dtype=torch.float64, requires_grad=True)
    tokens = torch.tensor(counts, dtype=torch.float64)
    trainer = types.SimpleNamespace(
        beta=beta, simpo_gamma=gamma, loss_type="simpo", alpha=0.0, label_smoothing=0.0,
        accelerator=types.SimpleNamespace(device="cpu"),
    )
    chosen, rejected = tensor[:1], tensor[1:]
    if kind == "dpo":
        ahead = (chosen - references[0]) - (rejected - references[1])
        loss = (-F.logsigmoid(beta * ahead)).mean()
    elif kind == "orpo":
        losses, *_ = ORPOTrainer.odds_ratio_loss(trainer, chosen / tokens[0], rejected / tokens[1])
        loss = -chosen.sum() / tokens[0] - losses.mean()
    else:
        losses, *_ = CPOTrainer.cpo_loss(trainer, chosen / tokens[0], rejected / tokens[1])
        loss = losses.mean()
    loss.backward()
    cases.append(
        dict(
            kind=kind, beta=beta, gamma=gamma if kind == "simpo" else 0, tokens=counts, log_probabilities=known,
            references=references, loss=loss.item(), weights=[-number for number in tensor.grad.tolist()],
        )
    )
path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "preference-losses.json")
with open(path, "w") as file:
    json.dump(dict(maker=f"trl {trl.__version__}, torch {torch.__version__}", cases=cases), file, indent=1)

"""Makes loraplus.json: steps of AdamW as PEFT's create_loraplus_optimizer sets it up, on the parameters of one adapted
layer with magnitudes. Written with Python 3.11, torch 2.15.0 and peft 0.21.2: python3 make_loraplus.py > loraplus.json"""
import json

import torch
from peft import LoraConfig, get_peft_model
from peft.optimizers import create_loraplus_optimizer

torch.manual_seed(3)
torch.set_num_threads(1)
RATE, RATIO, DECAY, STEPS = 2e-3, 16.0, 0.1, 40
model = get_peft_model(
    torch.nn.Sequential(torch.nn.Linear(6, 5)), LoraConfig(r=2, target_modules=["0"], use_dora=True))
optimizer = create_loraplus_optimizer(
    model, torch.optim.AdamW, lr=RATE, loraplus_lr_ratio=RATIO, loraplus_weight_decay=DECAY, betas=(0.9, 0.999), eps=1e-8)
schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: max(0.0, 1 - step / STEPS))
# In the order of Skein's flat vector.
named = {name: p for name, p in model.named_parameters() if p.requires_grad}
order = [next(p for name, p in named.items() if part in name) for part in ("lora_A", "lora_B", "magnitude")]
flat = lambda: [float(x) for p in order for x in p.detach().flatten()]
start, gradients, rates, kept = flat(), [], [], {}
for step in range(1, STEPS + 1):
    for p in order:
        p.grad = torch.randn_like(p) * 10.0 ** torch.randint(-3, 2, p.shape)
    gradients.append([float(x) for p in order for x in p.grad.flatten()])
    rates.append(RATE * max(0.0, 1 - (step - 1) / STEPS))
    optimizer.step()
    schedule.step()
    if step in (1, 2, 10, 40):
        kept[str(step)] = flat()
print(json.dumps({
    "ratio": RATIO, "weightDecay": DECAY, "shapes": [list(p.shape) for p in order], "start": start, "rates": rates,
    "gradients": gradients, "parameters": kept}))

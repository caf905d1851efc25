"""Makes schedules.json: the learning rates that transformers' schedules give for each step of short runs.
Written with Python 3.11, torch 2.15.0 and transformers 5.23.0: python3 make_schedules.py > schedules.json"""
import json

import torch
from transformers import optimization

PEAK = 0.002


def rates(make, steps, **options):
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=PEAK)
    schedule = make(optimizer, num_training_steps=steps, **options)
    found = []
    for _ in range(steps):
        found.append(schedule.get_last_lr()[0])
        optimizer.step()
        schedule.step()
    return found


runs = []


def add(kind, make, warmup, steps, given, **options):
    runs.append({
        "schedule": kind, "warmup": warmup, "steps": steps, "rates": rates(make, steps, num_warmup_steps=warmup, **options),
        "floor": given.get("floor", 0), "cycles": given.get("cycles", 1), "power": given.get("power", 1)})


for warmup, steps in [(0, 10), (3, 23), (5, 40)]:
    add("linear", optimization.get_linear_schedule_with_warmup, warmup, steps, {})
    add("cosine", optimization.get_cosine_schedule_with_warmup, warmup, steps, {})
    add("cosine", optimization.get_cosine_with_min_lr_schedule_with_warmup, warmup, steps, {"floor": 0.0003}, min_lr=0.0003)
    for cycles in (1, 3, 4):
        add("cosine-with-restarts", optimization.get_cosine_with_hard_restarts_schedule_with_warmup, warmup, steps,
            {"cycles": cycles}, num_cycles=cycles)
    for power, floor in [(1.0, 0.0), (1.0, 1e-7), (2.0, 0.0001), (0.5, 0.0), (2.7, 0.0004)]:
        add("polynomial", optimization.get_polynomial_decay_schedule_with_warmup, warmup, steps,
            {"power": power, "floor": floor}, power=power, lr_end=floor)
print(json.dumps({"peak": PEAK, "runs": runs}))

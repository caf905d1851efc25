"""Makes adamw.json: 100 steps of AdamW with the operations of torch.optim.AdamW (single tensor,
fp32, CPU) in their order, in numpy float32. Written with Python 3.11 and numpy 2.4.6:
python3 make_adamw.py > adamw.json"""
import json
import math

import numpy as np

f = np.float32
rng = np.random.default_rng(20)
count, steps = 24, 100
beta1, beta2, epsilon, decay = 0.9, 0.999, 1e-8, 0.01
p = rng.normal(size=count).astype(f)
m = np.zeros(count, f)
v = np.zeros(count, f)
start = p.copy()
# Magnitudes from 1e-6 to 10, so that epsilon matters for some and not for others; one stays zero.
size = np.logspace(-6, 1, count)
gradients, rates, kept = [], [], {}
for t in range(1, steps + 1):
    g = (rng.normal(size=count) * size).astype(f)
    g[5] = 0
    rate = 1e-2 * (1 if t < 50 else 0.3)
    gradients.append([float(x) for x in g])
    rates.append(rate)
    p = p * f(1 - rate * decay)
    m = m + f(1 - beta1) * (g - m)
    v = v * f(beta2) + f(1 - beta2) * g * g
    denominator = np.sqrt(v) / f(math.sqrt(1 - beta2**t)) + f(epsilon)
    p = p + f(-(rate / (1 - beta1**t))) * m / denominator
    assert p.dtype == m.dtype == v.dtype == f
    if t in (1, 2, 10, 50, 100):
        kept[str(t)] = [float(x) for x in p]
print(json.dumps({
    "beta1": beta1, "beta2": beta2, "epsilon": epsilon, "weightDecay": decay,
    "start": [float(x) for x in start], "rates": rates, "gradients": gradients,
    "parameters": kept, "averages": [float(x) for x in m],
    "squareAverages": [float(x) for x in v],
}))

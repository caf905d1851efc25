"""Makes outer.json: six rounds of two logical workers' changes, coded as bf16 with error feedback,
averaged, coded again, and applied as torch.optim.SGD(lr, momentum, nesterov=True) applies a gradient
of the other sign; in numpy float32. Written with Python 3.11 and numpy 2.4.6:
python3 make_outer.py > outer.json"""
import json

import numpy as np

f = np.float32
rng = np.random.default_rng(24)
count, rounds, workers, rate, momentum = 24, 6, 2, 0.7, 0.9


def bf16(x):
    bits = x.view(np.uint32).astype(np.uint64)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000).astype(np.uint32).view(f)


def coded(change, lost):
    wanted = change + lost
    sent = bf16(wanted)
    return sent, wanted - sent


p = rng.normal(size=count).astype(f)
u = np.zeros(count, f)
lost = [np.zeros(count, f) for _ in range(workers + 1)]
size = np.logspace(-6, 0, count)
start, changes, kept = p.copy(), [], []
for _ in range(rounds):
    own = [(rng.normal(size=count) * size).astype(f) for _ in range(workers)]
    changes.append([[float(x) for x in change] for change in own])
    total = np.zeros(count, f)
    for k in range(workers):
        sent, lost[k] = coded(own[k], lost[k])
        total = sent if k == 0 else total + sent
    average, lost[workers] = coded(total / f(workers), lost[workers])
    # PyTorch with g = -average: buf = momentum buf + g; p -= lr (g + momentum buf).
    u = f(momentum) * u + average
    p = p + f(rate) * (average + f(momentum) * u)
    assert p.dtype == u.dtype == lost[0].dtype == f
    kept.append([float(x) for x in p])
print(json.dumps({
    "rate": rate, "momentum": momentum, "start": [float(x) for x in start], "changes": changes,
    "parameters": kept, "momenta": [float(x) for x in u],
    "lost": [[float(x) for x in e] for e in lost],
}))

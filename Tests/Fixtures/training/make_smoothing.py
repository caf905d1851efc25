"""Makes smoothing.json: cross-entropy with label smoothing, and its gradient, by PyTorch in float64.
Written with Python 3.11 and torch 2.15.0: python3 make_smoothing.py > smoothing.json"""
import json

import torch

torch.manual_seed(11)
cases = []
for vocabulary, smoothing, cap in [(37, 0.1, None), (64, 0.3, None), (9, 0.9, None), (37, 0.1, 4.0), (50, 0.5, 30.0)]:
    logits = (torch.randn(vocabulary) * 5).double().requires_grad_()
    target = int(torch.randint(vocabulary, (1,)))
    capped = logits if cap is None else cap * torch.tanh(logits / cap)
    loss = torch.nn.CrossEntropyLoss(label_smoothing=smoothing)(capped[None], torch.tensor([target]))
    loss.backward()
    cases.append({
        "smoothing": smoothing, "softCap": cap, "target": target, "logits": logits.tolist(), "loss": loss.item(),
        "gradient": logits.grad.tolist()})
print(json.dumps(cases))

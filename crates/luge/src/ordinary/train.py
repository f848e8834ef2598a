"""Trains net.safetensors with stock PyTorch: Linear, ReLU, SGD, every weight, one fresh sample a step."""

import json
import sys

import torch
from safetensors.torch import load_file

config = json.load(open("config.json"))
device = "cuda" if torch.cuda.is_available() else "cpu"
torch.set_default_device(device)
torch.set_default_dtype(getattr(torch, config["dtype"]))
widths, state = config["widths"], load_file("net.safetensors", device=device)
layers = [torch.nn.Linear(n, m) for n, m in zip(widths, widths[1:])]
net = torch.nn.Sequential(*[part for layer in layers for part in (layer, torch.nn.ReLU())][:-1])
if config["sparse"]:
    for i, layer in enumerate(layers):
        weight = torch.zeros_like(layer.weight).flatten()
        weight[state.pop(f"{2 * i}.weight.places")] = state.pop(f"{2 * i}.weight.values")
        state[f"{2 * i}.weight"] = weight.view_as(layer.weight)
net.load_state_dict(state)
sgd = torch.optim.SGD(net.parameters(), lr=config["lr"])

bits, steps = widths[0], int(sys.argv[1]) if len(sys.argv) > 1 else 2 * widths[0] + 24
hidden = torch.randperm(bits)[: bits // 2]  # The bits that the parity counts: nobody tells the network.
draw = lambda n: 2.0 * torch.randint(2, (n, bits)).to(torch.get_default_dtype()) - 1.0
label = lambda x: 1.0 - 2.0 * ((x[:, hidden] > 0).sum(1) % 2 == 0)
for step in range(steps):
    x = draw(1)
    loss = (net(x)[:, 0] - label(x)).square().sum() / 2
    sgd.zero_grad()
    loss.backward()
    sgd.step()
with torch.no_grad():
    x = draw(10_000)
    right = (torch.cat([net(part)[:, 0] for part in x.split(1_000)]).sign() == label(x)).sum().item()
print(f"{sum(p.numel() for p in net.parameters()):,} weights, {steps} steps of SGD, loss {loss.item():g}")
print(f"{right:,} of 10,000 new inputs right")

"""Trains net.safetensors with stock PyTorch: Linear, ReLU, SGD, every weight, one sample a step."""

import json
import sys
import time

import torch
from safetensors.torch import load_file

began = time.perf_counter()
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

if config["hold"]:  # Rows of a table: each passes for so many steps, and after the last comes the first again.
    rows, steps = load_file("data.safetensors", device=device), config["steps"] + 20
    row = lambda step: step // config["hold"] % len(rows["x"])
    sample = lambda step: (rows["x"][row(step) : row(step) + 1], rows["y"][row(step) : row(step) + 1])
    new = rows["x"], rows["y"]
else:  # A parity, and a fresh sample at every step.
    bits, steps, (low, high) = widths[0], 2 * config["steps"] + 4, config["levels"]
    hidden = torch.randperm(bits)[: config["hidden"]]  # The bits that it counts: nobody tells the network.
    draw = lambda n: low + (high - low) * torch.randint(2, (n, bits)).to(torch.get_default_dtype())
    label = lambda x: low + (high - low) * ((x[:, hidden] > 0).sum(1, keepdim=True) % 2 == 1)
    sample = lambda step: (lambda x: (x, label(x)))(draw(1))
    new = (lambda x: (x, label(x)))(draw(10_000))

steps = int(sys.argv[1]) if len(sys.argv) > 1 else steps
for step in range(steps):
    x, y = sample(step)
    loss = (net(x) - y).square().sum() / 2
    sgd.zero_grad()
    loss.backward()
    sgd.step()

trained = time.perf_counter()
print(f"{sum(p.numel() for p in net.parameters()):,} weights, {steps} steps of SGD, loss {loss.item():g}")
if config["theta"]:  # What was learned, in the biases of the second layer: words of bits, the sign last.
    memory = (net[2].bias / config["memory_scale"] - 1 > 0.5).tolist()
    number = lambda word: sum((1 << i) * memory[bit] for i, bit in enumerate(word)) - (memory[word[-1]] << len(word))
    print("learned theta", *[f"{number(word) / 2 ** config['fraction']:g}" for word in config["theta"]])
if config["output"]:
    with torch.no_grad():
        found = torch.cat([net(part) for part in new[0].split(1_000)])
    if config["threshold"] is None:
        print(f"mean squared error {(found - new[1]).square().sum().item() / len(new[1]):g}")
    else:
        if widths[-1] > 1:  # Of several labels the largest is the class.
            right = (found.argmax(1) == new[1].argmax(1)).sum().item()
        else:
            right = ((found > config["threshold"]) == (new[1] > config["threshold"])).sum().item()
        print(f"{right:,} of {len(new[1]):,} {'rows' if config['hold'] else 'new inputs'} right")
print(f"{trained - began:.1f} seconds, the import of torch not counted")

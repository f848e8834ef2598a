"""README's first command by PyTorch: the perceptron on Iris, every step by autograd, captured on a GPU.

    python python/benches/torch_whole_run.py [--device cuda] [--landscape plain] [--dtype float32] [--fused] [--most-steps N]

Prints one line of JSON; the exit status is 1 if steps, path or theta are not those of ``luge.train``. A run that ``--most-steps`` cuts
short is not compared.
"""

import argparse
import json
import sys

import torch

import luge
import luge.torch

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--learner", default="perceptron")
parser.add_argument("--landscape")
parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
parser.add_argument("--dtype", choices=["float64", "float32"], default="float64")
parser.add_argument("--fused", action="store_true")
parser.add_argument("--most-steps", type=int, default=2**62)
options = parser.parse_args()

training = luge.train(options.learner, landscape=options.landscape)
x, y, *_ = luge.dataset(options.learner)
net = luge.torch.module(training.model, dtype=getattr(torch, options.dtype)).to(options.device)
run = luge.torch.train(net, x, y, fused=options.fused, most_steps=options.most_steps)
whole = run["steps"] < options.most_steps
# What was cut short ends elsewhere.
same = (run["steps"], run["path"], run["theta"].tolist()) == (training.steps, training.path, training.theta.tolist()) if whole else None
device = torch.cuda.get_device_name() if net.device.type == "cuda" else "cpu"
print(json.dumps({
    "learner": options.learner, "landscape": training.landscape, "device": device, "torch": torch.__version__, "dtype": options.dtype, "fused": options.fused,
    "stopped": run["stopped"], "steps": run["steps"], "path": run["path"], "theta": run["theta"].tolist(), "whole": whole, "same": same,
    "seconds": round(run["wall_s"], 2), "steps_per_second": round(run["steps_per_second"]),
}))  # fmt: skip
sys.exit(1 if same is False else 0)

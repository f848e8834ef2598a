"""Trains an exported MLP with numpy: layers, ReLUs, squared loss, a reverse pass of a dozen lines, every weight updated.

Usage: ordinary.py FOLDER VENV [script]. FOLDER is what `luge stream parity_circuit --landscape mlp --torch FOLDER` wrote. Knows the safetensors format and
nothing of Luge. Without numpy it makes the virtual environment VENV and starts over inside it. Prints one JSON object; the exit status is 1 unless all new inputs are right.
With `script` it runs the folder's own train.py instead, in PyTorch where that is installed and else with the stand-in beside this file.
"""

import importlib.util
import json
import os
import runpy
import struct
import subprocess
import sys
import venv
from pathlib import Path

try:
    import numpy as np
except ImportError:
    directory = Path(sys.argv[2])
    python = directory / "bin" / "python"
    if not python.exists() or subprocess.run([python, "-c", "import numpy"], capture_output=True).returncode:
        venv.create(directory, with_pip=True, clear=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", "numpy<3"], check=True, stdout=sys.stderr)
    os.execv(python, [python, *sys.argv])


def load(path):
    data = path.read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    header, body = json.loads(data[8 : 8 + length]), data[8 + length :]
    kinds = {"F64": np.float64, "F32": np.float32, "I64": np.int64}
    return {
        name: np.frombuffer(body[slice(*at["data_offsets"])], kinds[at["dtype"]]).reshape(at["shape"]).copy()
        for name, at in header.items()
        if name != "__metadata__"
    }


def layers(folder):
    config, state = json.loads((folder / "config.json").read_text()), load(folder / "net.safetensors")
    dtype, widths = np.dtype(config["dtype"]).type, config["widths"]
    weights = []
    for i, (n, m) in enumerate(zip(widths, widths[1:])):
        if config["sparse"]:
            weight = np.zeros(m * n, dtype)
            weight[state[f"{2 * i}.weight.places"]] = state[f"{2 * i}.weight.values"]
            weights.append((weight.reshape(m, n), state[f"{2 * i}.bias"]))
        else:
            weights.append((state[f"{2 * i}.weight"], state[f"{2 * i}.bias"]))
    return weights, dtype(config["lr"]), dtype


def forward(net, x):
    values, sums = [x], []
    for weight, bias in net:
        sums.append(weight @ values[-1] + bias)
        values.append(np.maximum(sums[-1], 0))
    return values, sums


def step(net, x, y, lr):
    values, sums = forward(net, x)
    gradient = sums[-1] - y
    for i in reversed(range(len(net))):
        weight, bias = net[i]
        below = weight.T @ gradient
        weight -= lr * np.outer(gradient, values[i])
        bias -= lr * gradient
        gradient = below * (sums[i - 1] > 0) if i else below


def main():
    net, lr, dtype = layers(Path(sys.argv[1]))
    bits = net[0][0].shape[1]
    rng = np.random.default_rng(1)
    hidden = rng.permutation(bits)[: bits // 2]

    def draw():
        x = 2 * rng.integers(0, 2, bits).astype(dtype) - 1
        return x, dtype(1 if (x[hidden] > 0).sum() % 2 else -1)

    before = [(weight.copy(), bias.copy()) for weight, bias in net]
    steps = 4 * bits
    for _ in range(steps):
        step(net, *draw(), lr)
    samples = [draw() for _ in range(200)]
    right = sum(bool(abs(forward(net, x)[1][-1][0] - y) < 1e-3) for x, y in samples)
    moved = sum(int((a != b).sum()) for old, new in zip(before, net) for a, b in zip(old, new))
    print(json.dumps({"steps": steps, "right": right, "new": len(samples), "moved": moved}))
    sys.exit(0 if right == len(samples) else 1)


def script(folder):
    if not importlib.util.find_spec("torch"):
        sys.path.insert(0, str(Path(__file__).resolve().parent / "stand_in"))
    os.chdir(folder)
    sys.argv = ["train.py"]
    runpy.run_path("train.py", run_name="__main__")


if __name__ == "__main__":
    script(sys.argv[1]) if sys.argv[3:] == ["script"] else main()

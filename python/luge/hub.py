"""Models as folders in the layout of model hubs: README.md, config.json and model.safetensors."""

from __future__ import annotations

import json
import os
from pathlib import Path

from . import _luge, display
from .errors import LugeError
from .results import Model

#: The file with the weights; it is a whole model and can be loaded alone.
WEIGHTS = "model.safetensors"


def save(model: Model, folder: str | os.PathLike[str], *, title: str | None = None, force: bool = False) -> Path:
    """Writes a model into a folder; over files that are there only with ``force``."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    card = model.card
    config = {
        "model_type": "luge", "architectures": ["luge"], "version": card["version"], "primary": card["primary"], "features": card["features"],
        "labels": card["labels"], "n_samples": card["n_samples"], "theta": model.theta.tolist(), "steps": card["steps"],
        "machine_steps": card["machine_steps"], "train_loss": card["train_loss"], "machine_sha256": card["machine_sha256"],
        "data_sha256": card["data_sha256"], "options": card["options"],
    }  # fmt: skip
    contents = {
        WEIGHTS: model.to_bytes(),
        "config.json": (json.dumps(config, indent=2) + "\n").encode(),
        "README.md": readme(model, title or folder.name).encode(),
    }
    _luge.write_files([(str(folder / name), content) for name, content in contents.items()], force)
    return folder


def load(folder: str | os.PathLike[str]) -> Model:
    """Reads a model from a folder; its config must be that of its weights."""
    folder = Path(folder)
    model = Model.load(folder / WEIGHTS)
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    for name in ("primary", "features", "labels", "machine_sha256", "data_sha256", "options"):
        if config.get(name) != model.card[name]:
            raise LugeError(f"{folder}: config.json and {WEIGHTS} differ in {name}")
    return model


def readme(model: Model, title: str) -> str:
    """The model's card."""
    card = model.card
    claims = "\n".join(f"| {name.replace('_', ' ')} | {display.shown(claim)} |" for name, claim in card["certificate"].items())
    return f"""---
library_name: luge
tags: [turing-machine, gradient-descent]
---

# {title}

{card["primary"]} network of {len(card["features"])} features ({", ".join(card["features"])}) to {", ".join(card["labels"])}, theta
{display.numbers(model.theta, 24)}. Its weights were found by a learner that {card["steps"]:,} steps of gradient descent on {card["n_samples"]} samples have
run, on landscape {card["options"]["landscape"]} with numbers as {card["options"]["format"]}.

```python
import luge

model = luge.hub.load(".")
model.predict(x)
model.certify(x_train, y_train)  # derives everything again, and trains again
```

| claim | |
|---|---|
{claims}
"""

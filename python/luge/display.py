"""How results look in a notebook: cards, curves, pictures."""

from __future__ import annotations

import base64
import os
from collections.abc import Iterable
from html import escape
from typing import TYPE_CHECKING, Any

from . import _luge

if TYPE_CHECKING:
    from .results import Model


class Svg(str):
    """A drawing, as text."""

    def __repr__(self) -> str:
        return f"<drawing of {len(self):,} characters>"

    def _repr_svg_(self) -> str:
        return str(self)

    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Writes the drawing to a file; over another one only with ``force``."""
        _luge.write_files([(os.fspath(path), self.encode())], force)


class Png(bytes):
    """A picture, as the bytes of its file."""

    def __repr__(self) -> str:
        return f"<picture of {len(self):,} bytes>"

    def _repr_png_(self) -> bytes:
        return bytes(self)

    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Writes the picture to a file; over another one only with ``force``."""
        _luge.write_files([(os.fspath(path), self)], force)

    def html(self) -> str:
        """The picture inside a page."""
        return f'<img src="data:image/png;base64,{base64.b64encode(self).decode()}"/>'


def numbers(values: Iterable[float], most: int = 6) -> str:
    """The first numbers of a list, and the number of the others."""
    values = list(values)
    shown = " ".join(f"{value:g}" for value in values[:most])
    return shown if len(values) <= most else f"{shown} … ({len(values) - most} more)"


def shown(value: Any) -> str:
    """A figure of a summary in readable form."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, dict) and value.keys() == {"holds", "figures"}:
        return f"{'yes' if value['holds'] else 'NO'}: {value['figures']}"
    if isinstance(value, dict):
        return ", ".join(f"{name} {shown(part)}" for name, part in value.items() if part is not None)
    if isinstance(value, list):
        text = ", ".join(shown(part) for part in value[:8])
        return text if len(value) <= 8 else f"{text}, … ({len(value) - 8} more)"
    return value if isinstance(value, str) else f"{value:g}"


def rows(summary: dict[str, Any]) -> Iterable[tuple[str, str]]:
    """Names and figures; a certificate takes a row per claim."""
    for name, value in summary.items():
        if name == "certificate":
            yield from ((f"certificate: {claim}", shown(part)) for claim, part in value.items())
        elif value is not None:
            text = shown(value)
            yield name, text if len(text) <= 200 else text[:200] + "…"


def card(title: str, summary: dict[str, Any]) -> str:
    """A table of figures."""
    lines = "".join(
        f"<tr><th style='text-align:left'>{escape(name.replace('_', ' '))}</th><td style='text-align:left'>{escape(text)}</td></tr>"
        for name, text in rows(summary)
    )
    return f"<table><caption><b>{escape(title)}</b></caption>{lines}</table>"


def answer(found: dict[str, Any]) -> str:
    """The result of training, as the lab's page shows it: what was learned, how well it fits, what was proved."""
    learned = found["learned"]
    fits = [("before training", learned["before"]), ("after training", learned["after"])]
    cell = "<td style='text-align:left'>{}</td>".format
    loss = "{:,.6g}".format
    row = lambda name, fit: f"<tr>{cell(name)}{cell(_fit(fit, learned['rows']))}{cell(loss(fit['loss']))}</tr>"
    claims = "".join(
        f"<li title='{escape(claim['figures'], quote=True)}'>{'✓' if claim['holds'] else '✗ NOT SO:'} {escape(claim['meaning'])}</li>"
        for claim in found["claims"]
    )
    overflow = next((claim["figures"] for claim in found["claims"] if claim["name"] == "no overflow"), None)
    warning = f"<p style='color:#b00'><b>Overflow:</b> {escape(overflow)}</p>" if overflow else ""
    remark = f"<p><i>{escape(learned['remark'])}</i></p>" if learned["remark"] else ""
    return (
        f"<p><b>{escape(learned['formula'])}</b></p>"
        f"<table><tr>{cell('the network')}{cell('fits')}{cell('squared loss')}</tr>{''.join(row(*fit) for fit in fits)}</table>{remark}"
        f"<p><b>{'Certified' if found['certified'] else 'NOT certified'}</b> {escape(found['verdict'].split(': ', 1)[-1])}</p>{warning}"
        f"<ul style='list-style:none;padding-left:0'>{claims}</ul>"
    )


def _fit(fit: dict[str, Any], rows: int) -> str:
    return f"error {fit['error']:.4g}" if fit["right"] is None else f"{fit['right']:,} of {rows:,} rows right"


#: Where the parts of Figure 1 stand: the middle of each box.
PLACES = {
    "x": (60, 60), "z": (60, 190), "tape": (200, 125), "machine": (200, 290), "landscape": (350, 290), "carrier": (350, 190),
    "theta": (350, 60), "primary": (490, 60), "phi": (580, 130), "psi": (670, 190), "y": (670, 290), "loss": (770, 190),
}
#: Its arrows; those that are cut carry no gradient.
ARROWS = [
    ("x", "tape", False), ("z", "tape", True), ("tape", "machine", False), ("machine", "landscape", False), ("landscape", "carrier", False),
    ("z", "carrier", True), ("machine", "theta", True), ("theta", "primary", False), ("x", "primary", False), ("primary", "phi", False),
    ("carrier", "phi", False), ("phi", "psi", False), ("z", "psi", False), ("psi", "loss", False), ("y", "loss", False),
]


def figure_1(model: Model) -> Svg:
    """The network of the paper's Figure 1 around a model's learner."""
    card, options, weights = model.card, model.card["options"], model.weights
    sizes = {name: "×".join(str(side) for side in block.shape) for name, block in weights.items()}
    n, features = card["n_samples"], len(card["features"])
    n_machine = sum(block.size for name, block in weights.items() if name != "z")
    parts = {
        "x": ("x", f"{n} × {features}"), "z": ("z", f"{sizes.get('z', '')} weights"), "tape": ("tape", f"bits, {options['format']}"),
        "machine": ("s, T, H", f"{n_machine:,} weights"), "landscape": ("ℓ", options["landscape"]), "carrier": ("carrier", options["carrier"]),
        "theta": ("θ", numbers(model.theta, 2)), "primary": ("f_θ(x)", card["primary"]), "phi": ("φ", "switch"), "psi": ("ψ", "switch"),
        "y": ("y", f"{n} × {len(card['labels'])}"), "loss": ("loss", f"{card['train_loss']:g}"),
    }
    return Svg(
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 840 340" width="840" font-family="sans-serif" font-size="12">'
        "<title>The network of Figure 1</title>"
        '<defs><marker id="head" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        '<path d="M0 0L8 4L0 8z" fill="#456"/></marker></defs>'
        + "".join(_arrow(*arrow) for arrow in ARROWS)
        + "".join(_box(key, *words) for key, words in parts.items())
        + "</svg>"
    )


def _box(key: str, name: str, value: str) -> str:
    x, y = PLACES[key]
    trained = key in ("z", "machine")
    return (
        f'<rect x="{x - 52}" y="{y - 22}" width="104" height="44" rx="{22 if key in ("phi", "psi") else 8}" '
        f'fill="{"#fff3d6" if trained else "#eef3f8"}" stroke="#456"/>'
        f'<text x="{x}" y="{y - 3}" text-anchor="middle" font-weight="bold">{escape(name)}</text>'
        f'<text x="{x}" y="{y + 14}" text-anchor="middle" fill="#345">{escape(value)}</text>'
    )


def _arrow(start: str, end: str, cut: bool) -> str:
    (x1, y1), (x2, y2) = PLACES[start], PLACES[end]
    # From edge to edge of boxes 104 wide and 44 high.
    reach = min(52 / abs(x2 - x1) if x2 != x1 else 9.0, 22 / abs(y2 - y1) if y2 != y1 else 9.0)
    dx, dy = (x2 - x1) * reach, (y2 - y1) * reach
    dash = ' stroke-dasharray="4 4"' if cut else ""
    if (start, end) == ("x", "primary"):
        return f'<path d="M{x1} {y1 - 22}Q{(x1 + x2) / 2} {y1 - 70} {x2} {y2 - 22}" fill="none" stroke="#456" marker-end="url(#head)"/>'
    return (
        f'<line x1="{x1 + dx:.1f}" y1="{y1 + dy:.1f}" x2="{x2 - dx:.1f}" y2="{y2 - dy:.1f}" stroke="#456"{dash} marker-end="url(#head)"/>'
    )

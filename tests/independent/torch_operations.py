"""What the nodes of an exported graph compute, as PyTorch operations whose derivatives are those of docs/graph-format.md."""

import math
import sys

import torch

REAL = torch.float64
LONG_ROW = 256


def width(form):
    if form["kind"] == "fixed":
        return form["integer_bits"] + form["fraction_bits"]
    return 1 + form["exponent_bits"] + form["mantissa_bits"]


def quantize(form, v):
    """Bits as -1 and 1, lowest first: nearest, ties to even, saturating. Every operation here is exact."""
    v = torch.where(torch.isnan(v), 0.0, v).clamp(-sys.float_info.max, sys.float_info.max).reshape(-1)
    if form["kind"] == "fixed":
        top = 2 ** (width(form) - 1)
        steps = torch.round((v * 2.0 ** form["fraction_bits"]).clamp(-2.0 * top, 2.0 * top)).to(torch.int64)
        if form["negatives"] == "twos-complement":
            codes = steps.clamp(-top, top - 1) & (2 * top - 1)
        else:
            codes = steps.abs().clamp(max=top - 1) + torch.where(steps < 0, top, 0)
    else:
        one, top = 2 ** form["mantissa_bits"], 2 ** (form["exponent_bits"] + form["mantissa_bits"])
        mantissa, exponent = torch.frexp(v.abs())  # in [1/2, 1)
        scaled = mantissa * (2.0 * one)
        below = torch.floor(scaled)
        rest = scaled - below
        code = below.to(torch.int64) + (exponent.to(torch.int64) - 1 + form["bias"] - 1) * one
        code = code + ((rest > 0.5) | ((rest == 0.5) & (code % 2 == 1))).to(torch.int64)
        smallest = 2.0 ** (1 - form["bias"])
        tiny = torch.where(v.abs() * 2.0 > smallest, one, 0)
        code = torch.where(v.abs() < smallest, tiny, code.clamp(max=top - 1))
        codes = code + torch.where((v < 0) & (code != 0), top, 0)
    bits = codes.unsqueeze(1) >> torch.arange(width(form), device=v.device) & 1
    return (2 * bits - 1).to(REAL).reshape(-1)


def dequantize(form, v):
    """Numbers from bits, which are 1 where positive."""
    places = torch.arange(width(form), device=v.device)
    codes = ((v.reshape(-1, width(form)) > 0).to(torch.int64) << places).sum(1)
    if form["kind"] == "fixed":
        top = 2 ** (width(form) - 1)
        negative = codes - 2 * top if form["negatives"] == "twos-complement" else top - codes
        return torch.where(codes >= top, negative, codes).to(REAL) * 2.0 ** -form["fraction_bits"]
    one, top = 2 ** form["mantissa_bits"], 2 ** (form["exponent_bits"] + form["mantissa_bits"])
    exponent = codes % top // one
    power = (exponent - form["bias"] + 1023 << 52).view(REAL)  # the bits of a power of two
    size = torch.where(exponent == 0, 0.0, (one + codes % one).to(REAL) / one * power)
    return torch.where(codes >= top, -size, size)


def gather_plan(rows, columns, weights, n_rows):
    """A sparse matrix as gathers of equally long rows: [(positions, weights)], one after the other.

    Rows longer than LONG_ROW are cut to pieces first. Torch's own sparse matrices are slow here, and its gathers'
    derivatives scatter; the derivative of such a plan is the plan of the transposed matrix.
    """
    order = torch.argsort(rows, stable=True)
    rows, columns, weights = rows[order], columns[order], weights[order]
    counts = torch.bincount(rows, minlength=n_rows)
    most = int(counts.max()) if len(rows) else 1
    place = torch.arange(len(rows)) - (counts.cumsum(0) - counts)[rows]
    cut = most > LONG_ROW
    length = 2 ** math.ceil(math.log2(most) / 2) if cut else most
    pieces = (counts + length - 1) // length if cut else torch.ones(n_rows, dtype=torch.int64)
    piece = (pieces.cumsum(0) - pieces)[rows] + place // length
    positions = torch.zeros(int(pieces.sum()), length, dtype=torch.int64)
    factors = torch.zeros(positions.shape, dtype=REAL)
    positions[piece, place % length], factors[piece, place % length] = columns, weights
    level = [(positions, None if bool((factors == 1.0).all()) else factors)]
    if not cut:
        return level
    owner = torch.repeat_interleave(torch.arange(n_rows), pieces)
    return level + gather_plan(owner, torch.arange(len(owner)), torch.ones(len(owner), dtype=REAL), n_rows)


class Matrix:
    def __init__(self, rows, columns, weights, shape, device):
        there = lambda plan: [(p.to(device), None if w is None else w.to(device)) for p, w in plan]
        self.forward = there(gather_plan(rows, columns, weights, shape[0]))
        self.backward = there(gather_plan(columns, rows, weights, shape[1]))

    @staticmethod
    def apply(plan, v):
        for positions, weights in plan:
            v = v[positions] if weights is None else v[positions] * weights
            v = v.sum(1) if positions.shape[1] > 1 else v.squeeze(1)
        return v


class Linear(torch.autograd.Function):
    @staticmethod
    def forward(ctx, v, matrix):
        ctx.matrix = matrix
        return Matrix.apply(matrix.forward, v)

    @staticmethod
    def backward(ctx, slope):
        return Matrix.apply(ctx.matrix.backward, slope), None


class Root(torch.autograd.Function):
    """No slope from above means no slope below, be the root 0: so a branch not taken is not differentiated."""

    @staticmethod
    def forward(ctx, v):
        root = torch.sqrt(v)
        ctx.save_for_backward(root)
        return root

    @staticmethod
    def backward(ctx, slope):
        (root,) = ctx.saved_tensors
        return torch.where(slope == 0, 0.0, slope / (2.0 * root))


def fold(slope, shape):
    """The sum over what was stretched."""
    stretched = [i for i in (0, 1) if shape[i] == 1 and slope.shape[i] != 1]
    return slope.sum(stretched, keepdim=True) if stretched else slope


class Quotient(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return a / b

    @staticmethod
    def backward(ctx, slope):
        a, b = ctx.saved_tensors
        by_a = torch.where(slope == 0, 0.0, slope / b)
        by_b = torch.where(slope == 0, 0.0, -slope / b * (a / b))
        return fold(by_a, a.shape), fold(by_b, b.shape)


class GuardedProduct(torch.autograd.Function):
    """For factors that may be infinite; others are multiplied by torch."""

    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return a * b

    @staticmethod
    def backward(ctx, slope):
        a, b = ctx.saved_tensors
        by_a, by_b = (torch.where(slope == 0, 0.0, slope * other) for other in (b, a))
        return fold(by_a, a.shape), fold(by_b, b.shape)


class Switch(torch.autograd.Function):
    @staticmethod
    def forward(ctx, open_, on, off):
        ctx.save_for_backward(open_, on, off)
        between = open_ * on + (1.0 - open_) * off
        return torch.where(open_ == 1.0, on, torch.where(open_ == 0.0, off, between))

    @staticmethod
    def backward(ctx, slope):
        open_, on, off = ctx.saved_tensors
        full, shut = open_ == 1.0, open_ == 0.0
        by_on = torch.where(full, slope, torch.where(shut, 0.0, slope * open_))
        by_off = torch.where(shut, slope, torch.where(full, 0.0, slope * (1.0 - open_)))
        by_open = torch.where(full | shut, 0.0, slope * (on - off)).sum().reshape(open_.shape)
        return by_open, by_on, by_off


def shift(by, v):
    by = max(-v.shape[1], min(by, v.shape[1]))
    rest = v[:, : v.shape[1] - by] if by >= 0 else v[:, -by:]
    return torch.nn.functional.pad(rest, (max(by, 0), max(-by, 0)))


def weighted_sum(weights, terms):
    """From left to right; a weight of 1 or -1 is not multiplied."""
    total = None
    for weight, term in zip(weights, terms):
        if weight not in (1.0, -1.0) or (total is None and weight == -1.0):
            term, weight = term * weight, 1.0
        total = term if total is None else total + term if weight == 1.0 else total - term
    return total

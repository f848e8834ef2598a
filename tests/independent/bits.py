"""Numbers as bits, from nothing but the fields of an exported format. Exact: all arithmetic is on fractions."""

from fractions import Fraction
from math import frexp, isnan

import numpy as np


def encode(form, value):
    """The bits of one number, lowest first, as an integer: nearest, ties to even, saturating."""
    value = 0.0 if isnan(value) else min(max(value, -1e300), 1e300)
    if form["kind"] == "fixed":
        top = 2 ** (form["integer_bits"] + form["fraction_bits"] - 1)
        steps = round(Fraction(value) * 2 ** form["fraction_bits"])
        if form["negatives"] == "twos-complement":
            return min(max(steps, -top), top - 1) % (2 * top)
        return min(abs(steps), top - 1) + (top if steps < 0 else 0)
    one, top = 2 ** form["mantissa_bits"], 2 ** (form["exponent_bits"] + form["mantissa_bits"])
    size, smallest = Fraction(abs(value)), Fraction(2) ** (1 - form["bias"])
    if size < smallest:
        code = one if 2 * size > smallest else 0
    else:
        power = frexp(abs(value))[1] - 1
        code = min(round(size / Fraction(2) ** power * one + (power + form["bias"] - 1) * one), top - 1)
    return code + (top if value < 0 and code else 0)


def decode(form, code):
    """The number that an integer's bits stand for."""
    if form["kind"] == "fixed":
        top = 2 ** (form["integer_bits"] + form["fraction_bits"] - 1)
        negative = code - 2 * top if form["negatives"] == "twos-complement" else top - code
        return float(Fraction(negative if code >= top else code, 2 ** form["fraction_bits"]))
    one, top = 2 ** form["mantissa_bits"], 2 ** (form["exponent_bits"] + form["mantissa_bits"])
    exponent, mantissa = divmod(code % top, one)
    size = Fraction(one + mantissa, one) * Fraction(2) ** (exponent - form["bias"]) if exponent else 0
    return float(-size if code >= top else size)


def width(form):
    return sum(form.get(field, 0) for field in ("integer_bits", "fraction_bits")) or (
        1 + form["exponent_bits"] + form["mantissa_bits"])


def quantize(form, numbers):
    codes = [encode(form, float(v)) for v in np.ravel(numbers)]
    return np.array([2.0 * (code >> bit & 1) - 1.0 for code in codes for bit in range(width(form))])


def dequantize(form, signs):
    words = np.ravel(signs).reshape(-1, width(form)) > 0
    return np.array([decode(form, sum(int(bit) << i for i, bit in enumerate(word))) for word in words])

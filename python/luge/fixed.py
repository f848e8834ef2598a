"""Fixed-point numbers that compute as Sled does: what a learner written in Python runs on without any network."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from typing import Any


class Rejected(Exception):
    """The learner rejects its data: an ``assert`` does not hold, or an index lies outside of its array."""


class Fixed:
    """A multiple of 2^-fraction in two's complement with a number of bits before the point; larger numbers wrap around."""

    __slots__ = ("raw", "integer", "fraction")

    def __init__(self, raw: int, integer: int, fraction: int) -> None:
        bits = integer + fraction
        self.raw = ((raw + (1 << (bits - 1))) & ((1 << bits) - 1)) - (1 << (bits - 1))
        self.integer, self.fraction = integer, fraction

    def like(self, raw: int) -> Fixed:
        """Another number of the same type."""
        return Fixed(raw, self.integer, self.fraction)

    def other(self, value: Any) -> int:
        """What a number of the same type, or a literal, counts in steps of this type."""
        if isinstance(value, Fixed):
            if (value.integer, value.fraction) != (self.integer, self.fraction):
                raise TypeError(f"{value!r} and {self!r} have different types: convert one with luge.cast")
            return value.raw
        return literal(value, self.integer, self.fraction).raw

    def __add__(self, value: Any) -> Fixed:
        return self.like(self.raw + self.other(value))

    def __sub__(self, value: Any) -> Fixed:
        return self.like(self.raw - self.other(value))

    def __rsub__(self, value: Any) -> Fixed:
        return self.like(self.other(value) - self.raw)

    def __mul__(self, value: Any) -> Fixed:
        return self.like((self.raw * self.other(value)) >> self.fraction)

    def __truediv__(self, value: Any) -> Fixed:
        return self.like(_quotient(self.raw << self.fraction, self.other(value)))

    def __rtruediv__(self, value: Any) -> Fixed:
        return self.like(_quotient(self.other(value) << self.fraction, self.raw))

    def __mod__(self, value: Any) -> Fixed:
        return self.like(_remainder(self.raw, self.other(value)))

    def __rmod__(self, value: Any) -> Fixed:
        return self.like(_remainder(self.other(value), self.raw))

    def __and__(self, value: Any) -> Fixed:
        return self.like(self.raw & self.other(value))

    def __or__(self, value: Any) -> Fixed:
        return self.like(self.raw | self.other(value))

    def __xor__(self, value: Any) -> Fixed:
        return self.like(self.raw ^ self.other(value))

    __radd__, __rmul__, __rand__, __ror__, __rxor__ = __add__, __mul__, __and__, __or__, __xor__

    def __neg__(self) -> Fixed:
        return self.like(-self.raw)

    def __abs__(self) -> Fixed:
        return self.like(abs(self.raw))

    def __lshift__(self, k: Any) -> Fixed:
        return self.like(self.raw << min(_places(k), 64))

    def __rshift__(self, k: Any) -> Fixed:
        return self.like(self.raw >> min(_places(k), 63))

    def __lt__(self, value: Any) -> bool:
        return self.raw < self.other(value)

    def __le__(self, value: Any) -> bool:
        return self.raw <= self.other(value)

    def __gt__(self, value: Any) -> bool:
        return self.raw > self.other(value)

    def __ge__(self, value: Any) -> bool:
        return self.raw >= self.other(value)

    def __eq__(self, value: object) -> bool:
        return self.raw == self.other(value)

    def __ne__(self, value: object) -> bool:
        return self.raw != self.other(value)

    __hash__ = None  # type: ignore[assignment]

    def __bool__(self) -> bool:
        raise TypeError("a number is no condition: compare it, as in `number != 0`")

    def __index__(self) -> int:
        if self.fraction:
            raise TypeError(f"{self!r} is no index: it has bits after the point")
        return self.raw

    def __float__(self) -> float:
        return self.raw / (1 << self.fraction)

    def __repr__(self) -> str:
        return f"{float(self):g} as fix:{self.integer}.{self.fraction}"


def _quotient(a: int, b: int) -> int:
    """The quotient rounded towards zero; 0 if the divisor is 0."""
    return 0 if b == 0 else abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def _remainder(a: int, b: int) -> int:
    """The remainder of the quotient rounded towards zero; a if the divisor is 0."""
    return a - _quotient(a, b) * b


def _places(k: Any) -> int:
    """How far a number is shifted."""
    if k.__index__() < 0:
        raise Rejected(f"a shift by {k.__index__()}")
    return k.__index__()


def counted(first: Any, last: Any) -> Iterator[Fixed]:
    """``range`` where an end is computed: integers of its type."""
    like = last if isinstance(last, Fixed) else first
    return (like.like(k) for k in range(like.other(first), like.other(last)))


def literal(value: Any, integer: int, fraction: int) -> Fixed:
    """A number of a program's text as one of a type: the nearest, ties to even; one that does not fit is an error."""
    if isinstance(value, float):
        value = Fraction(repr(value))
    raw = round(Fraction(value) * (1 << fraction))
    if not -(1 << (integer + fraction - 1)) <= raw < 1 << (integer + fraction - 1):
        raise OverflowError(f"{value} does not fit fix:{integer}.{fraction}")
    return Fixed(raw, integer, fraction)


class Array:
    """A sequence of numbers, bits or arrays; an index outside of it rejects the data. A slice is a new array."""

    __slots__ = ("items",)

    def __init__(self, items: Iterable[Any]) -> None:
        self.items = list(items)

    def at(self, index: Any) -> int:
        place = index.__index__()
        if not 0 <= place < len(self.items):
            raise Rejected(f"index {place} of an array of {len(self.items)}")
        return place

    def part(self, index: slice) -> slice:
        first, end = (0 if index.start is None else index.start.__index__()), (len(self) if index.stop is None else index.stop.__index__())
        if not 0 <= first <= end <= len(self):
            raise Rejected(f"elements {first} to {end} of an array of {len(self)}")
        return slice(first, end)

    def __getitem__(self, index: Any) -> Any:
        return Array(self.items[self.part(index)]).copy() if isinstance(index, slice) else self.items[self.at(index)]

    def __setitem__(self, index: Any, value: Any) -> None:
        if isinstance(index, slice):
            place = self.part(index)
            if len(value) != place.stop - place.start:
                raise Rejected(f"{len(value)} elements for {place.stop - place.start}")
            self.items[place] = value.copy().items
        else:
            self.items[self.at(index)] = value

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.items)

    def copy(self) -> Array:
        return Array(item.copy() if isinstance(item, Array) else item for item in self.items)

    def __repr__(self) -> str:
        return repr(self.items)


def cast(value: Any, integer: int, fraction: int, *, saturate: bool = False) -> Fixed:
    """``luge.cast``: rounded down to the type's bits after the point, then wrapped, or taken as the nearest number of the type."""
    if isinstance(value, bool):
        value = int(value)
    if not isinstance(value, Fixed):
        return literal(value, integer, fraction)
    raw = value.raw << (fraction - value.fraction) if fraction >= value.fraction else value.raw >> (value.fraction - fraction)
    return _clamped(raw, integer, fraction) if saturate else Fixed(raw, integer, fraction)


def _clamped(raw: int, integer: int, fraction: int) -> Fixed:
    end = 1 << (integer + fraction - 1)
    return Fixed(max(-end, min(raw, end - 1)), integer, fraction)


def saturated(operator: str, a: Any, b: Any) -> Fixed:
    """``luge.saturate(a + b)``: what is too large is the largest number, what is too small the smallest."""
    like = a if isinstance(a, Fixed) else b
    left, right = like.other(a), like.other(b)
    exact: dict[str, Callable[[], int]] = {
        "+": lambda: left + right, "-": lambda: left - right, "*": lambda: (left * right) >> like.fraction,
    }  # fmt: skip
    return _clamped(exact[operator](), like.integer, like.fraction)


def check(condition: bool) -> None:
    """``assert``: rejects the data unless the condition holds."""
    if not condition:
        raise Rejected("an assertion does not hold")

"""As much of PyTorch as `train.py` uses, in numpy: a tape of operations, their derivatives, Linear, ReLU, Sequential and SGD.

Tests run the exported script with it where PyTorch is not installed. Names and meanings are PyTorch's; nothing here knows Luge.
"""

import contextlib
from types import SimpleNamespace

import numpy as np

float32, float64 = np.float32, np.float64
_default = {"dtype": np.float32, "tape": True}
_random = np.random.default_rng(0)


def set_default_device(device):
    pass


def set_default_dtype(dtype):
    _default["dtype"] = dtype


def get_default_dtype():
    return _default["dtype"]


@contextlib.contextmanager
def no_grad():
    _default["tape"] = False
    yield
    _default["tape"] = True


def _fold(slope, shape):
    """The sum over what was broadcast."""
    slope = slope.sum(axis=tuple(range(slope.ndim - len(shape))))
    return slope.sum(axis=tuple(i for i, n in enumerate(shape) if n == 1 and slope.shape[i] != 1), keepdims=True)


class Tensor:
    def __init__(self, data, parents=()):
        self.data, self.grad = np.asarray(data), None
        self.parents = parents if _default["tape"] else ()

    shape = property(lambda self: self.data.shape)

    @staticmethod
    def _of(value):
        if isinstance(value, Tensor):
            return value
        return Tensor(np.asarray(value, _default["dtype"]))

    def _join(self, other, combine, left, right):
        other = Tensor._of(other)
        parents = ((self, lambda s: _fold(left(s, other.data), self.shape)), (other, lambda s: _fold(right(s, self.data), other.shape)))
        a = self.data.astype(_default["dtype"]) if self.data.dtype == bool else self.data
        return Tensor(combine(a, other.data), parents)

    def __add__(self, other):
        return self._join(other, np.add, lambda s, _: s, lambda s, _: s)

    __radd__ = __add__

    def __len__(self):
        return len(self.data)

    def tolist(self):
        return self.data.tolist()

    def __sub__(self, other):
        return self._join(other, np.subtract, lambda s, _: s, lambda s, _: -s)

    def __rsub__(self, other):
        return Tensor._of(other) - self

    def __mul__(self, other):
        return self._join(other, np.multiply, lambda s, b: s * b, lambda s, a: s * a)

    __rmul__ = __mul__

    def __truediv__(self, other):
        return self * (1 / other)

    def __mod__(self, other):
        return Tensor(self.data % other)

    def __eq__(self, other):
        return Tensor(self.data == Tensor._of(other).data)

    def __gt__(self, other):
        return Tensor(self.data > other)

    def __getitem__(self, at):
        at = tuple(i.data if isinstance(i, Tensor) else i for i in at) if isinstance(at, tuple) else at

        def slope(s):
            whole = np.zeros_like(self.data)
            whole[at] = s
            return whole

        return Tensor(self.data[at], ((self, slope),))

    def __setitem__(self, at, value):
        self.data[at.data] = value.data

    def square(self):
        return self * self

    def sum(self, axis=None, keepdim=False):
        return Tensor(self.data.sum(axis=axis, keepdims=keepdim), ((self, lambda s: np.broadcast_to(s, self.shape)),))

    def argmax(self, axis):
        return Tensor(self.data.argmax(axis=axis))

    def relu(self):
        return Tensor(np.maximum(self.data, 0), ((self, lambda s: s * (self.data > 0)),))

    def linear(self, weight, bias):
        ways = ((self, lambda s: s @ weight.data), (weight, lambda s: s.T @ self.data), (bias, lambda s: s.sum(0)))
        return Tensor(self.data @ weight.data.T + bias.data, ways)

    def sign(self):
        return Tensor(np.sign(self.data))

    def to(self, dtype):
        return Tensor(self.data.astype(dtype))

    def item(self):
        return self.data.item()

    def numel(self):
        return self.data.size

    def flatten(self):
        return Tensor(self.data.reshape(-1))

    def view_as(self, other):
        return Tensor(self.data.reshape(other.shape))

    def split(self, n):
        return [Tensor(self.data[i : i + n]) for i in range(0, len(self.data), n)]

    def backward(self):
        order, seen = [], set()

        def visit(tensor):
            if id(tensor) not in seen:
                seen.add(id(tensor))
                for parent, _ in tensor.parents:
                    visit(parent)
                order.append(tensor)

        visit(self)
        slopes = {id(self): np.ones_like(self.data)}
        for tensor in reversed(order):
            slope = slopes.pop(id(tensor))
            if not tensor.parents:
                tensor.grad = slope if tensor.grad is None else tensor.grad + slope
            for parent, way in tensor.parents:
                slopes[id(parent)] = slopes.get(id(parent), 0) + way(slope)


def from_numpy(array):
    return Tensor(array)


def zeros_like(tensor):
    return Tensor(np.zeros_like(tensor.data))


def cat(tensors):
    return Tensor(np.concatenate([tensor.data for tensor in tensors]))


def randint(high, shape):
    return Tensor(_random.integers(high, size=shape))


def randperm(n):
    return Tensor(_random.permutation(n))


class Linear:
    def __init__(self, n_inputs, n_units, dtype=None):
        bound = n_inputs**-0.5
        draw = lambda *shape: Tensor(_random.uniform(-bound, bound, shape).astype(dtype or _default["dtype"]))
        self.weight, self.bias = draw(n_units, n_inputs), draw(n_units)

    def __call__(self, x):
        return x.linear(self.weight, self.bias)


class ReLU:
    def __call__(self, x):
        return x.relu()


class Sequential:
    def __init__(self, *parts):
        self.parts = parts

    def _named(self):
        for i, part in enumerate(self.parts):
            if isinstance(part, Linear):
                yield from ((f"{i}.weight", part.weight), (f"{i}.bias", part.bias))

    def parameters(self):
        return [tensor for _, tensor in self._named()]

    def load_state_dict(self, state):
        named = dict(self._named())
        assert named.keys() == state.keys(), (sorted(named), sorted(state))
        for name, tensor in named.items():
            assert tensor.shape == state[name].shape and tensor.data.dtype == state[name].data.dtype, name
            tensor.data[...] = state[name].data

    def __getitem__(self, at):
        return self.parts[at]

    def __call__(self, x):
        for part in self.parts:
            x = part(x)
        return x


class SGD:
    def __init__(self, parameters, lr):
        self.parameters, self.lr = list(parameters), lr

    def zero_grad(self):
        for tensor in self.parameters:
            tensor.grad = None

    def step(self):
        for tensor in self.parameters:
            tensor.data -= tensor.data.dtype.type(self.lr) * tensor.grad


nn = SimpleNamespace(Linear=Linear, ReLU=ReLU, Sequential=Sequential)
optim = SimpleNamespace(SGD=SGD)
cuda = SimpleNamespace(is_available=lambda: False)

"""From a Python function to Sled, and to Python that runs on fixed-point numbers: both are written side by side, statement by statement."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any, NamedTuple

from . import fixed
from .expressions import LITERAL, OPERATORS, Expressions, Type, Unfit, Value, bare, decimal, mangled


class Translation(NamedTuple):
    """A learner in both languages."""

    sled: str
    #: The origin of each line of the Sled text.
    nodes: dict[int, ast.AST]
    python: str
    name: str
    theta: Type
    #: The kinds of features and labels, if it has any.
    sample: list[str]
    constants: dict[str, Any]

    def run(self, rows: list[Any], sizes: dict[str, int]) -> list[Any]:
        """Runs the function in plain Python on samples, and gives the numbers of theta."""
        names: dict[str, Any] = {**sizes, **self.constants, "_f": fixed, "_store": _store, "_list": _list, "_truth": _truth}
        samples = iter(rows)

        def take() -> Any:
            for sample in samples:
                return sample
            raise fixed.Rejected("no sample is left to take")

        names["_take"] = take
        exec(compile(self.python, f"<{self.name}>", "exec"), names)
        theta = eval(self.theta.zero(), names)
        names[self.name](rows, theta)
        return list(_flat(theta))


def _flat(value: Any) -> Iterator[Any]:
    for item in value:
        yield from _flat(item) if isinstance(item, fixed.Array) else [item]


def _store(value: Any, integer: int, fraction: int) -> fixed.Fixed:
    if isinstance(value, fixed.Fixed):
        if (value.integer, value.fraction) != (integer, fraction):
            raise TypeError(f"{value!r} is no fix:{integer}.{fraction}: convert it with luge.cast")
        return value
    return fixed.literal(value, integer, fraction)


def _truth(value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError(f"{value!r} is no truth value")
    return value


def _list(value: Any, convert: Callable[[Any], Any]) -> fixed.Array:
    return value.copy() if isinstance(value, fixed.Array) else fixed.Array(map(convert, value))


def translate(tree: ast.AST, globals: dict[str, Any], tree_of: Callable[[FunctionType], ast.FunctionDef]) -> Translation:
    """Translates a learner. `globals` has the meanings of names outside of it, `tree_of` returns the text of helper functions."""
    if not isinstance(tree, ast.FunctionDef):
        raise Unfit(tree, "a learner is a function")
    file = _File(globals, tree_of)
    learner = _Function(file, tree)
    arguments = tree.args.args
    if len(arguments) != 2 or tree.args.vararg or tree.args.kwarg or tree.args.kwonlyargs or tree.args.defaults:
        raise Unfit(tree, "a learner has two parameters, its data and its theta", "write `def f(data: luge.samples[X, Y], theta: luge.array[T, n])`")
    learner.signature(arguments[0])
    theta = learner.annotation(arguments[1])
    if theta.kind != "array":
        raise Unfit(arguments[1], "theta is an array", "write `theta: luge.array[luge.fix, luge.M + 1]`")
    learner.define(arguments[1].arg, theta)
    learner.block(tree.body, 1)
    name, weights = mangled(tree.name), mangled(arguments[1].arg)
    names = learner.names or ["x", "y"]
    parameters = ", ".join(f"{part}: {type_.sled()}" for part, type_ in zip(names, learner.sample))
    head = f"learner {name}({parameters}) -> {weights}: {theta.sled()} {{"
    lines = [*file.constants_sled(tree), *file.sled, (head, tree), *learner.sled, ("}", tree)]
    python = "\n".join([*file.python, f"def {name}({mangled(arguments[0].arg)}, {weights}):", *learner.python])
    return Translation(
        "\n".join(line for line, _ in lines) + "\n", {number: node for number, (_, node) in enumerate(lines, 1)}, python, name, theta,
        [type_.kind for type_ in learner.sample], file.constants,
    )  # fmt: skip


class _File:
    """What the learner and its helper functions share."""

    def __init__(self, globals: dict[str, Any], tree_of: Callable[[FunctionType], ast.FunctionDef]) -> None:
        self.globals, self.tree_of = globals, tree_of
        self.sled: list[tuple[str, ast.AST]] = []
        self.python: list[str] = []
        self.constants: dict[str, Any] = {}
        self.functions: dict[FunctionType, tuple[str, list[Type], Type] | None] = {}

    def resolve(self, node: ast.AST) -> Any:
        """The object that a name, perhaps with dots, has outside of the function; ``None`` if there is none."""
        if isinstance(node, ast.Name):
            return self.globals.get(node.id)
        return getattr(self.resolve(node.value), node.attr, None) if isinstance(node, ast.Attribute) else None

    def word(self, node: ast.AST) -> str | None:
        """The name of something of this package: a type, a size, a function."""
        found = self.resolve(node)
        if getattr(type(found), "__module__", None) == "luge.learner" and hasattr(found, "_name"):
            return found._name
        return found.__name__ if getattr(found, "__module__", None) == "luge.learner" and hasattr(found, "__name__") else None

    def constants_sled(self, node: ast.AST) -> list[tuple[str, ast.AST]]:
        return [(f"const {name} = {decimal(value)};", node) for name, value in self.constants.items()]

    def function(self, called: FunctionType, node: ast.AST) -> tuple[str, list[Type], Type]:
        """Translates a helper function at its first call."""
        if called in self.functions:
            known = self.functions[called]
            if known is None:
                raise Unfit(node, f"`{called.__name__}` calls itself, and learners do not recurse")
            return known
        self.functions[called] = None
        tree = self.tree_of(called)
        function = _Function(self, tree)
        types = [function.annotation(argument) for argument in tree.args.args]
        if tree.returns is None:
            raise Unfit(node, f"`{tree.name}` does not say the type of its result", "annotate it: `-> luge.fix`")
        result = function.type(tree.returns)
        for argument, type_ in zip(tree.args.args, types):
            function.define(argument.arg, type_)
            function.fixed.add(argument.arg)
        if not _returns(tree.body):
            raise Unfit(node, f"`{tree.name}` does not end with `return`", "every way through it must end with one")
        function.result = result
        function.block(tree.body, 1)
        name = mangled(tree.name)
        parameters = ", ".join(f"{mangled(a.arg)}: {t.sled()}" for a, t in zip(tree.args.args, types))
        # The nodes of helper functions have lines of their own files: errors point at the call.
        self.sled += [(f"fn {name}({parameters}) -> {result.sled()} {{", node), *((text, node) for text, _ in function.sled), ("}", node)]
        names = [mangled(argument.arg) for argument in tree.args.args]
        self.python += [f"def {name}({', '.join(names)}):", *(f"    {n} = {t.convert(n)}" for n, t in zip(names, types)), *function.python]
        self.functions[called] = (name, types, result)
        return name, types, result


class _Function(Expressions):
    """One function while it is translated: its statements."""

    def block(self, body: list[ast.stmt], depth: int) -> None:
        """Statements; what they declare is known to the end of them."""
        n_lines = len(self.python)
        for statement in body:
            self.statement(statement, depth)
        if len(self.python) == n_lines:
            self.python.append("    " * depth + "pass")

    def inner(self, body: list[ast.stmt], depth: int) -> dict[str, Type]:
        """A block whose variables end with it, unless another block has them as well: what is known at its end."""
        before = dict(self.known)
        self.block(body, depth)
        after, self.known = self.known, before
        return after

    def statement(self, node: ast.stmt, depth: int) -> None:
        handler = getattr(self, f"do_{type(node).__name__.lower()}", None)
        if handler is None:
            self.outside(node)
        handler(node, depth)

    def do_pass(self, node: ast.Pass, depth: int) -> None:
        self.line(depth, "", "pass", node)

    def do_break(self, node: ast.Break, depth: int) -> None:
        self.line(depth, "break;", "break", node)

    def do_continue(self, node: ast.Continue, depth: int) -> None:
        self.line(depth, "continue;", "continue", node)

    def do_return(self, node: ast.Return, depth: int) -> None:
        if self.result is None:
            if node.value is not None:
                self.refuse(node, "a learner returns nothing", "it leaves its answer in theta: write `return` alone")
            return self.line(depth, "return;", "return", node)
        if node.value is None:
            self.refuse(node, "a helper function returns a value")
        value = self.converted(self.expression(node.value), self.result, node)
        self.line(depth, f"return {bare(value.sled)};", f"return {self.result.convert(value.python)}", node)

    def do_expr(self, node: ast.Expr, depth: int) -> None:
        if not (isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)):
            self.refuse(node, "an expression alone does nothing here", "assign it, or leave it out")

    def do_assert(self, node: ast.Assert, depth: int) -> None:
        test = self.condition(node.test)
        self.line(depth, f"assert({bare(test.sled)});", f"_f.check({test.python})", node)

    def do_annassign(self, node: ast.AnnAssign, depth: int) -> None:
        if not isinstance(node.target, ast.Name):
            self.refuse(node, "only names are declared")
        type_ = self.type(node.annotation)
        name = node.target.id
        self.assignable(name, node)
        if name in self.known:
            self.refuse(node, f"`{name}` has a type already", "declare it once, or take another name")
        if node.value is None:
            self.line(depth, f"let {mangled(name)}: {type_.sled()};", f"{mangled(name)} = {type_.zero()}", node)
        else:
            value = self.converted(self.expression(node.value), type_, node.value)
            self.line(depth, f"let {mangled(name)}: {type_.sled()} = {bare(value.sled)};", f"{mangled(name)} = {type_.convert(value.python)}", node)
        self.define(name, type_)

    def assignable(self, name: str, node: ast.AST) -> None:
        if name in self.fixed or name == self.data:
            self.refuse(node, f"`{name}` cannot be assigned to: it is a parameter, a sample or the variable of a loop")

    def do_assign(self, node: ast.Assign, depth: int) -> None:
        if len(node.targets) != 1:
            self.refuse(node, "one assignment at a time", "write `a = …` and `b = …` in lines of their own")
        target = node.targets[0]
        if isinstance(node.value, ast.Call) and self.file.word(node.value.func) == "take":
            return self.take(target, node, depth)
        if isinstance(target, ast.Name) and target.id not in self.known:
            self.assignable(target.id, target)
            value = self.expression(node.value)
            if value.type.kind == "literal":
                self.refuse(target, f"`{target.id}` has no type", f"say it: `{target.id}: luge.int_[16] = …`, or luge.fix")
            self.no_alias(node.value, value.type)
            self.define(target.id, value.type)
            name = mangled(target.id)
            return self.line(depth, f"let {name}: {value.type.sled()} = {bare(value.sled)};", f"{name} = {value.type.convert(value.python)}", node)
        place = self.place(target)
        value = self.converted(self.expression(node.value), place.type, node.value)
        if not (isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Slice)):
            self.no_alias(node.value, place.type)
        self.line(depth, f"{place.sled} = {bare(value.sled)};", f"{place.python} = {place.type.convert(value.python)}", node)

    def no_alias(self, node: ast.AST, type_: Type) -> None:
        """Python would give the same array another name, where Sled copies it."""
        if type_.kind == "array" and isinstance(node, (ast.Name, ast.Subscript)):
            self.refuse(node, "in Python this would be another name for the same array", "write `.copy()` behind it")

    def do_augassign(self, node: ast.AugAssign, depth: int) -> None:
        if type(node.op) not in OPERATORS:
            self.outside(node.op, node)
        place = self.place(node.target)
        load = ast.copy_location(ast.fix_missing_locations(ast.parse(ast.unparse(node.target), mode="eval").body), node.target)
        whole = ast.copy_location(ast.BinOp(left=load, op=node.op, right=node.value), node)
        for part in ast.walk(load):
            ast.copy_location(part, node.target)
        value = self.converted(self.expression(whole), place.type, node)
        sled = f"{place.sled} {OPERATORS[type(node.op)]}= {bare(self.expression(node.value).sled)};"
        self.line(depth, sled, f"{place.python} = {place.type.convert(value.python)}", node)

    def place(self, node: ast.AST) -> Value:
        if isinstance(node, (ast.Tuple, ast.List)):
            self.refuse(node, "several names at once are assigned by luge.take() and loops over the data only")
        base = node
        while isinstance(base, ast.Subscript):
            base = base.value
        if not isinstance(base, ast.Name):
            self.refuse(node, "this cannot be assigned to")
        self.assignable(base.id, node)
        return self.expression(node)

    def sample_names(self, target: ast.AST) -> str:
        """Defines what features and labels are called, and gives the Python that unpacks them."""
        parts = target.elts if isinstance(target, ast.Tuple) else [target]
        names = [part.id for part in parts if isinstance(part, ast.Name)]
        if len(names) != len(self.sample):
            asked = "features and labels" if len(self.sample) == 2 else "features alone"
            self.refuse(target, f"a sample has {asked}", f"write `{'x, y' if len(self.sample) == 2 else 'x'}`")
        for name in names:
            if name in self.known and name not in self.fixed:
                self.refuse(target, f"`{name}` is a variable already")
        called = [mangled(name) for name in names]
        if self.names not in ([], called):
            self.refuse(target, f"samples are called `{', '.join(self.names)}` above", "call them the same everywhere")
        self.names = called
        for name, type_ in zip(names, self.sample):
            self.define(name, type_)
            self.fixed.add(name)
        return f"({', '.join(called)},)"

    def take(self, target: ast.AST, node: ast.AST, depth: int) -> None:
        if self.data is None:
            self.refuse(node, "luge.take() stands in the learner, not in a helper function", "give the helper what it needs as arguments")
        self.line(depth, "take;", f"{self.sample_names(target)} = _take()", node)

    def do_if(self, node: ast.If, depth: int, before: str = "") -> None:
        test = self.condition(node.test)
        both = self.declared_in_both(node, depth)
        for name, type_ in both.items():
            self.line(depth, f"let {mangled(name)}: {type_.sled()};", "", node)
            self.define(name, type_)
        self.line(depth, f"{before}if {bare(test.sled)} {{", f"{'el' if before else ''}if {test.python}:", node)
        self.inner(node.body, depth + 1)
        if len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If) and not self.declared_in_both(node.orelse[0], depth):
            return self.do_if(node.orelse[0], depth, "} else ")
        if node.orelse:
            self.line(depth, "} else {", "else:", node)
            self.inner(node.orelse, depth + 1)
        self.line(depth, "}", "", node)

    def declared_in_both(self, node: ast.If, depth: int) -> dict[str, Type]:
        """Variables that both branches of an ``if`` give their first value: Sled wants them declared before."""
        if not node.orelse:
            return {}
        lines = len(self.sled), len(self.python)
        then, otherwise = self.inner(node.body, depth + 1), self.inner(node.orelse, depth + 1)
        del self.sled[lines[0] :], self.python[lines[1] :]
        new = [name for name in then if name in otherwise and name not in self.known and name not in self.fixed]
        for name in new:
            if then[name] != otherwise[name]:
                self.refuse(node, f"`{name}` is {then[name].words()} in one branch and {otherwise[name].words()} in the other")
        return {name: then[name] for name in new if not any(_declares(part, name) for part in [*node.body, *node.orelse])}

    def do_while(self, node: ast.While, depth: int) -> None:
        if node.orelse:
            self.refuse(node.orelse[0], "`else` of a loop is not in the language of learners")
        test = self.condition(node.test)
        self.line(depth, f"while {bare(test.sled)} {{", f"while {test.python}:", node)
        self.inner(node.body, depth + 1)
        self.line(depth, "}", "", node)

    def do_for(self, node: ast.For, depth: int) -> None:
        if node.orelse:
            self.refuse(node.orelse[0], "`else` of a loop is not in the language of learners")
        if isinstance(node.iter, ast.Name) and node.iter.id == self.data:
            return self.each_sample(node, depth)
        call = node.iter
        if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "range" and not call.keywords):
            self.refuse(node.iter, "loops go over the data or a range", "write `for x, y in data` or `for i in range(n)`")
        if not 1 <= len(call.args) <= 2:
            self.refuse(call, "a range has an end, or a beginning and an end", "count with `while` for other steps")
        if not isinstance(node.target, ast.Name):
            self.refuse(node.target, "the variable of a range is one name")
        bounds = [self.expression(bound) for bound in call.args]
        counter = self.common(bounds, call)
        if counter.fraction not in ("", "0"):
            self.refuse(call, f"{counter.words()} is no end of a range", "an end is a whole number: a constant, a length, or luge.int_[n]")
        first, last = ([Value("0", "0", LITERAL)] + bounds)[-2:]
        name, before = node.target.id, set(self.fixed)
        self.assignable(name, node.target)
        if name in self.known:
            self.refuse(node.target, f"`{name}` is a variable already", "take another name for the loop")
        outside = dict(self.known)
        self.define(name, counter)
        self.fixed.add(name)
        variable = mangled(name)
        rounds = "range" if counter is LITERAL else "_f.counted"
        self.line(depth, f"for {variable} in {bare(first.sled)}..{bare(last.sled)} {{", f"for {variable} in {rounds}({first.python}, {last.python}):", node)
        self.inner(node.body, depth + 1)
        self.line(depth, "}", "", node)
        self.known, self.fixed = outside, before

    def each_sample(self, node: ast.For, depth: int) -> None:
        if self.takes:
            self.refuse(node, "samples are taken or looped over, not both", "write either `x, y = luge.take()` or `for x, y in data`")
        if self.in_data:
            self.refuse(node, "a loop over the data inside of another is not in the language of learners")
        outside, before = dict(self.known), set(self.fixed)
        names = self.sample_names(node.target)
        self.in_data = True
        self.line(depth, "for sample in data {", f"for {names} in {mangled(self.data or '')}:", node)
        self.inner(node.body, depth + 1)
        self.line(depth, "}", "", node)
        self.in_data, self.known, self.fixed = False, outside, before


def _returns(body: list[ast.stmt]) -> bool:
    """Whether every way through a block ends with ``return``."""
    last = body[-1]
    return isinstance(last, ast.Return) or (isinstance(last, ast.If) and bool(last.orelse) and _returns(last.body) and _returns(last.orelse))


def _declares(node: ast.AST, name: str) -> bool:
    """Whether a branch declares a name with its type, so that it ends with the branch."""
    return any(isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name) and part.target.id == name for part in ast.walk(node))

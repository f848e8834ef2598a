"""Types and expressions of learners written in Python, in Sled and in Python that runs on fixed-point numbers."""

from __future__ import annotations

import ast
from decimal import Decimal
from fractions import Fraction
from types import FunctionType
from typing import Any, NamedTuple, NoReturn


class Unfit(Exception):
    """Something that is not in the subset, and where it stands."""

    def __init__(self, node: ast.AST, message: str, help: str | None = None) -> None:
        super().__init__(message)
        self.node, self.help = node, help


class Type(NamedTuple):
    """A type of both languages; sizes are expressions in I, F, M and L. A literal takes the type of what it meets."""

    kind: str
    integer: str = ""
    fraction: str = ""
    element: Any = None

    def sled(self) -> str:
        if self.kind == "fix":
            return f"fix<{self.integer},{self.fraction}>"
        return f"[{self.element.sled()}; {self.integer}]" if self.kind == "array" else self.kind

    def convert(self, value: str) -> str:
        """Python code that converts a value of this type, or a literal, to this type."""
        if self.kind == "fix":
            return f"_store({value}, {self.integer}, {self.fraction})"
        return f"_list({value}, lambda _e: {self.element.convert('_e')})" if self.kind == "array" else f"_truth({value})"

    def zero(self) -> str:
        if self.kind == "array":
            return f"_f.Array({self.element.zero()} for _ in range({self.integer}))"
        return "False" if self.kind == "bit" else f"_f.Fixed(0, {self.integer}, {self.fraction})"

    def words(self) -> str:
        return {"bit": "a truth value", "literal": "a number without a type"}.get(self.kind, self.sled())


BIT, LITERAL = Type("bit"), Type("literal")
DATA = Type("fix", "I", "F")


class Value(NamedTuple):
    """An expression in both languages."""

    sled: str
    python: str
    type: Type


#: Words of Sled, and the names of sizes.
RESERVED = set(
    "I F M L abs as assert bit break const continue data else false fix fn for if in int learner let max min print random reject relu repeat "
    "return sample sign take tape true type unroll while".split()
)
OPERATORS = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Mod: "%", ast.LShift: "<<", ast.RShift: ">>", ast.BitAnd: "&", ast.BitOr: "|",
    ast.BitXor: "^",
}  # fmt: skip
COMPARISONS = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}
#: What people may try, by the name they know.
NAMES = {
    "ListComp": "a comprehension", "GeneratorExp": "a generator expression", "Lambda": "a lambda",
    "Dict": "a dictionary", "Set": "a set", "Tuple": "a tuple", "JoinedStr": "an f-string", "Try": "`try`", "With": "`with`", "Raise": "`raise`",
    "Import": "`import`", "ImportFrom": "`import`", "FunctionDef": "a function inside of a function", "ClassDef": "a class", "Global": "`global`",
    "Nonlocal": "`nonlocal`", "Delete": "`del`", "Match": "`match`", "Yield": "`yield`", "Await": "`await`", "NamedExpr": "`:=`", "FloorDiv": "`//`",
    "Pow": "`**`", "MatMult": "`@`", "Is": "`is`", "IsNot": "`is not`", "In": "`in`", "NotIn": "`not in`", "Starred": "`*`", "AsyncFor": "`async for`",
    "Invert": "`~`",
}  # fmt: skip


def bare(text: str) -> str:
    """A text without parentheses around the whole."""
    depth = 0
    for place, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if depth == 0:
            return text[1:-1] if letter == ")" and place == len(text) - 1 and text[0] == "(" else text
    return text


def mangled(name: str) -> str:
    """A name that is free in both languages."""
    name = f"u{name}" if name.startswith("_") else name
    return f"{name}_" if name in RESERVED or name in ("eval", "range", "len", "lambda") else name


def linear(node: ast.AST) -> dict[str, int] | None:
    """An expression as a sum of multiples of names, ``""`` for 1; ``None`` if it is not one."""
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return {"": node.value}
    if isinstance(node, (ast.Name, ast.Attribute)):
        return {ast.unparse(node): 1}
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub, ast.Mult)):
        a, b = linear(node.left), linear(node.right)
        if a is None or b is None:
            return None
        if isinstance(node.op, ast.Mult):
            a, b = (a, b) if set(b) <= {""} else (b, a)
            return {name: count * b.get("", 0) for name, count in a.items()} if set(b) <= {""} else None
        sign = 1 if isinstance(node.op, ast.Add) else -1
        return {name: a.get(name, 0) + sign * b.get(name, 0) for name in {**a, **b}}
    return None


def decimal(value: Any) -> str:
    return format(Decimal(repr(float(value)) if isinstance(value, Fraction) else repr(value)), "f")


class Expressions:
    """One function while it is translated: its types and expressions."""

    def __init__(self, file: Any, tree: ast.FunctionDef) -> None:
        self.file = file
        self.sled: list[tuple[str, ast.AST]] = []
        self.python: list[str] = []
        #: Variables that have a value here, and their types.
        self.known: dict[str, Type] = {}
        #: Names that cannot be assigned to.
        self.fixed: set[str] = set()
        self.locals = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
        self.locals |= {argument.arg for argument in tree.args.args}
        self.data: str | None = None
        #: The type that a helper function returns; a learner returns nothing.
        self.result: Type | None = None
        #: Whether samples are taken one by one, and not looped over.
        self.takes = any(isinstance(node, ast.Call) and file.word(node.func) == "take" for node in ast.walk(tree))
        self.in_data = False
        #: The types of features and labels; a learner may have no labels.
        self.sample: list[Type] = [DATA, DATA]
        #: What features and labels are called.
        self.names: list[str] = []

    def refuse(self, node: ast.AST, message: str, help: str | None = None) -> NoReturn:
        raise Unfit(node, message, help)

    def outside(self, node: ast.AST, at: ast.AST | None = None) -> NoReturn:
        kind = type(node).__name__
        self.refuse(at or node, f"{NAMES.get(kind, f'`{kind}`')} is not in the language of learners", "see docs/python.md for what is")

    def define(self, name: str, type_: Type) -> None:
        self.known[name] = type_

    def line(self, depth: int, sled: str, python: str, node: ast.AST) -> None:
        if sled:
            self.sled.append(("    " * depth + sled, node))
        if python:
            self.python.append("    " * depth + python)

    # Types.

    def signature(self, argument: ast.arg) -> None:
        note = argument.annotation
        word = self.file.word(note.value) if isinstance(note, ast.Subscript) else None
        if not isinstance(note, ast.Subscript) or word != "samples":
            self.refuse(argument, "the first parameter is the data", "write `data: luge.samples[luge.array[luge.fix, luge.M], luge.fix]`")
        parts = note.slice.elts if isinstance(note.slice, ast.Tuple) else [note.slice]
        if len(parts) > 2:
            self.refuse(argument, "samples have features, and labels or none")
        self.sample = [self.type(part) for part in parts]
        if self.sample[0].kind != "array":
            self.refuse(parts[0], "the features of a sample are an array", "write `luge.array[luge.fix, luge.M]`")
        self.data = argument.arg

    def annotation(self, argument: ast.arg) -> Type:
        if argument.annotation is None:
            self.refuse(argument, f"`{argument.arg}` has no type", f"annotate it: `{argument.arg}: luge.fix`")
        return self.type(argument.annotation)

    def type(self, node: ast.AST) -> Type:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return self.type(ast.copy_location(ast.parse(node.value, mode="eval").body, node))
        base = node.value if isinstance(node, ast.Subscript) else node
        word = self.file.word(base)
        parts = []
        if isinstance(node, ast.Subscript):
            parts = list(node.slice.elts) if isinstance(node.slice, ast.Tuple) else [node.slice]
        if word == "fix" and not parts:
            return DATA
        if word == "fix" and len(parts) == 2:
            return Type("fix", self.size(parts[0]), self.size(parts[1]))
        if word == "int_" and len(parts) == 1:
            return Type("fix", self.size(parts[0]), "0")
        if word == "bit" and not parts:
            return BIT
        if word == "array" and len(parts) == 2:
            return Type("array", self.size(parts[1]), "", self.type(parts[0]))
        self.refuse(node, "this is no type of learners", "types are luge.fix, luge.fix[8, 4], luge.int_[16], luge.bit and luge.array[T, n]")

    def size(self, node: ast.AST) -> str:
        if isinstance(node, ast.Constant) and type(node.value) is int:
            return str(node.value)
        if isinstance(node, ast.BinOp) and type(node.op) in (ast.Add, ast.Sub, ast.Mult):
            left, right = self.size(node.left), self.size(node.right)
            product = isinstance(node.op, ast.Mult)
            group = lambda part: f"({part})" if product and " " in part else part
            right = f"({right})" if isinstance(node.op, ast.Sub) and " " in right else right
            return f"{group(left)} {OPERATORS[type(node.op)]} {group(right)}"
        word = self.file.word(node)
        if word in ("I", "F", "M", "L"):
            return word
        found = self.file.resolve(node)
        if type(found) is int:
            return str(found)
        self.refuse(node, "this is no size", "sizes are whole numbers and luge.I, luge.F, luge.M and luge.L, with + - *")

    def condition(self, node: ast.AST) -> Value:
        value = self.expression(node)
        if value.type.kind != "bit":
            self.refuse(node, f"{value.type.words()} is no condition", "compare it, as in `number != 0`")
        return value

    def converted(self, value: Value, type_: Type, node: ast.AST) -> Value:
        """A value that is stored in a place of a type."""
        if value.type == type_ or (value.type.kind == "literal" and type_.kind == "fix"):
            return value
        if value.type.kind == "list" and type_.kind == "array":
            return value
        self.refuse(node, f"{value.type.words()} where {type_.words()} is wanted", "convert it with luge.cast(T, value)")

    def expression(self, node: ast.AST) -> Value:
        handler = getattr(self, f"of_{type(node).__name__.lower()}", None)
        if handler is None:
            self.outside(node)
        return handler(node)

    def of_constant(self, node: ast.Constant) -> Value:
        if isinstance(node.value, bool):
            return Value("true" if node.value else "false", repr(node.value), BIT)
        if isinstance(node.value, int):
            return Value(str(node.value), str(node.value), LITERAL)
        if isinstance(node.value, float):
            text = decimal(node.value)
            return Value(text, f"_f.Fraction('{text}')", LITERAL)
        self.refuse(node, f"{node.value!r} is no number")

    def of_name(self, node: ast.Name) -> Value:
        if node.id in self.known:
            return Value(mangled(node.id), mangled(node.id), self.known[node.id])
        if node.id in self.locals:
            self.refuse(node, f"`{node.id}` may have no value here", "give it one before, with its type")
        found = self.file.resolve(node)
        if isinstance(found, bool):
            return Value("true" if found else "false", repr(found), BIT)
        if not isinstance(found, (int, float)):
            self.refuse(node, f"`{node.id}` is no variable and no constant number")
        name = mangled(node.id)
        self.file.constants[name] = found if isinstance(found, int) else Fraction(repr(found))
        return Value(name, name, LITERAL)

    def of_list(self, node: ast.List) -> Value:
        values = [self.expression(item) for item in node.elts]
        return Value(f"[{', '.join(v.sled for v in values)}]", f"[{', '.join(v.python for v in values)}]", Type("list"))

    def of_subscript(self, node: ast.Subscript) -> Value:
        array = self.expression(node.value)
        if array.type.kind != "array":
            self.refuse(node, f"{array.type.words()} has no elements")
        if isinstance(node.slice, ast.Tuple):
            self.outside(node.slice)
        if isinstance(node.slice, ast.Slice):
            return self.part(array, node.slice)
        index = self.index(node.slice)
        if index.type.kind not in ("literal", "fix") or index.type.fraction not in ("", "0"):
            self.refuse(node.slice, f"{index.type.words()} is no index", "an index is a whole number: luge.int_[n], or the variable of a loop")
        return Value(f"{array.sled}[{bare(index.sled)}]", f"{array.python}[{index.python}]", array.type.element)

    def index(self, node: ast.AST) -> Value:
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            self.refuse(node, "an index counts from the front")
        return self.expression(node)

    def part(self, array: Value, node: ast.Slice) -> Value:
        """A slice, whose length is a number or a size."""
        if node.step is not None:
            self.refuse(node.step, "a slice takes every element from its beginning to its end")
        zero, whole = ast.Constant(0), ast.parse(array.type.integer, mode="eval").body
        ends = [Value("0", "0", LITERAL) if node.lower is None else self.index(node.lower)]
        ends.append(Value(array.type.integer, f"({array.type.integer})", LITERAL) if node.upper is None else self.index(node.upper))
        first, last = linear(node.lower or zero), linear(node.upper or whole)
        if any(end.type.kind != "literal" for end in ends) or first is None or last is None:
            self.refuse(node, "the ends of a slice are constants or made of variables of loops")
        rest, length = 0, []
        for name in {**last, **first}:
            count = last.get(name, 0) - first.get(name, 0)
            if name in self.known and count:
                self.refuse(node, "the length of a slice is a constant", "write its ends so that the variable of the loop cancels: `x[i : i + 2]`")
            size = name if name in ("I", "F", "M", "L") else self.size(ast.parse(name or "1", mode="eval").body) if count else "0"
            if size.isdigit():
                rest += int(size) * count
            elif count:
                length.append(size if count == 1 else f"{count} * {size}")
        text = " + ".join(length) + (f" - {-rest}" if rest < 0 else f" + {rest}" if rest else "") if length else str(rest)
        sled = f"{array.sled}[{bare(ends[0].sled)}..{bare(ends[1].sled)}]"
        return Value(sled, f"{array.python}[{ends[0].python}:{ends[1].python}]", Type("array", text, "", array.type.element))

    def of_ifexp(self, node: ast.IfExp) -> Value:
        test, a, b = self.condition(node.test), self.expression(node.body), self.expression(node.orelse)
        if a.type.kind in ("bit", "array") and a.type == b.type:
            type_ = a.type
        else:
            type_ = self.common([a, b], node)
        return Value(f"(if {bare(test.sled)} {{ {bare(a.sled)} }} else {{ {bare(b.sled)} }})", f"({a.python} if {test.python} else {b.python})", type_)

    def of_unaryop(self, node: ast.UnaryOp) -> Value:
        value = self.expression(node.operand)
        if isinstance(node.op, ast.Not):
            if value.type.kind != "bit":
                self.refuse(node, f"{value.type.words()} is no condition")
            return Value(f"!{value.sled}" if value.sled.isidentifier() else f"!({value.sled})", f"(not {value.python})", BIT)
        if not isinstance(node.op, ast.USub):
            self.outside(node.op, node)
        self.number(value, node)
        return Value(f"(-{value.sled})", f"(-{value.python})", value.type)

    def number(self, value: Value, node: ast.AST) -> Type:
        if value.type.kind not in ("fix", "literal"):
            self.refuse(node, f"{value.type.words()} where a number is wanted")
        return value.type

    def common(self, values: list[Value], node: ast.AST) -> Type:
        """The type of numbers that meet."""
        types = {self.number(value, node) for value in values} - {LITERAL}
        if len(types) > 1:
            self.refuse(node, f"{' and '.join(sorted(t.words() for t in types))} meet", "convert one with luge.cast(T, value)")
        return types.pop() if types else LITERAL

    def of_binop(self, node: ast.BinOp) -> Value:
        if type(node.op) not in OPERATORS:
            self.outside(node.op, node)
        operator, a, b = OPERATORS[type(node.op)], self.expression(node.left), self.expression(node.right)
        if operator in ("<<", ">>"):
            type_ = self.number(a, node)
            if b.type.kind not in ("literal", "fix") or b.type.fraction not in ("", "0"):
                self.refuse(node.right, f"a shift by {b.type.words()}", "a number is shifted by an integer: a constant, or luge.int_[n]")
            if type_ is LITERAL and b.type is not LITERAL:
                self.refuse(node.left, "this number has no type", "give it one: `one: luge.int_[16] = 1`")
        elif operator in ("&", "|", "^") and a.type.kind == b.type.kind == "bit":
            type_ = BIT
        else:
            type_ = self.common([a, b], node)
        if type_ is LITERAL and operator in ("%", "&", "|", "^"):
            self.refuse(node, "both sides are numbers without a type", "give one a type: `k: luge.int_[16] = …`")
        left = f"_f.Fraction({a.python})" if type_ is LITERAL and operator == "/" else a.python
        return Value(f"({a.sled} {operator} {b.sled})", f"({left} {operator} {b.python})", type_)

    def of_compare(self, node: ast.Compare) -> Value:
        operands = [node.left, *node.comparators]
        values = [self.expression(operand) for operand in operands]
        sled, python = [], []
        for i, op in enumerate(node.ops):
            if type(op) not in COMPARISONS:
                self.outside(op, node)
            a, b, sign = values[i], values[i + 1], COMPARISONS[type(op)]
            if a.type.kind == b.type.kind == "bit" and sign in ("==", "!="):
                pass
            elif self.common([a, b], node) is LITERAL:
                self.refuse(node, "both sides are known beforehand", "compare with a variable")
            sled.append(f"{a.sled} {sign} {b.sled}")
            python.append(f"{a.python} {sign} {b.python}")
        return Value(f"({' && '.join(sled)})", f"({' and '.join(python)})", BIT)

    def of_boolop(self, node: ast.BoolOp) -> Value:
        values = [self.condition(operand) for operand in node.values]
        sled, python = ("&&", "and") if isinstance(node.op, ast.And) else ("||", "or")
        return Value(f"({f' {sled} '.join(v.sled for v in values)})", f"({f' {python} '.join(v.python for v in values)})", BIT)

    def of_call(self, node: ast.Call) -> Value:
        if node.keywords:
            self.refuse(node, "arguments have no names here")
        if isinstance(node.func, ast.Attribute) and node.func.attr == "copy" and not node.args:
            array = self.expression(node.func.value)
            if array.type.kind == "array":
                return Value(array.sled, f"{array.python}.copy()", array.type)
        word = self.file.word(node.func)
        if word in ("cast", "saturate"):
            return self.conversion(word, node)
        if word == "take":
            self.refuse(node, "luge.take() stands alone", "write `x, y = luge.take()` in a line of its own")
        called = self.file.resolve(node.func)
        name = node.func.id if isinstance(node.func, ast.Name) else None
        builtin = name if called is None and name in ("min", "max", "abs", "len") else None
        if builtin == "len":
            return self.length(node)
        if builtin or word in ("relu", "sign"):
            return self.simple(builtin or str(word), node)
        if not isinstance(called, FunctionType):
            self.refuse(node, f"`{ast.unparse(node.func)}` is no function of learners", "there are min, max, abs, len, luge.relu, luge.sign, luge.cast, luge.saturate and helper functions")
        function, types, result = self.file.function(called, node)
        if len(types) != len(node.args):
            self.refuse(node, f"`{function}` takes {len(types)} arguments, and {len(node.args)} are given")
        values = [self.converted(self.expression(argument), type_, argument) for argument, type_ in zip(node.args, types)]
        return Value(f"{function}({', '.join(v.sled for v in values)})", f"{function}({', '.join(v.python for v in values)})", result)

    def length(self, node: ast.Call) -> Value:
        array = self.expression(node.args[0]) if len(node.args) == 1 else None
        if array is None or array.type.kind != "array":
            self.refuse(node, "len is for arrays")
        return Value(f"({array.type.integer})", f"({array.type.integer})", LITERAL)

    def simple(self, word: str, node: ast.Call) -> Value:
        """Functions that both languages have."""
        values = [self.expression(argument) for argument in node.args]
        if len(values) != (1 if word in ("abs", "relu", "sign") else 2):
            self.refuse(node, f"`{word}` takes {'one number' if word in ('abs', 'relu', 'sign') else 'two numbers'} here")
        type_ = self.common(values, node)
        if type_ is LITERAL:
            self.refuse(node, "all of this is known beforehand", "write the number")
        sled = f"{word}({', '.join(v.sled for v in values)})"
        python = {
            "relu": f"max({values[0].python}, 0)", "sign": f"(({values[0].python} > 0) - ({values[0].python} < 0))",
        }.get(word, f"{word}({', '.join(v.python for v in values)})")  # fmt: skip
        return Value(sled, type_.convert(python), type_)

    def conversion(self, word: str, node: ast.Call) -> Value:
        if word == "saturate" and len(node.args) == 1:
            sum_ = node.args[0]
            if not (isinstance(sum_, ast.BinOp) and type(sum_.op) in (ast.Add, ast.Sub, ast.Mult)):
                self.refuse(node, "luge.saturate takes a sum, a difference or a product", "or a type and a value: luge.saturate(T, value)")
            a, b, operator = self.expression(sum_.left), self.expression(sum_.right), OPERATORS[type(sum_.op)]
            type_ = self.common([a, b], node)
            if type_ is LITERAL:
                self.refuse(node, "all of this is known beforehand", "write the number")
            return Value(f"({a.sled} {operator}| {b.sled})", f"_f.saturated('{operator}', {a.python}, {b.python})", type_)
        if len(node.args) != 2:
            self.refuse(node, f"luge.{word} takes a type and a value", f"write `luge.{word}(luge.fix[8, 4], value)`")
        type_, value = self.type(node.args[0]), self.expression(node.args[1])
        if type_.kind != "fix" or value.type.kind not in ("fix", "bit"):
            self.refuse(node, f"{value.type.words()} is not converted to {type_.words()}")
        if word == "saturate" and value.type.kind == "bit":
            self.refuse(node, "a truth value is converted with luge.cast")
        ending = ", saturate=True" if word == "saturate" else ""
        operator = "as|" if word == "saturate" else "as"
        return Value(f"({value.sled} {operator} {type_.sled()})", f"_f.cast({value.python}, {type_.integer}, {type_.fraction}{ending})", type_)

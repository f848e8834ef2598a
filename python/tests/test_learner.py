"""Learners written in Python: the same answer from gradient descent and from plain Python, and errors at Python's places."""

import copy
import linecache
import pickle
import random

import numpy as np
import pytest

import luge
import luge.fixed

ROUNDS = 3
RATE = 0.25
FEATURES = 3


def half(a: luge.fix) -> luge.fix:
    return a >> 1


@luge.learner
def perceptron(data: luge.samples[luge.array[luge.fix, luge.M], luge.fix], theta: luge.array[luge.fix, luge.M + 1]):
    """As learners/perceptron.sled."""
    mistakes: luge.bit = True
    while mistakes:
        mistakes = False
        for x, y in data:
            score = theta[0]
            for i in range(len(x)):
                score += x[i] * theta[i + 1]
            if score <= 0 and y > 0:
                mistakes = True
                theta[0] += 1
                for i in range(len(x)):
                    theta[i + 1] += x[i]
            elif score >= 0 and y < 0:
                mistakes = True
                theta[0] -= 1
                for i in range(len(x)):
                    theta[i + 1] -= x[i]


@luge.learner
def lms(data: luge.samples[luge.array[luge.fix, luge.M], luge.fix], theta: luge.array[luge.fix, luge.M + 1]):
    for _ in range(ROUNDS):
        for x, y in data:
            error = y - theta[0]
            for i in range(len(x)):
                error -= x[i] * theta[i + 1]
            if not -4 < error <= 4:
                step = luge.sign(error)
            else:
                step = half(error) * RATE
            theta[0] = luge.saturate(theta[0] + step)
            for i in range(len(x)):
                theta[i + 1] += x[i] * step


@luge.learner
def adaboost(data: luge.samples[luge.array[luge.fix, luge.M], luge.fix], theta: luge.array[luge.fix, luge.M + 1]):
    """The feature whose sign agrees with the label most often gets a vote, three times."""
    for turn in range(3):
        best: luge.int_[8] = 0
        most: luge.int_[8] = -100
        for i in range(FEATURES):
            right: luge.int_[8] = 0
            for x, y in data:
                score = theta[0]
                for j in range(len(x)):
                    score += theta[j + 1] * luge.sign(x[j])
                if score * y <= 0:
                    right += luge.cast(luge.int_[8], luge.sign(x[i]) * luge.sign(y))
            if right > most:
                most = right
                best = 0
                best += i
        theta[best + 1] += 1


@luge.learner
def winnow(data: luge.samples[luge.array[luge.fix, luge.M], luge.fix], theta: luge.array[luge.fix, luge.M + 1]):
    weights: luge.array[luge.fix[luge.I + 4, luge.F], luge.M]
    for i in range(len(weights)):
        weights[i] = 1
    for x, y in data:
        total: luge.fix[luge.I + 4, luge.F] = 0
        for i in range(len(weights)):
            if x[i] > 0:
                total += weights[i]
        for i in range(len(weights)):
            if x[i] <= 0:
                continue
            if total < 2 and y > 0:
                weights[i] = weights[i] + weights[i]
            if total >= 2 and y < 0:
                weights[i] = weights[i] / 2
    for i in range(len(weights)):
        theta[i + 1] = luge.saturate(luge.fix, weights[i])


def table(seed: int, n: int = 8, m: int = 3) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(seed)
    x = np.round(generator.normal(size=(n, m)) * 4) / 4
    return x, np.where(x @ [1.0, -0.5, 0.25][:m] + 0.125 > 0, 1.0, -1.0)


def expected(learner, x, y, format: str) -> list[float]:
    """What the machine of the translated program leaves, by the simulator."""
    return list(luge.train_job(learner, x, y, format=format)._inner.prepare().expected_theta)


def test_the_translation_is_the_program_that_one_would_write():
    x, y, *_ = luge.dataset("perceptron")
    mine, shipped = luge.train(perceptron, x, y, format="fix:8.4"), luge.train("perceptron", x, y, format="fix:8.4")
    assert mine.theta.tolist() == shipped.theta.tolist() == [1, 1.375, 5.125, -6.875, -3.125]
    assert mine.machine_steps == shipped.machine_steps and mine.certified
    assert perceptron(x, y, format="fix:8.4").tolist() == mine.theta.tolist()


@pytest.mark.parametrize("learner", [lms, adaboost, winnow], ids=lambda learner: learner.__name__)
@pytest.mark.parametrize("seed", range(4))
def test_python_and_gradient_descent_agree(learner, seed):
    x, y = table(seed)
    # Few bits, so that numbers also wrap around.
    for format in ("fix:4.3", "fix:8.6"):
        assert learner(x, y, format=format).tolist() == expected(learner, x, y, format), learner.sled


def random_expression(choose: random.Random, depth: int) -> str:
    if depth == 0:
        return choose.choice(["a", "b", "x[0]", "y", "theta[1]", str(choose.randint(0, 5)), str(choose.randint(0, 12) / 8)])
    inner = lambda: random_expression(choose, depth - 1)
    return choose.choice([
        lambda: f"({inner()} + a)", lambda: f"(b - {inner()})", lambda: f"(y * {inner()})", lambda: f"({inner()} / b)", lambda: f"(-({inner()} + a))",
        lambda: f"min(a, {inner()})", lambda: f"max({inner()}, b)", lambda: f"abs({inner()} - y)", lambda: f"((a + {inner()}) >> {choose.randint(0, 3)})",
        lambda: f"((b - {inner()}) << 1)", lambda: f"luge.saturate(a {choose.choice('+-*')} ({inner()}))", lambda: f"luge.relu({inner()} - a)",
        lambda: f"({inner()} % b)", lambda: f"((a - {inner()}) % 3)", lambda: f"(a & {inner()})", lambda: f"({inner()} | b)", lambda: f"(a ^ {inner()})",
        lambda: f"((a + {inner()}) << k)", lambda: f"((b + {inner()}) >> k)", lambda: f"(a + {inner()} if y < b else b)", lambda: f"pick(theta[0:2], {inner()} + y)",
        lambda: f"luge.cast(luge.fix, luge.cast(luge.fix[6, 2], a + {inner()}))", lambda: f"luge.saturate(luge.fix, luge.cast(luge.fix[9, 5], b - {inner()}))",
    ])()  # fmt: skip


def random_body(choose: random.Random, depth: int, indent: str) -> list[str]:
    lines = []
    for _ in range(choose.randint(1, 3)):
        value = random_expression(choose, choose.randint(1, 3))
        kind = choose.randrange(8) if depth else 0
        test = f"{random_expression(choose, 1)} {choose.choice(['<', '<=', '>', '>=', '==', '!='])} a"
        if kind <= 1:
            target = choose.choice(["a", "b", "theta[0]", "theta[1]"])
            lines.append(f"{indent}{target} {choose.choice(['=', '+=', '-=', '*='])} {value} + y")
        elif kind == 2:
            lines += [f"{indent}if {test} {choose.choice(['and', 'or'])} not (a < b <= y):", *random_body(choose, depth - 1, indent + "    ")]
            lines += [f"{indent}elif {test}:", *random_body(choose, depth - 1, indent + "    "), f"{indent}else:", f"{indent}    b = {value} + a"]
        elif kind == 3:
            lines += [f"{indent}for i{depth} in range({choose.randint(0, 1)}, 3):", *random_body(choose, depth - 1, indent + "    ")]
            lines += [f"{indent}    theta[1] += i{depth}", f"{indent}    if {test}:", f"{indent}        {choose.choice(['break', 'continue'])}"]
        elif kind == 4:
            lines += [f"{indent}n{depth}: luge.int_[4] = 0", f"{indent}while n{depth} < 3 and {test}:", f"{indent}    n{depth} += 1"]
            lines += random_body(choose, 0, indent + "    ")
        elif kind == 5:
            lines += [f"{indent}for i{depth} in range({choose.choice(['', '1, '])}k):", *random_body(choose, depth - 1, indent + "    ")]
            lines += [f"{indent}    theta[1] += luge.cast(luge.fix, i{depth} ^ k)", f"{indent}    k %= 3"]
        elif kind == 6:
            lines += [f"{indent}theta[0:2] = [{value} + a, b]", f"{indent}if {test} and (a < b) ^ (y > 0):", f"{indent}    return"]
        else:
            lines += [f"{indent}if {test}:", f"{indent}    c{depth} = {value} + a", f"{indent}else:", f"{indent}    c{depth} = b", f"{indent}a -= c{depth}"]
    return lines


def written(text: str, name: str):
    """A learner from a text, as if it stood in a file."""
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    names: dict = {"luge": luge, "__name__": "written"}
    exec(compile(text, name, "exec"), names)
    return names["f"]


HELPER = """import luge
def pick(v: luge.array[luge.fix, 2], a: luge.fix) -> luge.fix:
    if a > 1:
        return v[0] % a
    for i in range(2):
        if v[i] > a:
            return v[i] - a
    return a if v[1] < a else v[1] | a

"""
HEAD = "import luge\n@luge.learner\ndef f(data: luge.samples[luge.array[luge.fix, luge.M], luge.fix], theta: luge.array[luge.fix, luge.M + 1]):\n"


@pytest.mark.parametrize("seed", range(40))
def test_random_functions_mean_the_same_in_both_languages(seed):
    choose = random.Random(seed)
    lines = ["    for x, y in data:", "        a = y + theta[0]", "        b = x[0]", "        k = luge.cast(luge.int_[4], a) & 3"]
    # Declarations of one name in one block are refused, so loops and branches nest instead.
    text = HELPER + HEAD + "\n".join([*lines, *random_body(choose, 2, "        "), "        theta[0] = a", "        theta[1] -= b"]) + "\n"
    try:
        learner = written(text, f"<random {seed}>")
    except luge.LugeError as error:
        assert "has a type already" in str(error), text
        return
    x, y = table(seed, 4, 1)
    assert learner(x, y, format="fix:5.3").tolist() == expected(learner, x, y, "fix:5.3"), text + learner.sled


def test_estimators_take_learners_of_python():
    from luge.sklearn import LugeClassifier

    x, y = table(3, 20)
    fitted = LugeClassifier(perceptron).fit(x, y)
    assert fitted.score(x, y) == 1.0 and copy.deepcopy(perceptron) is perceptron and pickle.loads(pickle.dumps(perceptron)) is perceptron


@pytest.mark.parametrize(
    ("body", "message", "place"),
    [
        ("    for x, y in data:\n        theta[0] = x[0] // 2", "`//` is not in the language of learners", (5, 20)),
        ("    for x, y in data:\n        theta[0] = x[0] << y", "a shift by fix<I,F>", (5, 28)),
        ("    for i in range(3):\n        theta[0] = i % 2", "both sides are numbers without a type", (5, 20)),
        ("    for x, y in data:\n        theta[0:1] = x[::2]", "a slice takes every element", (5, 26)),
        ("    for x, y in data:\n        for i in range(y):\n            pass", "is no end of a range", (5, 18)),
        ("    for i in range(2):\n        theta[0:2] = theta[i:2]", "the length of a slice is a constant", (5, 28)),
        ("    a = [i for i in range(3)]", "a comprehension is not in the language of learners", (4, 9)),
        ("    a = 1 if True else 2", "`a` has no type", (4, 5)),
        ("    a = 0", "`a` has no type", (4, 5)),
        ("    theta[0] = sum(theta)", "`sum` is no function of learners", (4, 16)),
        ("    while True:\n        a = theta[0]\n        break\n    theta[1] = a", "`a` may have no value here", (7, 16)),
        ("    for x, y in data:\n        if y:\n            pass", "fix<I,F> is no condition", (5, 12)),
        ("    a: luge.int_[8] = 3\n    theta[0] = a", "fix<8,0> where fix<I,F> is wanted", (5, 16)),
        ("    with open('x') as f:\n        pass", "`with` is not in the language", (4, 5)),
        ("    return theta", "a learner returns nothing", (4, 5)),
        ("    w = theta", "another name for the same array", (4, 9)),
        ("    theta[0] = theta[-1]", "an index counts from the front", (4, 22)),
        ("    for i in range(3):\n        i = 4", "`i` cannot be assigned to", (5, 9)),
    ],
)
def test_what_is_not_in_the_subset_is_refused_by_name(body, message, place):
    with pytest.raises(luge.LugeError, match=message.replace("[", r"\[")) as refused:
        written(HEAD + body + "\n", f"<refused {hash(body)}>")
    finding = refused.value.findings[0]
    assert (finding["line"], finding["column"]) == place


def test_errors_of_the_compiler_point_at_python():
    learner = written(HEAD + "    theta[0] = 1\n    theta[7] = 2\n", "<outside>")
    with pytest.raises(luge.LugeError) as refused:
        luge.train(learner, [[1.0], [2.0]], [1.0, -1.0])
    assert refused.value.name == "<outside>" and refused.value.findings[0]["line"] == 5


def test_fixed_point_numbers():
    number = lambda value: luge.fixed.literal(value, 4, 2)
    assert float(number(7.75) + 0.25) == -8 and float(number(-8)) == float(abs(number(-8)))
    assert float(number(-0.25) * 0.5) == -0.25 and float(number(-1.75) / 2) == -0.75 and float(number(1) / 0) == 0
    assert float(luge.fixed.saturated("+", number(7), 3)) == 7.75
    with pytest.raises(OverflowError):
        number(8)
    with pytest.raises(TypeError, match="no condition"):
        bool(number(1))
    with pytest.raises(luge.fixed.Rejected):
        luge.fixed.Array([number(1)])[number(1) << 2 >> 2 if False else luge.fixed.Fixed(3, 4, 0)]


def test_samples_can_be_taken():
    learner = written(HEAD + "    while theta[0] < 2:\n        x, y = luge.take()\n        theta[0] += y\n        theta[1] = x[0]\n", "<taken>")
    assert "take;" in learner.sled and learner([[1.0], [3.0], [5.0]], [1.0, 1.0, 1.0], format="fix:5.0").tolist() == [2.0, 3.0]
    with pytest.raises(luge.fixed.Rejected):
        learner([[1.0]], [1.0], format="fix:5.0")
    with pytest.raises(luge.LugeError, match="not both"):
        written(HEAD + "    x, y = luge.take()\n    for x, y in data:\n        theta[0] = y\n", "<both>")


def test_names_have_no_meaning_outside():
    with pytest.raises(luge.LugeError, match="inside of a learner only"):
        luge.cast(luge.fix, 3)


@luge.learner
def mean_square(data: luge.samples[luge.array[luge.fix, luge.M]], theta: luge.array[luge.fix, 2]):
    """A learner without labels: the mean of the first feature, and of its square."""
    n: luge.fix = 0
    for x in data:
        n += 1
        theta[0] += x[0]
        theta[1] += x[0] * x[0]
    theta[0] = theta[0] / n
    theta[1] = theta[1] / n


def test_a_learner_without_labels():
    x = np.array([[1.0], [2.0], [4.5]])
    training = luge.train(mean_square, x, format="fix:8.6")
    assert training.certified and training.theta.tolist() == mean_square(x, format="fix:8.6").tolist() == [2.5, 8.40625]
    with pytest.raises(luge.LugeError, match="takes no labels"):
        mean_square(x, [1, 2, 3], format="fix:8.6")


def predict(x: luge.array[luge.fix, luge.M], theta: luge.array[luge.fix, 3]) -> luge.fix:
    return theta[1] if x[0] > theta[0] else theta[2]


@luge.learner
def two_means(data: luge.samples[luge.array[luge.fix, luge.M], luge.fix], theta: luge.array[luge.fix, 3]):
    high: luge.fix = 0
    low: luge.fix = 0
    for x, y in data:
        if predict(x, [0, 1, 0]) > 0:
            theta[1] += y
            high += 1
        else:
            theta[2] += y
            low += 1
    theta[1] = theta[1] / high
    theta[2] = theta[2] / low


def test_a_helper_called_predict_is_the_network():
    x, y = np.array([[1.0], [-2.0], [3.0], [-0.5]]), np.array([1.0, 5.0, 2.0, 6.0])
    training = luge.train(two_means, x, y, format="fix:6.4")
    assert training.certified and training.theta.tolist() == two_means(x, y, format="fix:6.4").tolist() == [0, 1.5, 5.5]
    assert training.predict([[7.0], [-7.0]]).tolist() == [[1.5], [5.5]]


def test_a_slice_outside_of_its_array_is_rejected():
    array = luge.fixed.Array([1, 2, 3])
    assert array[0:2].items == [1, 2] and array[1:].items == [2, 3]
    for outside in [slice(-1, 1), slice(2, 4), slice(2, 1)]:
        with pytest.raises(luge.fixed.Rejected):
            array[outside]
    with pytest.raises(luge.fixed.Rejected):
        array[0:2] = luge.fixed.Array([1])
    assert array.items == [1, 2, 3]

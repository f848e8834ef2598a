//! Numbers of the second interpreter, in plain integers.

/// A fixed-point type: bits before and after the point.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Fix(pub(super) u32, pub(super) u32);

impl Fix {
    pub(super) fn half(self) -> i128 {
        1 << (self.0 + self.1 - 1)
    }

    pub(super) fn wrap(self, value: i128) -> i128 {
        (value + self.half()).rem_euclid(2 * self.half()) - self.half()
    }

    pub(super) fn clamp(self, value: i128) -> i128 {
        value.clamp(-self.half(), self.half() - 1)
    }

    /// Rounds an exact fraction to nearest, ties to even.
    pub(super) fn nearest(self, (numerator, denominator): (i128, i128)) -> i128 {
        let scaled = numerator << self.1;
        let below = scaled.div_euclid(denominator);
        match (2 * scaled.rem_euclid(denominator)).cmp(&denominator) {
            std::cmp::Ordering::Less => below,
            std::cmp::Ordering::Equal => below + below.rem_euclid(2),
            std::cmp::Ordering::Greater => below + 1,
        }
    }
}

/// The value of an expression. Literals, constants and loop variables are exact.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Value {
    Exact(i128, i128),
    Number(Fix, i128),
    Bit(bool),
    Array(Vec<Value>),
    Tape,
}

pub(super) enum Shape {
    Number(Fix),
    Bit,
    Tape,
    Array(Box<Shape>, usize),
}

pub(super) fn zero(shape: &Shape) -> Value {
    match shape {
        Shape::Number(ty) => Value::Number(*ty, 0),
        Shape::Bit => Value::Bit(false),
        Shape::Tape => Value::Tape,
        Shape::Array(element, length) => Value::Array((0..*length).map(|_| zero(element)).collect()),
    }
}

/// Converts a value to a shape: exact numbers get its type.
pub(super) fn fit(value: Value, shape: &Shape) -> Value {
    match (value, shape) {
        (Value::Exact(n, d), Shape::Number(ty)) => Value::Number(*ty, ty.nearest((n, d))),
        (Value::Array(elements), Shape::Array(element, _)) => {
            Value::Array(elements.into_iter().map(|value| fit(value, element)).collect())
        }
        (value, _) => value,
    }
}

/// Converts a value to the shape of another.
pub(super) fn fit_like(value: Value, other: &Value) -> Value {
    match (value, other) {
        (Value::Exact(n, d), Value::Number(ty, _)) => Value::Number(*ty, ty.nearest((n, d))),
        (Value::Array(elements), Value::Array(others)) => {
            let pairs = elements.into_iter().zip(others);
            Value::Array(pairs.map(|(element, other)| fit_like(element, other)).collect())
        }
        (value, _) => value,
    }
}

pub(super) fn compare(op: &str, a: i128, b: i128) -> bool {
    match op {
        "<" => a < b,
        "<=" => a <= b,
        ">" => a > b,
        ">=" => a >= b,
        "==" => a == b,
        _ => a != b,
    }
}

pub(super) fn arithmetic(op: &str, ty: Fix, a: i128, b: i128) -> i128 {
    match op {
        "+" => ty.wrap(a + b),
        "-" => ty.wrap(a - b),
        "*" => ty.wrap((a * b).div_euclid(1 << ty.1)),
        "*~" => ty.wrap((2 * a * b + (1 << ty.1)).div_euclid(2 << ty.1)),
        "/" if b == 0 => 0,
        "/" => ty.wrap((a << ty.1) / b),
        "%" if b == 0 => a,
        "%" => a % b,
        "&" => a & b,
        "|" => a | b,
        "^" => a ^ b,
        "+|" => ty.clamp(a + b),
        "-|" => ty.clamp(a - b),
        "*|" => ty.clamp((a * b).div_euclid(1 << ty.1)),
        other => panic!("operator {other}"),
    }
}

pub(super) fn exact(op: &str, (an, ad): (i128, i128), (bn, bd): (i128, i128)) -> Value {
    let (n, d) = match op {
        "+" | "+|" => (an * bd + bn * ad, ad * bd),
        "-" | "-|" => (an * bd - bn * ad, ad * bd),
        "*" | "*|" | "*~" => (an * bn, ad * bd),
        "/" => (an * bd * bn.signum(), ad * bn.abs()),
        "%" => (an * bd % (bn * ad), ad * bd),
        "&" => ((an / ad) & (bn / bd), 1),
        "|" => ((an / ad) | (bn / bd), 1),
        "^" => ((an / ad) ^ (bn / bd), 1),
        "<<" => (an << (bn / bd), ad),
        ">>" => (an, ad << (bn / bd)),
        _ => return Value::Bit(compare(op, an * bd, bn * ad)),
    };
    // Sums and products of many exact numbers stay within 128 bits.
    let halves = (n | d).trailing_zeros();
    Value::Exact(n >> halves, d >> halves)
}

pub(super) fn position(index: &Value) -> i128 {
    match index {
        Value::Exact(n, d) => n / d,
        Value::Number(_, raw) => *raw,
        other => panic!("{other:?} is no index"),
    }
}

pub(super) fn binary(op: &str, a: Value, b: Value) -> Value {
    match (a, b) {
        (Value::Exact(an, ad), Value::Exact(bn, bd)) => exact(op, (an, ad), (bn, bd)),
        (Value::Bit(a), Value::Bit(b)) => Value::Bit(match op {
            "==" => a == b,
            "&" => a && b,
            "|" => a || b,
            _ => a != b,
        }),
        (Value::Number(ty, a), by) if op == "<<" || op == ">>" => {
            let by = u32::try_from(position(&by)).expect("a shift").min(64);
            Value::Number(ty, if op == "<<" { ty.wrap(a << by) } else { a >> by })
        }
        (a, b) => {
            let (a, b) = (fit_like(a, &b), b);
            let b = fit_like(b, &a);
            let (Value::Number(ty, a), Value::Number(other, b)) = (a, b) else {
                panic!("{op} of no numbers")
            };
            assert_eq!(ty, other);
            match op {
                "<" | "<=" | ">" | ">=" | "==" | "!=" => Value::Bit(compare(op, a, b)),
                _ => Value::Number(ty, arithmetic(op, ty, a, b)),
            }
        }
    }
}

pub(super) fn builtin(name: &str, a: Value, b: Value) -> Value {
    if let (&Value::Exact(an, ad), &Value::Exact(bn, bd)) = (&a, &b) {
        let less = an * bd < bn * ad;
        return match name {
            "min" => {
                if less {
                    a
                } else {
                    b
                }
            }
            "max" | "relu" => {
                if less {
                    b
                } else {
                    a
                }
            }
            "abs" => Value::Exact(an.abs(), ad),
            _ => Value::Exact(an.signum(), 1),
        };
    }
    let b = fit_like(b, &a);
    let a = fit_like(a, &b);
    let (Value::Number(ty, a), Value::Number(_, b)) = (a, b) else { panic!("{name} of no numbers") };
    Value::Number(
        ty,
        match name {
            "min" => a.min(b),
            "max" | "relu" => a.max(b),
            "abs" => ty.wrap(a.abs()),
            _ => a.signum() << ty.1,
        },
    )
}

pub(super) fn cast(value: Value, to: Fix, saturating: bool) -> i128 {
    match value {
        Value::Exact(n, d) if saturating => to.clamp(to.nearest((n, d))),
        Value::Exact(n, d) => to.nearest((n, d)),
        Value::Bit(bit) => i128::from(bit) << to.1,
        Value::Number(from, raw) => {
            let scaled = if to.1 >= from.1 { raw << (to.1 - from.1) } else { raw >> (from.1 - to.1) };
            if saturating { to.clamp(scaled) } else { to.wrap(scaled) }
        }
        other => panic!("{other:?} as a number"),
    }
}

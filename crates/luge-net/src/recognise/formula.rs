//! Formulas as text: the right sides of equations for nodes.
//!
//! `2 v - 0.5` is a weighted sum, in this order. A number alone is a constant term, and `$offset` is a number to be read
//! from the graph. `a * b` is an entrywise product, `[v]` a stop-gradient, `squares(a - b)` a sum of squares. Operations
//! are written `relu(v)`; names with a capital letter are maps over vertices, such as `Next(v)` or, with its numbers,
//! `Dips<4>(v)`; all other names are nodes.

use std::{iter::Peekable, vec::IntoIter};

/// What a node must be.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Formula<'t> {
    /// The node of this name.
    Node(&'t str),
    /// An operation with these numbers on other nodes.
    Apply(&'t str, Vec<Weight<'t>>, Vec<Self>),
    /// A weighted sum; a term without a formula is a constant.
    Sum(Vec<(Weight<'t>, Option<Self>)>),
}

/// The weight of a term.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Weight<'t> {
    /// This number.
    Is(f64),
    /// A number of this name, times a sign.
    Free(f64, &'t str),
}

type Tokens<'t> = Peekable<IntoIter<&'t str>>;

/// Reads a formula.
///
/// # Panics
/// If it is none: formulas are part of the program.
pub(super) fn read(text: &str) -> Formula<'_> {
    let mut tokens = tokens(text).into_iter().peekable();
    let formula = sum(&mut tokens);
    assert_eq!(tokens.next(), None, "the end of {text}");
    formula
}

/// Splits a text into words, numbers and signs.
fn tokens(text: &str) -> Vec<&str> {
    let is_word = |c: char| c.is_alphanumeric() || "_.$".contains(c);
    let mut rest = text.trim();
    let mut tokens = Vec::new();
    while let Some(first) = rest.chars().next() {
        let end = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        let (token, left) = rest.split_at(if is_word(first) { end } else { first.len_utf8() });
        tokens.push(token);
        rest = left.trim_start();
    }
    tokens
}

/// Reads a sum; a single term without a weight is not a sum.
fn sum<'t>(tokens: &mut Tokens<'t>) -> Formula<'t> {
    let mut sign = if tokens.next_if_eq(&"-").is_some() { -1.0 } else { 1.0 };
    let is_weighed = sign < 0.0 || tokens.peek().is_some_and(|token| weight(1.0, token).is_some());
    let mut terms = vec![term(sign, tokens)];
    while let Some(token) = tokens.next_if(|token| ["+", "-"].contains(token)) {
        sign = if token == "-" { -1.0 } else { 1.0 };
        terms.push(term(sign, tokens));
    }
    match terms.pop() {
        Some((_, Some(only))) if terms.is_empty() && !is_weighed => only,
        last => Formula::Sum(terms.into_iter().chain(last).collect()),
    }
}

fn weight<'t>(sign: f64, token: &'t str) -> Option<Weight<'t>> {
    let number = || token.parse().ok().map(|number: f64| Weight::Is(sign * number));
    token.strip_prefix('$').map(|name| Weight::Free(sign, name)).or_else(number)
}

/// A number of a map, with its sign.
fn number<'t>(tokens: &mut Tokens<'t>) -> Weight<'t> {
    let sign = if tokens.next_if_eq(&"-").is_some() { -1.0 } else { 1.0 };
    tokens.next().and_then(|token| weight(sign, token)).expect("a number")
}

fn term<'t>(sign: f64, tokens: &mut Tokens<'t>) -> (Weight<'t>, Option<Formula<'t>>) {
    let Some(weight) = tokens.peek().and_then(|token| weight(sign, token)) else {
        return (Weight::Is(sign), Some(product(tokens)));
    };
    tokens.next();
    let goes_on = tokens.peek().is_some_and(|token| !["+", "-", ")", "]", ","].contains(token));
    (weight, goes_on.then(|| product(tokens)))
}

fn product<'t>(tokens: &mut Tokens<'t>) -> Formula<'t> {
    let first = factor(tokens);
    match tokens.next_if_eq(&"*") {
        Some(_) => Formula::Apply("product", Vec::new(), vec![first, factor(tokens)]),
        None => first,
    }
}

fn factor<'t>(tokens: &mut Tokens<'t>) -> Formula<'t> {
    let (formula, end) = match tokens.next() {
        Some("(") => (sum(tokens), ")"),
        Some("[") => (Formula::Apply("stop_gradient", Vec::new(), vec![sum(tokens)]), "]"),
        name => {
            let (name, mut numbers, mut operands) = (name.expect("a factor"), Vec::new(), Vec::new());
            if tokens.next_if_eq(&"<").is_some() {
                numbers.push(number(tokens));
                while tokens.next_if_eq(&",").is_some() {
                    numbers.push(number(tokens));
                }
                assert_eq!(tokens.next(), Some(">"), "the end of numbers");
            }
            if tokens.next_if_eq(&"(").is_none() {
                return Formula::Node(name);
            }
            operands.push(sum(tokens));
            while tokens.next_if_eq(&",").is_some() {
                operands.push(sum(tokens));
            }
            (Formula::Apply(name, numbers, operands), ")")
        }
    };
    assert_eq!(tokens.next(), Some(end), "the end of a factor");
    formula
}

#[cfg(test)]
mod tests {
    use super::{
        Formula::{Apply, Node, Sum},
        Weight::{Free, Is},
        *,
    };

    #[test]
    fn formulas_are_read_as_they_are_written() {
        assert_eq!(read("x"), Node("x"));
        assert_eq!(read("1 x"), Sum(vec![(Is(1.0), Some(Node("x")))]));
        assert_eq!(read("-x + 0"), Sum(vec![(Is(-1.0), Some(Node("x"))), (Is(0.0), None)]));
        let apply = |name, operands| Apply(name, Vec::new(), operands);
        let stop = apply("stop_gradient", vec![Node("b")]);
        let product = apply("product", vec![Node("a"), stop]);
        assert_eq!(read("a * [b]"), product);
        assert_eq!(
            read("$c - $d a * [b]"),
            Sum(vec![(Free(1.0, "c"), None), (Free(-1.0, "d"), Some(product))])
        );
        let difference = Sum(vec![(Is(1.0), Some(Node("u"))), (Is(-1.0), Some(Node("v")))]);
        let shifted = Sum(vec![(Is(2.0), Some(difference)), (Is(-1.5), None)]);
        assert_eq!(read("relu(2 (u - v) - 1.5)"), apply("relu", vec![shifted]));
        assert_eq!(read("select(a, b, c)"), apply("select", vec![Node("a"), Node("b"), Node("c")]));
        let levels = Apply("Levels", vec![Free(1.0, "at_rest"), Is(-2.0)], vec![Node("x")]);
        assert_eq!(read("Levels<$at_rest, -2>(x)"), levels);
    }
}

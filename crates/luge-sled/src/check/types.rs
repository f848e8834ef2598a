//! Types, and the learner's signature: its parameters and weights, and the sizes in it that come from the data.

use std::fmt;

use super::{Affine, Array, Binding, Checker, Index, MAX_NUMBERS, Place, Store, THETA, Ty, Value, View};
use crate::ratio::Ratio;
use crate::syntax::{Expr, ExprKind, Learner, Name, Type, TypeKind};

/// The most bits of a number.
const MAX_WIDTH: u32 = 32;

/// A type with all sizes known.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Shape {
    /// A number or a bit.
    Number(Ty),
    Array(Box<Shape>, usize),
    Tape,
}

impl Shape {
    /// The type of the innermost elements.
    pub(super) fn element(&self) -> Ty {
        match self {
            Self::Number(ty) => *ty,
            Self::Array(element, _) => element.element(),
            Self::Tape => Ty::BIT,
        }
    }

    /// Number of numbers or bits, counting the elements of arrays.
    pub(super) fn n_elements(&self) -> usize {
        match self {
            Self::Array(element, length) => element.n_elements().saturating_mul(*length),
            _ => 1,
        }
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(ty) => write!(f, "{ty}"),
            Self::Array(element, length) => write!(f, "[{element}; {length}]"),
            Self::Tape => f.write_str("tape"),
        }
    }
}

impl<'p> Checker<'p> {
    /// The shape of a type; `None` if it has an error, which is reported.
    pub(super) fn shape(&mut self, ty: &Type) -> Option<Shape> {
        Some(match &ty.kind {
            TypeKind::Bit => Shape::Number(Ty::BIT),
            TypeKind::Tape => Shape::Tape,
            TypeKind::Fix(integer, fraction) => {
                let (integer, fraction) = (self.integer(integer), self.integer(fraction));
                return self.number(integer?, fraction?, ty);
            }
            TypeKind::Array(element, length) => {
                let (element, length) = (self.shape(element), self.integer(length));
                let (element, length) = (element?, length?);
                if element == Shape::Tape {
                    return self.fail(
                        &ty.span,
                        format!("an array of {element}"),
                        "arrays hold numbers or bits",
                    );
                }
                let most = MAX_NUMBERS / element.n_elements().max(1);
                match usize::try_from(length) {
                    Ok(length) if (1..=most).contains(&length) => Shape::Array(Box::new(element), length),
                    _ => {
                        let message = format!("an array of length {length}");
                        return self.fail(&ty.span, message, format!("expected a length from 1 to {most}"));
                    }
                }
            }
            TypeKind::Named(name) => match self.lookup(name, &ty.span) {
                Binding::Alias(shape) => return shape,
                Binding::Value(None) => return None,
                _ => return self.fail(&ty.span, format!("`{name}` is not a type"), "expected a type"),
            },
        })
    }

    fn number(&mut self, integer: i128, fraction: i128, ty: &Type) -> Option<Shape> {
        let fits =
            integer >= 1 && fraction >= 0 && (2..=i128::from(MAX_WIDTH)).contains(&(integer + fraction));
        if let (Ok(integer), Ok(fraction), true) = (u32::try_from(integer), u32::try_from(fraction), fits) {
            return Some(Shape::Number(Ty { integer, fraction }));
        }
        let message = format!("no number has {integer} bits before the point and {fraction} after it");
        let label = format!("expected at least 1 before, and 2 to {MAX_WIDTH} in all");
        if (integer, fraction) == (1, 0) {
            return self.refuse(&ty.span, message, &label, "for a single bit write `bit`");
        }
        self.fail(&ty.span, message, label)
    }

    /// Matches `[T; M]` in the signature with the data, and binds M to their number of columns.
    pub(super) fn unify_array(&mut self, ty: &Type, found: usize, what: &str, format: Ty) {
        let TypeKind::Array(element, length) = &ty.kind else {
            let message = format!("the {what} are an array");
            return self.error(&ty.span, message, "not an array").remedy("write it as `[fix<I,F>; M]`");
        };
        if found == 0 {
            self.error(&ty.span, format!("the data have no {what}"), "at least one is needed");
        }
        self.unify_format(element, format);
        self.unify_size(length, found as i128, &format!("{what} per sample"));
    }

    /// Matches `fix<I,F>` in the signature with the data's format, and binds I and F to its bits.
    pub(super) fn unify_format(&mut self, ty: &Type, format: Ty) {
        match &ty.kind {
            TypeKind::Fix(integer, fraction) => {
                self.unify_size(integer, i128::from(format.integer), "bits before the point");
                self.unify_size(fraction, i128::from(format.fraction), "bits after the point");
            }
            TypeKind::Bit => self.error(&ty.span, "data are numbers", "a bit").remedy("write it as `fix<I,F>`, and ask for the bit by `> 0`; with --format fix:2.0 a number takes two cells"),
            _ => self.error(&ty.span, "data are numbers", "not a number type").remedy("write it as `fix<I,F>`: I and F are then those of the data"),
        }
    }

    fn unify_size(&mut self, size: &Expr, found: i128, what: &str) {
        if let ExprKind::Name(name) = &size.kind
            && self.find(name).is_none()
        {
            let value = Binding::Value(Some(Value::Constant(Ratio::from_integer(found))));
            if let Some(scope) = self.here.scopes.last_mut() {
                scope.insert(name.clone(), value);
            }
            return;
        }
        let Some(wanted) = self.integer(size) else { return };
        if wanted != found {
            let message = format!("the learner takes {wanted} {what}, the data have {found}");
            self.error(&size.span, message, format!("{wanted} here"))
                .remedy("write a name such as M, I or F in its place to take it from the data");
        }
    }

    /// Binds the sizes that the signature names, and returns the bindings of the parameters.
    pub(super) fn parameters(&mut self, learner: &'p Learner, format: Ty) -> Vec<(&'p Name, Binding)> {
        let (features, labels) = match &learner.parameters[..] {
            [features] => (features, None),
            [features, labels] => (features, Some(labels)),
            parameters => {
                let message = format!(
                    "a learner takes features, and labels if it has some; this one takes {} parameters",
                    parameters.len()
                );
                let help = "write it as `(x: [fix<I,F>; M], y: fix<I,F>)`, or without `y`";
                self.error(&learner.name.span, message, "expected one or two").remedy(help);
                return Vec::new();
            }
        };
        let (n_features, n_labels) = (self.sizes.n_features, self.sizes.n_labels);
        self.unify_array(&features.1, n_features, "features", format);
        let number = Box::new(Shape::Number(format));
        let view = |first: usize, shape: Shape| {
            let known = Affine::constant(i64::try_from(first).unwrap_or(i64::MAX));
            let index = Index { known, computed: Vec::new() };
            Binding::Data(View { place: Place { store: Store::Data, index }, shape })
        };
        let mut bound = vec![(&features.0, view(0, Shape::Array(number.clone(), n_features)))];
        let Some(labels) = labels else { return bound };
        let scalar = !matches!(labels.1.kind, TypeKind::Array(..));
        if scalar {
            self.unify_format(&labels.1, format);
            if n_labels != 1 {
                let message =
                    format!("the data have {n_labels} labels, but `{}` is a single one", labels.0.text);
                self.error(&labels.1.span, message, "one label")
                    .remedy("make it an array such as `[fix<I,F>; K]`");
            }
        } else {
            self.unify_array(&labels.1, n_labels, "labels", format);
        }
        let label = if scalar { *number } else { Shape::Array(number, n_labels) };
        bound.push((&labels.0, view(n_features, label)));
        bound
    }

    /// Reports settings that are not constants of the file.
    pub(super) fn settings_have_constants(&mut self) {
        for (name, _) in &self.settings.0 {
            if !self.program.constants.iter().any(|(constant, _)| constant.text == *name) {
                let known: Vec<&str> = self.program.constants.iter().map(|(c, _)| c.text.as_str()).collect();
                let help = match known[..] {
                    [] => "the file has none: write `const NAME = 1;` at its top".to_owned(),
                    _ => format!("the file has {}", known.join(", ")),
                };
                self.error(&(0..0), format!("there is no constant `{name}` to set"), "").remedy(help);
            }
        }
    }

    pub(super) fn theta(&mut self, learner: &'p Learner, format: Ty) {
        let (name, ty) = &learner.result;
        let binding = match self.shape(ty) {
            Some(shape @ Shape::Array(..)) if shape.element() == format => {
                let length = shape.n_elements();
                self.made.n_numbers += length;
                self.made.core.arrays.push(Array { width: format.width(), length });
                Binding::Variable(View { place: Place::first(Store::Array(THETA)), shape })
            }
            Some(found) => {
                let message = format!("the weights must be an array of the data's type, {format}");
                Binding::Value(self.fail(&ty.span, message, format!("this is {found}")))
            }
            None => Binding::Value(None),
        };
        self.bind(name, binding);
    }
}

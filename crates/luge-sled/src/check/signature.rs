//! The learner's signature: its parameters and weights, and the settings of constants.

use super::{Binding, Checker, Shape, View};
use crate::{
    core::{Affine, Array, Index, Place, Store, THETA, Ty},
    syntax::{self, Learner, Name},
};

impl<'p> Checker<'p> {
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
        let scalar = !matches!(labels.1.kind, syntax::TypeKind::Array(..));
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

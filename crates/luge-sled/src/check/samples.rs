//! The source of samples: a loop over a table, or a stream.

use super::{Checker, Shape, Source, View};
use crate::{
    core::{Expr, Place, StmtKind},
    lex::Span,
    syntax::{self, ExprKind, Stmt, StmtKind as S},
};

impl<'p> Checker<'p> {
    /// Finds out whether samples are taken; a program that also loops over the data is refused.
    pub(super) fn samples(&mut self) {
        let program = self.program;
        let bodies = program.functions.iter().map(|function| &function.body);
        let bodies: Vec<&[Stmt]> =
            bodies.chain(program.learners.iter().map(|l| &l.body)).map(Vec::as_slice).collect();
        let first = |wanted: fn(&S) -> bool| bodies.iter().find_map(|body| first_span(body, wanted));
        let take = first(|kind| matches!(kind, S::Take));
        let each = first(|kind| matches!(kind, S::ForData { .. }));
        self.takes = take.is_some();
        if let (Some(_), Some(span)) = (take, each) {
            self.error(span, "a loop over the data in a learner that takes samples", "there is no table")
                .remedy(
                    "samples come from a stream or from a table: use either `take;` or `for sample in data`",
                );
        }
    }

    /// The functions in which a sample is taken, directly or in a function that they call.
    pub(super) fn find_takers(&mut self) {
        let functions = self.program.functions.iter().enumerate();
        let takes = |body: &[Stmt]| first_span(body, |kind| matches!(kind, S::Take)).is_some();
        self.takers = functions.filter(|(_, function)| takes(&function.body)).map(|(at, _)| at).collect();
        loop {
            let callers = self.calls.keys().filter(|(_, called)| self.takers.contains(called));
            let callers: Vec<usize> = callers.map(|&(caller, _)| caller).collect();
            let n_known = self.takers.len();
            self.takers.extend(callers);
            if self.takers.len() == n_known {
                return;
            }
        }
    }

    /// Whether a statement, apart from the blocks in it, calls a function that takes.
    pub(super) fn calls_taker(&self, stmt: &Stmt) -> bool {
        let functions = &self.program.functions;
        let takes = |name: &str| self.takers.iter().any(|&taker| functions[taker].name.text == name);
        stmt.expressions().into_iter().any(|expr| calls(expr, &takes))
    }

    /// Features or labels as they are where they are read: copied, if the same statement takes another sample.
    pub(super) fn sample_view(&mut self, view: View, span: &Span) -> View {
        if !self.copies_samples {
            return view;
        }
        let shape = match &view.shape {
            Shape::Number(_) => Shape::Array(Box::new(view.shape.clone()), 1),
            array => array.clone(),
        };
        let Some(copy) = self.take_array(&shape, span) else { return view };
        let innermost = view.shape.innermost();
        let Shape::Number(ty) = innermost else { return view };
        let Source::Array(array) = copy.source else { return view };
        self.each(shape.n_elements(), span, |var| {
            let value = Expr::Data { index: Self::counted(&view, var), ty };
            StmtKind::Assign(Place::Element(array, Self::counted(&copy, var)), value)
        });
        View { shape: view.shape, ..copy }
    }
}

/// Where the first statement of some kind is, blocks included.
fn first_span(body: &[Stmt], wanted: fn(&S) -> bool) -> Option<&Span> {
    body.iter().find_map(|stmt| {
        let here = wanted(&stmt.kind).then_some(&stmt.span);
        here.or_else(|| stmt.blocks().into_iter().find_map(|body| first_span(body, wanted)))
    })
}

/// Whether an expression calls a function whose name is wanted.
fn calls(expr: &syntax::Expr, wanted: &dyn Fn(&str) -> bool) -> bool {
    let here = matches!(&expr.kind, ExprKind::Call(name, _) if wanted(&name.text));
    here || expr.parts().into_iter().any(|part| calls(part, wanted))
}

//! Samples from a stream, in the learner and in functions.

use super::{Checker, Shape, Value, View};
use crate::{
    lex::Span,
    syntax::{ExprKind, Stmt, StmtKind as S},
};

impl Checker<'_> {
    /// Determines whether the program takes samples; it cannot loop over the data, too.
    pub(super) fn samples(&mut self) {
        let program = self.program;
        let bodies = program.functions.iter().map(|function| &function.body);
        let bodies: Vec<&Vec<Stmt>> = bodies.chain(program.learners.iter().map(|l| &l.body)).collect();
        let first = |wanted: fn(&Stmt) -> bool| bodies.iter().find_map(|body| Stmt::first(body, &wanted));
        let each = first(|stmt| matches!(stmt.kind, S::ForData { .. }));
        self.takes = first(takes).is_some();
        if let Some(each) = each.filter(|_| self.takes) {
            let message = "a loop over the data in a learner that takes samples";
            let help =
                "samples come from a stream or from a table: use either `take;` or `for sample in data`";
            self.error(&each.span, message, "there is no table").remedy(help);
        }
    }

    /// Finds the functions that take a sample, directly or through calls.
    pub(super) fn find_takers(&mut self) {
        let functions = self.program.functions.iter().enumerate();
        let takers = functions.filter(|(_, function)| Stmt::first(&function.body, &takes).is_some());
        self.takers = takers.map(|(at, _)| at).collect();
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

    /// Whether a statement, apart from its blocks, calls a function that takes a sample.
    pub(super) fn calls_taker(&self, stmt: &Stmt) -> bool {
        let functions = &self.program.functions;
        let takes = |name: &str| self.takers.iter().any(|&taker| functions[taker].name.text == name);
        let calls = |kind: &ExprKind| matches!(kind, ExprKind::Call(name, _) if takes(&name.text));
        stmt.expressions().into_iter().any(|expr| expr.any(&calls))
    }

    /// Features or labels, copied if the same statement takes another sample.
    pub(super) fn sample_view(&mut self, view: View, span: &Span) -> View {
        if !self.here.copies_samples {
            return view;
        }
        let array = match &view.shape {
            Shape::Number(_) => Shape::Array(Box::new(view.shape.clone()), 1),
            array => array.clone(),
        };
        let Some(copy) = self.take(&array, span) else { return view };
        let shape = view.shape.clone();
        self.fill(&copy, Value::Array(view), span);
        View { shape, ..copy }
    }
}

fn takes(stmt: &Stmt) -> bool {
    matches!(stmt.kind, S::Take)
}

//! Order of evaluation: `&&` and `||` short-circuit, everything else is evaluated, and every index is checked.

mod machines;

use luge_sled::Verdict;
use machines::{agree, sizes};

/// The outcome of a learner with this body, for `k` below, above and within the bounds of `a`.
fn verdicts(body: &str) -> [Verdict; 3] {
    let functions = "fn at(a: [fix<I,F>; 2], k: int<4>) -> bit { let b = a[k]; return b > 0; }
fn keep(a: fix<I,F>, b: fix<I,F>) -> fix<I,F> { return b; }
fn stop(c: bit) -> bit { if c { reject; } return c; }
";
    ["-1", "2", "1"].map(|k| {
        let source = format!(
            "{functions}learner l(x: [fix<I,F>; M], y: fix<I,F>) -> theta: [fix<I,F>; 2] {{
    let a: [fix<I,F>; 2] = [1, 2]; let s: [bit; 2] = [true, false]; let b: bit = true; let k: int<4> = {k};
    for sample in data {{ {body} }}
}}"
        );
        agree(&source, &sizes(2, 1, 8, 4), &[vec![16, 32, 48]], 10_000).0.verdict
    })
}

const INSIDE: [Verdict; 3] = [Verdict::Rejected, Verdict::Rejected, Verdict::Accepted];
const ALWAYS: [Verdict; 3] = [Verdict::Accepted; 3];

#[test]
fn what_the_left_side_decides_is_not_evaluated() {
    for right in [
        "a[k] > 0",
        "b ^ (a[k] > 0)",
        "b == (a[k] > 0)",
        "!(b ^ s[k])",
        "((a[k] > 0) as int<4>) == 1",
        "at(a, k)",
        "keep(a[k], 1) > 0",
        "stop(b)",
        "(b && (b ^ (a[k] > 0)))",
        "(s[k] || at(a, k))",
        "x[k] > 0",
    ] {
        assert_eq!(verdicts(&format!("if k > 9 - 2 && ({right}) {{ theta[0] = 1; }}")), ALWAYS, "{right}");
        assert_eq!(verdicts(&format!("if k < 7 || ({right}) {{ theta[0] = 1; }}")), ALWAYS, "{right}");
        let while_inside = format!("while (k >= 0 && k < 2) && ({right}) {{ theta[0] += 1; k += 1; }}");
        if !right.contains("stop") {
            assert_eq!(verdicts(&while_inside), ALWAYS, "{right}");
            assert_eq!(verdicts(&format!("if k < 7 && ({right}) {{ theta[0] = 1; }}")), INSIDE, "{right}");
        }
    }
}

#[test]
fn everything_else_is_evaluated() {
    for statement in [
        "theta[0] = a[k] << 40;",
        "theta[0] = a[k] << 12;",
        "theta[0] = a[k] >> 40;",
        "theta[0] = (a[k] << 40) >> 3;",
        "theta[0] = 1 + (a[k] << 40);",
        "if (a[k] << 40) == 0 { theta[0] = 1; }",
        "theta[0] = a[k] * 0;",
        "theta[0] = 0 / a[k];",
        "theta[0] = keep(a[k], 1);",
        "theta[0] = keep(x[k], 1);",
        "theta[0] = min(1, a[k]);",
        "theta[0] = a[k] - a[k];",
        "let c = a[k];",
        "let c = s[k];",
        "a[k] = a[k];",
        "s[k] = s[k];",
        "if s[k] { }",
        "print(a[k]);",
        "print(s[k], 1);",
        "print(x[k]);",
        "let c = ((a[k] as fix<2,1>) as fix<2,30>) as fix<I,F>;",
        "theta[0] = sign(a[k]) * 0;",
        "let c = b ^ (a[k] > 0);",
        "let c = [a[k], 1];",
        "if (s[k] ^ s[k]) { }",
    ] {
        assert_eq!(verdicts(statement), INSIDE, "{statement}");
    }
}

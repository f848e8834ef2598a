//! Diagnostics of invalid programs: their messages and places.

mod machines;

use luge_machine::Diagnostic;
use luge_sled::{Program, Settings, Sizes};
use machines::{agree, sizes};

const HEAD: &str = "learner l(x: [fix<I,F>; M], y: fix<I,F>) -> theta: [fix<I,F>; 3] {\n";

fn checked(source: &str, sizes: &Sizes) -> Result<Program, Vec<Diagnostic>> {
    Program::new(source, sizes, &Settings::default())
}

/// The findings, each on a line: what is marked, the message and the remedy.
fn findings(source: &str) -> Vec<String> {
    let findings = checked(source, &sizes(2, 1, 4, 4)).err().unwrap_or_default();
    let line =
        |f: Diagnostic| format!("{:?}: {}; {}", &source[f.span], f.message, f.help.unwrap_or_default());
    findings.into_iter().map(line).collect()
}

/// The findings of a learner with this body, on a line of its own.
fn of_body(body: &str) -> Vec<String> {
    findings(&format!("{HEAD}{body}\n}}"))
}

/// The findings of these functions and a learner that does nothing.
fn of_functions(functions: &str) -> Vec<String> {
    findings(&format!("{functions}\n{HEAD}}}"))
}

#[test]
fn functions_that_are_never_called() {
    assert_eq!(
        of_functions("fn unused(a: bit) -> bit { return nosuch + 1; }"),
        [r#""nosuch": `nosuch` is not defined; declare it with `let` before it is used"#]
    );
    assert_eq!(
        of_functions(
            "fn unused(t: tape, a: [bit; 2]) -> bit { let b: bit = a[2]; return used(1); }
                      fn used(a: bit) -> bit { return a; }"
        ),
        [
            "\"tape\": a tape as a parameter; ",
            "\"2\": `a` has 2 elements, but element 2 is asked for; ",
            "\"1\": expected bit, found the number 1; compare it with something, such as `!= 0`",
        ]
    );
    assert_eq!(of_functions("fn one(a: wide) -> wide { return a + 1; } type wide = fix<I + 4,F>;"), [""; 0]);
}

#[test]
fn an_error_in_a_function_is_said_once() {
    let source =
        format!("fn f(a: bit) -> bit {{ return a + 1; }}\n{HEAD} if f(true) {{ }} if f(false) {{ }} }}");
    assert_eq!(findings(&source), ["\"a\": expected a number, found bit; "]);
}

#[test]
fn recursion() {
    let help = "functions are inlined: write a loop";
    let own = "fn f(a: bit) -> bit { return f(a); }";
    assert_eq!(of_functions(own), [format!("\"f\": `f` calls itself; {help}")]);
    let called = format!("{own}\n{HEAD} if f(true) {{ theta[0] = f(true); }} }}");
    assert_eq!(
        findings(&called),
        [
            format!("\"f\": `f` calls itself; {help}"),
            "\"f(true)\": expected fix<4,4>, found bit; convert it with `as fix<4,4>`".to_owned()
        ]
    );
    let others =
        "fn f(a: bit) -> bit { return g(a); } fn g(a: bit) -> bit { if false { a = f(a); } return h(a); }
                  fn h(a: bit) -> bit { return true; }";
    let found = of_functions(others);
    assert!(found.contains(&format!("\"f\": `f` calls itself through `g`; {help}")), "{found:?}");
}

fn chain(length: usize) -> String {
    let links: String = (1..length)
        .map(|n| format!("fn f{n}(a: fix<I,F>) -> fix<I,F> {{ return f{}(a) + 0.0625; }} ", n - 1))
        .collect();
    let first = "fn f0(a: fix<I,F>) -> fix<I,F> { return a + 0.0625; }";
    format!("{first} {links} {HEAD} theta[0] = f{}(0); }}", length - 1)
}

#[test]
fn long_chains_of_calls() {
    let (outcome, _) = agree(&chain(64), &sizes(2, 1, 4, 4), &[], 1000);
    assert_eq!(outcome.theta, [64, 0, 0]);
    assert_eq!(
        findings(&chain(65)),
        ["\"f0(a)\": calls nest more than 64 deep; write some of the functions out where they are called"]
    );
}

/// Deeply nested calls and sums: too deep is a finding, and anything less must not overflow the stack.
#[test]
fn deep_expressions_in_deep_calls() {
    let deep = |length: usize| {
        let sum = " +| a".repeat(90);
        let links: String = (1..length)
            .map(|n| format!("fn f{n}(a: fix<I,F>) -> fix<I,F> {{ return f{}(a){sum}; }} ", n - 1))
            .collect();
        let first = "fn f0(a: fix<I,F>) -> fix<I,F> { return a; }";
        format!("{first} {links} {HEAD} theta[0] = f{}(0.0625); }}", length - 1)
    };
    let found = findings(&deep(60));
    assert!(found[0].contains("nested more than 400 deep once functions are inlined"), "{found:?}");
    let (outcome, _) = agree(&deep(5), &sizes(2, 1, 4, 4), &[], 1000);
    assert_eq!(outcome.theta, [127, 0, 0]);
}

/// Habits from other languages.
#[test]
fn remedies() {
    for (body, expected) in [
        (
            "return 1;",
            "\"return 1\": a learner returns no value; a learner answers through `theta`: assign to its elements, then `return;`",
        ),
        (
            "theta[0] = theta[1] % true;",
            "\"true\": expected fix<4,4>, found bit; convert it with `as fix<4,4>`",
        ),
        ("let a: int<4>; a++;", "\"+\": expected `=`, found `+`; write `+= 1` after the name"),
        ("let a: int<4>; a--;", "\"-\": expected `=`, found `-`; write `-= 1` after the name"),
        ("let a: int<4>; ++a;", "\"+\": expected a statement, found `+`; write `+= 1` after the name"),
        (
            "theta[0] = theta[1]++;",
            "\"+\": expected an expression, found `+`; write `+= 1` in a statement of its own",
        ),
        ("if theta[0] = 1 { } else { }", "\"=\": expected `{`, found `=`; compare with `==`"),
        ("while (theta[0] = 1) { }", "\"=\": expected `)`, found `=`; compare with `==`"),
        ("theta[0] == 1;", "\"==\": expected `=`, found `==`; assign with `=`"),
        (
            "break;",
            "\"break;\": `break` outside of a loop; put it into the loop, or end the whole run with `reject`",
        ),
        (
            "unroll for i in 0..2 { continue; }",
            "\"continue;\": `continue` in a loop that is unrolled; leave out `unroll`",
        ),
        (
            "for i in 0..2 { theta[0] = (i << 1) as fix<I,F>; }",
            "\"i\": the variable of a loop is known only when the program runs; write `unroll for` to have the loop written out, or convert the variable: `i as fix<I,F>`",
        ),
        (
            "for i in 0..3 { theta[i + 1] = 0; }",
            "\"i + 1\": `theta` has 3 elements, but element 3 is asked for; let the loop end earlier; if the index is never that large, copy it to an `int` first, which is checked at run time",
        ),
        (
            "for i in 0..18446744073709551616 { theta[0] += 1; }",
            "\"18446744073709551616\": a loop with the bound 18446744073709551616 has too many rounds; count with a variable of your own in a `while`",
        ),
        (
            "for i in -99999999999999999999999999999999999999..0 { theta[0] += 1; }",
            "\"-99999999999999999999999999999999999999\": a loop with the bound -99999999999999999999999999999999999999 has too many rounds; count with a variable of your own in a `while`",
        ),
        (
            "theta[0] = theta[1] + match;",
            "\"match\": `match` is not part of Sled; choose with `if c { a } else if d { b } else { e }`",
        ),
        (
            "theta[0] = if theta[1] > 0 { 1 };",
            "\";\": expected `else`: as a value, `if` has two branches, found `;`; ",
        ),
        (
            "if (if theta[0] > 0 { 1 } else { 2 }) > 1 { }",
            "\"(if theta[0] > 0 { 1 } else { 2 })\": the type of this `if` cannot be inferred; give one of them a type: `if c { 1 as fix<I,F> } else { 0 }`",
        ),
        (
            "theta[0] = theta[1] << theta[2];",
            "\"theta[2]\": a number is shifted by an integer, this is fix<4,4>; convert it: `as int<4>`",
        ),
        (
            "for i in 0..theta[0] { }",
            "\"theta[0]\": a bound of a loop is an integer, this is fix<4,4>; convert it: `as int<4>`",
        ),
        (
            "let k: int<4>; let a = theta[k..3];",
            "\"k\": the ends of a slice are constants, or made of variables of loops; copy the elements in a loop",
        ),
        ("let a = theta[1..4];", "\"4\": `theta` has 3 elements, but element 3 is asked for; "),
        ("let a = theta[2..2];", "\"2\": a slice has one length, and at least one element; "),
    ] {
        assert_eq!(of_body(body), [expected], "{body}");
    }
}

#[test]
fn remedies_for_arrays_and_types() {
    for (body, expected) in [
        (
            "theta[0] = theta.len();",
            "\"len\": `theta` has no `len`; lengths have names: those of the data are in the learner's signature, such as M, others can be a `const`",
        ),
        (
            "let c: bit = (theta[0] > 0) ^ theta[1];",
            "\"theta[1]\": expected a condition, found fix<4,4>; compare it with something, such as `!= 0`",
        ),
        (
            "theta[theta[0]] = 1;",
            "\"theta[0]\": an index is an integer, this is fix<4,4>; convert it: `as int<4>`",
        ),
        (
            "theta[0] = 3.5e2;",
            "\"e2\": expected `;`, found `e2`; there are no exponents: write the number out",
        ),
        (
            "theta[0] = 3.5e-2;",
            "\"e\": expected `;`, found `e`; there are no exponents: write the number out",
        ),
        (
            "theta.push(3);",
            "\"theta\": `theta` is an array, not a tape; assign to its elements: `theta[0] = …`",
        ),
        ("theta.left();", "\"theta\": `theta` is an array, not a tape; "),
        (
            "let a: int<1>;",
            "\"int<1>\": no number has 1 bits before the point and 0 after it; for a single bit write `bit`",
        ),
        (
            "let c: bit = theta[0];",
            "\"theta[0]\": expected bit, found fix<4,4>; compare it with something, such as `!= 0`",
        ),
        (
            "if theta[0] { }",
            "\"theta[0]\": expected a condition, found fix<4,4>; compare it with something, such as `!= 0`",
        ),
        ("theta[0] = 0.1 + true;", "\"true\": expected a number, found bit; "),
        ("theta[0] = true + 0.1;", "\"true\": expected a number, found bit; "),
        (
            "theta[0] = 100 + theta[1];",
            "\"100\": 100 does not fit into fix<4,4>; choose a type with more bits before the point",
        ),
    ] {
        assert_eq!(of_body(body), [expected], "{body}");
    }
    assert_eq!(
        of_functions("fn f(a: bit) -> bit { if a { return a; } }"),
        ["\"f\": `f` can end without `return`; end it with `return` and a value"]
    );
}

#[test]
fn lists_take_the_type_of_what_they_are_for() {
    let source = format!(
        "fn last(a: [fix<I,F>; 2]) -> fix<I,F> {{ return a[1]; }}
         {HEAD} let bits: [bit; 2] = [true, false]; theta = [1, 2, last([3, 0.5])]; if bits[0] {{ theta[1] = 0; }} }}"
    );
    let (outcome, _) = agree(&source, &sizes(2, 1, 4, 4), &[], 1000);
    assert_eq!(outcome.theta, [16, 0, 8]);
    assert_eq!(of_body("theta = [1, 2];"), ["\"[1, 2]\": expected [fix<4,4>; 3], found [fix<4,4>; 2]; "]);
    assert_eq!(
        of_body("theta = [1, 99, true];"),
        [
            "\"99\": 99 does not fit into fix<4,4>; choose a type with more bits before the point",
            "\"true\": expected fix<4,4>, found bit; convert it with `as fix<4,4>`"
        ]
    );
}

#[test]
fn long_tokens_are_not_repeated() {
    let long = "1".repeat(5000);
    for body in [format!("theta[0] = {long};"), format!("theta[0] {long};"), format!("theta[0] = 0.{long};")]
    {
        let found = checked(&format!("{HEAD}{body}}}"), &sizes(2, 1, 4, 4)).unwrap_err();
        assert!(found.iter().all(|f| f.message.len() < 100 && f.label.len() < 100), "{found:?}");
    }
    let literal = |n| format!("theta[0] = 0 * {};", "1".repeat(n));
    assert_eq!(of_body(&literal(38)), [""; 0]);
    assert!(of_body(&literal(40))[0].ends_with("a literal of 40 digits; literals have at most 38 digits"));
}

#[test]
fn forgotten_semicolons() {
    let source = format!(
        "{HEAD}    let a: int<4> = 1 // one\n    let b: int<4> = 2\n\n    theta[0] = 1;\n    theta[1] = 2\n}}"
    );
    let found = checked(&source, &sizes(2, 1, 4, 4)).unwrap_err();
    let places: Vec<_> = found.iter().map(|f| (f.position(&source), f.message.as_str())).collect();
    assert_eq!(
        places,
        [
            ((2, 22), "expected `;`, found `let`"),
            ((3, 22), "expected `;`, found `theta`"),
            ((6, 17), "expected `;`, found `}`"),
        ]
    );
    assert_eq!(of_body("theta[0] = ); theta[1] = ); reject").len(), 3);
}

#[test]
fn columns_of_bits_and_choices() {
    let source = "learner l(x: [bit; M], y: fix<I,F>) -> theta: [fix<I,F>; 3] { }";
    assert_eq!(
        findings(source),
        [
            "\"bit\": data are numbers; write it as `fix<I,F>`, and ask for the bit by `> 0`; with --format fix:2.0 a number takes two cells"
        ]
    );
    let choice = of_body("theta[0] = true ? 1 : 2;");
    assert_eq!(choice[0], "\"?\": unexpected character `?`; choose with `if c { a } else { b }`");
}

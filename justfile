# Everyday commands. `just` lists them; every line also works when it is typed by hand.

# List the commands.
default:
    @just --list

# Build the binary as users do.
build:
    cargo build --release

# Train the perceptron on the irises: the first command of the README.
train:
    cargo run --release -- train

# Open the lab in a browser.
lab:
    cargo run --release -- lab

# Build the lab as a static site in target/site, for any web host.
site:
    site/build

# Run the tests that need nothing but Rust.
test:
    cargo test

# Run one suite, for instance: just suite engines
suite NAME *FILTER:
    cargo test --workspace --test {{NAME}} {{FILTER}}

# Format everything, then lint as CI does.
lint:
    cargo fmt --all
    cargo fmt --manifest-path fuzz/Cargo.toml
    cargo clippy --workspace --all-targets -- -D warnings

# Update the recorded terminal sessions after a change of output; read the diff before you commit it.
sessions:
    TRYCMD=overwrite cargo test -p luge-cli --test commands
    git diff --stat -- crates/luge-cli/tests/cmd

# Open the documentation of the library.
doc:
    cargo doc --open --no-deps -p luge

# Everything that must pass before a change lands.
ci:
    .ci/run

# Build the proofs.
proofs:
    .ci/proofs

# Build and test the Python wheel in a virtual environment of its own.
python:
    .ci/python

# Test the lab's page in Chromium.
browser:
    .ci/browser

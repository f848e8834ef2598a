//! The program `luge`.

fn main() -> std::process::ExitCode {
    luge_cli::main()
}

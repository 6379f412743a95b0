//! `verger completions SHELL`.

use std::io::Write;

use clap::CommandFactory;
use clap_complete::Shell;

use crate::cli::Cli;
use crate::exit::Exit;

/// Prints the script. It is built in memory first, because the generator panics where a write fails.
pub(crate) fn run(shell: Shell, out: &mut dyn Write) -> anyhow::Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "verger", &mut script);
    out.write_all(&script)?;
    Ok(Exit::Done)
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum;

    use super::*;

    #[test]
    fn every_shell_learns_every_command() {
        for shell in Shell::value_variants() {
            let mut out = Vec::new();
            run(*shell, &mut out).unwrap();
            let script = String::from_utf8(out).unwrap();
            assert!(script.contains("simulate") && script.contains("completions"), "{shell}");
        }
    }
}

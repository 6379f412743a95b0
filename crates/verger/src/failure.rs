//! How a command says that it came to nothing: what was wrong, and below it what to do.

use std::io::{self, Write};

use crate::exit::Exit;

/// Says what went wrong. A reader that has seen enough (`verger … | head`) is no failure.
pub(crate) fn report(error: &anyhow::Error, sentence: &str, advice: &[String]) -> Exit {
    if error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe) {
        return Exit::Done;
    }
    say(sentence, advice);
    error.downcast_ref::<verger_client::Error>().map_or(Exit::Failed, Exit::of)
}

/// What was wrong, and what to do. Nothing is left to be done if even this cannot be written.
pub(crate) fn say(sentence: &str, advice: &[String]) {
    let mut stderr = io::stderr().lock();
    let _ = writeln!(stderr, "error: {}", sentence.trim_end());
    for line in advice {
        let _ = writeln!(stderr, "  → {line}");
    }
}

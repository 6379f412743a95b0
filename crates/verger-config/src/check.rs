//! `verger config check`: whether a configuration is right, in words.

use crate::load::{Surroundings, read_and_load};
use crate::show::Origin;

/// The result of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// Whether the monitor would start with it; the exit code follows from it.
    pub passed: bool,
    /// What to print: all that is wrong, or one line that nothing is.
    pub text: String,
}

/// Reads and checks what the monitor would start with. Starts and writes nothing.
pub fn check(surroundings: &Surroundings) -> Report {
    let configuration = match read_and_load(surroundings) {
        Ok(configuration) => configuration,
        Err(problems) => {
            let count = match problems.count() {
                1 => "1 problem".to_owned(),
                count => format!("{count} problems"),
            };
            return Report {
                passed: false,
                text: format!("{problems}{count}; nothing was started or changed\n"),
            };
        }
    };
    let set = configuration.effective().iter().filter(|row| row.origin != Origin::Default).count();
    let file = surroundings.file().map_or("no file, which".into(), |path| path.display().to_string());
    let set = if set == 1 { "1 setting is".to_owned() } else { format!("{set} settings are") };
    let mut text = format!("{file} is fine; {set} set (`verger config show --changed`)\n");
    if !configuration.alerting.is_empty() {
        text += "note: `health_monitoring.alerting` is kept, and not used until alerts exist\n";
    }
    Report { passed: true, text }
}

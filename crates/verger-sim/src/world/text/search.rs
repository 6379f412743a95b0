//! Searching in files, with hits and without.

use std::fmt::Write as _;

use super::code::push_line;
use super::told::{Told, json};
use super::voice::{Dialect, Voice};

/// A search that finds something; one in eight finds nothing.
pub(crate) fn search(voice: &mut Voice) -> Told {
    let pattern = voice.name();
    if voice.chance(0.12) {
        return nothing(voice, &pattern);
    }
    let mut hits = String::with_capacity(300);
    for _ in 0..voice.number(1, 4) {
        let (file, number) = (voice.file(), voice.number(1, 900));
        let _ = write!(hits, "{file}:{number}:");
        push_line(voice, &mut hits);
        hits.push('\n');
    }
    let (tool, args) = ask(voice, &pattern);
    Told::new(tool, args, hits)
}

/// A search for this that finds nothing, as the tools say it.
pub(crate) fn nothing(voice: &mut Voice, pattern: &str) -> Told {
    let (tool, args) = ask(voice, pattern);
    match voice.dialect {
        Dialect::Tools => Told::barren(tool, args, "No matches found"),
        Dialect::Shell => Told::barren(tool, args, ""),
        Dialect::Editor => Told::barren(tool, args, format!("No matches found for \"{pattern}\" in /repo")),
    }
}

/// A search for a file of this name that finds none.
pub(crate) fn find(voice: &mut Voice, name: &str) -> Told {
    match voice.dialect {
        Dialect::Tools => Told::barren("Glob", json(&[("pattern", &format!("**/{name}"))]), "No files found"),
        Dialect::Shell => Told::barren("bash", format!("find . -name \"{name}\""), ""),
        Dialect::Editor => Told::barren(
            "find_file",
            format!("find_file \"{name}\""),
            format!("No matches found for \"{name}\" in /repo"),
        ),
    }
}

/// How the agent asks for this pattern.
fn ask(voice: &mut Voice, pattern: &str) -> (&'static str, String) {
    let place = voice.pick(&["src", ".", "src/api", "tests", "lib"]);
    match voice.dialect {
        Dialect::Tools => {
            ("Grep", json(&[("pattern", pattern), ("path", place), ("output_mode", "content")]))
        }
        Dialect::Shell => {
            let tool = voice.pick(&["grep -rn", "rg -n", "git grep -n", "grep -rni"]);
            ("bash", format!("{tool} \"{pattern}\" {place} | head -20"))
        }
        Dialect::Editor => ("search_dir", format!("search_dir \"{pattern}\" {place}")),
    }
}

//! Lines of code, as they stand in files, patches and hits.

use std::fmt::Write as _;

use super::voice::Voice;

/// One line of code.
pub(crate) fn line(voice: &mut Voice) -> String {
    let name = voice.name();
    match voice.number(0, 10) {
        0 => format!("    let {name} = {}({});", voice.name(), voice.noun()),
        1 => format!("    if {name}.{}() > {} {{", voice.verb(), voice.number(1, 500)),
        2 => format!("    return {}.{name}({})", voice.noun(), voice.adjective()),
        3 => format!("    // {} the {} {} before {name}", voice.verb(), voice.adjective(), voice.noun()),
        4 => format!("    self.{}.{}({name}, {})", voice.noun(), voice.verb(), voice.number(0, 64)),
        5 => format!("    {name}: {},", voice.type_name()),
        6 => format!("def {name}({}, {}):", voice.noun(), voice.noun()),
        7 => format!("    raise {}Error(\"{} {}\")", voice.type_name(), voice.noun(), voice.adjective()),
        8 => format!("    for {} in {name}:", voice.noun()),
        _ => format!("    {} = {name}[{}]", voice.noun(), voice.number(0, 9)),
    }
}

/// Some lines of code.
pub(crate) fn block(voice: &mut Voice, lines: u64) -> String {
    let mut out = String::new();
    for _ in 0..lines {
        out.push_str(&line(voice));
        out.push('\n');
    }
    out
}

/// A file that is looked at more than once, and changes only when it is changed.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    pub(crate) file: String,
    pub(crate) lines: Vec<String>,
}

impl Source {
    pub(crate) fn draw(voice: &mut Voice, lines: u64) -> Self {
        Self { file: voice.file(), lines: (0..lines).map(|_| line(voice)).collect() }
    }

    /// What an editor shows of it: the whole, with numbers.
    pub(crate) fn page(&self) -> String {
        let mut out = format!("[File: {} ({} lines total)]\n", self.file, self.lines.len());
        for (nth, line) in self.lines.iter().enumerate() {
            let _ = writeln!(out, "{}:{line}", nth + 1);
        }
        out
    }
}

//! Reading: a file, or something long page by page.

use std::fmt::Write as _;

use super::code::{block, push_line};
use super::told::{Told, json};
use super::voice::{Dialect, Voice};

/// A file of the project is read, or a part of it.
pub(crate) fn read(voice: &mut Voice) -> Told {
    let file = voice.file();
    let from = if voice.chance(0.4) { voice.number(2, 600) } else { 1 };
    part(voice, &file, from)
}

/// A part of this file, from this line on.
fn part(voice: &mut Voice, file: &str, from: u64) -> Told {
    let count = voice.number(2, 6);
    let mut page = String::with_capacity(300);
    match voice.dialect {
        Dialect::Tools => {
            for number in from..from + count {
                let _ = write!(page, "{number:>6}→");
                push_line(voice, &mut page);
                page.push('\n');
            }
            let args = if from > 1 {
                format!("{{\"file_path\":\"{file}\",\"offset\":{from},\"limit\":{count}}}")
            } else {
                json(&[("file_path", file)])
            };
            Told::new("Read", args, page)
        }
        Dialect::Shell => {
            page = block(voice, count);
            let command = if from > 1 {
                format!("sed -n '{from},{}p' {file}", from + count)
            } else {
                format!("cat {file}")
            };
            Told::new("bash", command, page)
        }
        Dialect::Editor => {
            let _ = writeln!(page, "[File: {file} ({} lines total)]", from + voice.number(count, 800));
            for number in from..from + count {
                let _ = write!(page, "{number}:");
                push_line(voice, &mut page);
                page.push('\n');
            }
            let args = if from > 1 { format!("open {file} {from}") } else { format!("open {file}") };
            Told::new("open", args, page)
        }
    }
}

/// Something long, read page by page.
#[derive(Debug)]
pub(crate) struct Pager {
    file: String,
    from: u64,
    /// The call is the same for every page.
    scrolls: bool,
}

impl Pager {
    pub(crate) fn draw(voice: &mut Voice, scrolls: bool) -> Self {
        let file = if voice.chance(0.5) {
            format!("logs/{}-{}.log", voice.noun(), voice.number(1, 400))
        } else {
            voice.file()
        };
        Self { file, from: 1, scrolls }
    }

    /// The next page.
    pub(crate) fn next(&mut self, voice: &mut Voice) -> Told {
        let page = part(voice, &self.file, self.from);
        self.from += 100;
        if self.scrolls {
            let shown = format!("[File: {} at line {}]\n{}", self.file, self.from, page.result);
            return Told::new("scroll_down", String::new(), shown);
        }
        page
    }
}

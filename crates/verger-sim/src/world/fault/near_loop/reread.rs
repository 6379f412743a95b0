//! A short file is gone through line by line, and the same page is shown each time.

use crate::world::text::{Dialect, Source, Told, Voice};

/// The file.
#[derive(Debug)]
pub(super) struct Reread {
    source: Source,
}

impl Reread {
    pub(super) fn draw(voice: &mut Voice) -> Self {
        let lines = voice.number(6, 15);
        Self { source: Source::draw(voice, lines) }
    }

    pub(super) fn next(&self, voice: &mut Voice) -> Told {
        let Source { file, lines } = &self.source;
        let (count, line) = (lines.len() as u64, voice.number(1, 90));
        match voice.dialect {
            Dialect::Tools => {
                let args = format!("{{\"file_path\":\"{file}\",\"offset\":1,\"limit\":{}}}", count + line);
                Told::new("Read", args, self.source.page())
            }
            Dialect::Shell => {
                Told::new("bash", format!("head -n {} {file}", count + line), self.source.page())
            }
            Dialect::Editor => Told::new("goto", format!("goto {}", line % count + 1), self.source.page()),
        }
    }
}

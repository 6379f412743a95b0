//! The same edit is applied again: the file only grows, and what is shown of it differs by that alone.

use crate::world::text::{self, Source, Told, Voice};

/// An edit that is applied again.
#[derive(Debug)]
pub(super) struct Reapply {
    source: Source,
    at: usize,
    new: String,
    /// Lines of the file that are not shown.
    beyond: usize,
}

impl Reapply {
    pub(super) fn draw(voice: &mut Voice) -> Self {
        let lines = voice.number(2, 5);
        let new = text::block(voice, lines);
        let mut source = Source::draw(voice, 5);
        // What is shown is where the edit was made: it stands there, and once more below.
        source.lines.extend(new.lines().chain(new.lines()).map(str::to_owned));
        Self { source, at: 5, new, beyond: voice.number(20, 400) as usize }
    }

    pub(super) fn next(&mut self, voice: &mut Voice) -> Told {
        self.beyond += self.new.lines().count();
        let told = text::shown(voice, &self.source, self.at, &self.new);
        let result = format!("{}({} more lines below)", told.result, self.beyond);
        Told { result, ..told }
    }
}

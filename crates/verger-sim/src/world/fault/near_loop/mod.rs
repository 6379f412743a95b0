//! The same attempt in ever different words: something differs each time, and nothing is learned.
//!
//! Of 38 runs that people labelled resource abuse, repetition rules find 9; the other 29 are of this kind. Most
//! recorded agents that were stuck never made the same call three times in a row. What they did is written here, one
//! manner a file: searches in other words, names of files that were made up, the same refusal whatever is tried, an
//! edit applied again, cosmetic changes before the same failing test, laps of several steps, a page shown again, prose
//! sent to a shell, talk that goes in circles.

mod dialogue;
mod files;
mod lap;
mod monologue;
mod reapply;
mod refusal;
mod reread;
mod search;
mod setup;
mod tweak;

#[cfg(test)]
mod tests;

use verger_core::signal::Author;

use crate::world::agent::Kit;
use crate::world::text::{Told, Voice};

/// Something that is tried for ever.
#[derive(Debug)]
pub(crate) struct NearLoop {
    manner: Option<Manner>,
}

/// How it goes round.
#[derive(Debug)]
enum Manner {
    Search(search::Search),
    Files(files::Files),
    Setup(setup::Setup),
    Refusal(refusal::Refusal),
    Reapply(reapply::Reapply),
    Tweak(tweak::Tweak),
    Lap(lap::Lap),
    Reread(reread::Reread),
    Monologue(monologue::Monologue),
    Dialogue(dialogue::Dialogue),
}

/// What happens in one round: words before the call, if there are any, and the call.
#[derive(Debug)]
struct Round {
    said: Vec<(Author, String)>,
    told: Told,
}

impl From<Told> for Round {
    fn from(told: Told) -> Self {
        Self { said: Vec::new(), told }
    }
}

impl NearLoop {
    pub(crate) const fn new() -> Self {
        Self { manner: None }
    }

    pub(crate) fn round(&mut self, kit: &mut Kit<'_>) -> bool {
        kit.think();
        let talks = kit.talks;
        let manner = self.manner.get_or_insert_with(|| Manner::draw(kit.voice, talks));
        let Round { said, told } = manner.next(kit.voice);
        for (author, text) in said {
            kit.say(author, text);
            // Whoever is spoken to takes some seconds.
            kit.wait(4_000);
        }
        kit.call(told);
        true
    }
}

impl Manner {
    /// As often as each was recorded, more or less. Talk can go in circles only where it is heard.
    fn draw(voice: &mut Voice, talks: bool) -> Self {
        let dialogue = if talks { 8 } else { 0 };
        match voice.rng.weighted(&[22, 10, 12, 10, 10, 10, 12, 6, 8, dialogue]) {
            0 => Self::Search(search::Search::draw(voice)),
            1 => Self::Files(files::Files::draw(voice)),
            2 => Self::Setup(setup::Setup::draw(voice)),
            3 => Self::Refusal(refusal::Refusal::draw(voice)),
            4 => Self::Reapply(reapply::Reapply::draw(voice)),
            5 => Self::Tweak(tweak::Tweak::draw(voice)),
            6 => Self::Lap(lap::Lap::draw(voice)),
            7 => Self::Reread(reread::Reread::draw(voice)),
            8 => Self::Monologue(monologue::Monologue::draw(voice)),
            _ => Self::Dialogue(dialogue::Dialogue::draw(voice)),
        }
    }

    fn next(&mut self, voice: &mut Voice) -> Round {
        match self {
            Self::Search(search) => search.next(voice).into(),
            Self::Files(files) => files.next(voice).into(),
            Self::Setup(setup) => setup.next(voice).into(),
            Self::Refusal(refusal) => refusal.next(voice).into(),
            Self::Reapply(reapply) => reapply.next(voice).into(),
            Self::Tweak(tweak) => tweak.next(voice).into(),
            Self::Lap(lap) => lap.next(voice).into(),
            Self::Reread(reread) => reread.next(voice).into(),
            Self::Monologue(monologue) => monologue.next(voice).into(),
            Self::Dialogue(dialogue) => dialogue.next(voice),
        }
    }
}

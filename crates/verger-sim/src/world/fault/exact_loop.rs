//! The same call with the same result, for ever.
//!
//! Recorded: 53 identical calls in a run of a hundred, 517 identical shell reads with exit code 0, 1,794
//! identical `Glob` calls in one sub-agent. Of streaks that reach ten, all go on to the end.

use std::sync::Arc;

use verger_core::signal::Author;

use crate::rng::Rng;
use crate::world::agent::Kit;
use crate::world::text::{self, Told, Voice};

/// How the words around the call begin, where they differ each time.
const AGAIN: [&str; 5] = [
    "Let me look at this once more.",
    "I want to be sure about it.",
    "First I need to see what is there.",
    "Let me check again.",
    "One moment, I look it up.",
];

/// One call and its result.
#[derive(Debug)]
pub(crate) struct ExactLoop {
    kind: usize,
    call: Option<Arc<Told>>,
    /// Whether the words around the call differ each time, as they did in 9 of 57 recorded loops.
    talks: bool,
    /// How often it was called.
    count: u64,
}

impl ExactLoop {
    pub(crate) fn draw(rng: &mut Rng) -> Self {
        let kind = rng.range(0, 4) as usize;
        let _ = rng.bits();
        Self { kind, call: None, talks: rng.chance(0.4), count: 0 }
    }

    pub(crate) fn round(&mut self, kit: &mut Kit<'_>) -> bool {
        kit.think();
        if self.talks {
            let text = format!("{} {}", kit.voice.pick(&AGAIN), text::next(kit.voice));
            kit.say(Author::Agent, text);
        }
        self.count += 1;
        let call = self.call.get_or_insert_with(|| Arc::new(call(kit.voice, self.kind)));
        // 7 of 57 recorded loops had a counter in what they were answered.
        if let Some(before) = call.result.strip_suffix("#") {
            let result = format!("{before}{}", 11_300 + self.count);
            kit.call(Told { result, ..Told::clone(call) });
        } else {
            let call = Arc::clone(call);
            kit.call(call);
        }
        true
    }
}

/// What is called over and over. Where the answer ends in `#`, a counter takes its place.
fn call(voice: &mut Voice, kind: usize) -> Told {
    let name = voice.name();
    match kind {
        0 => text::find(voice, &format!("{name}.{}", voice.ending)),
        1 => text::read(voice),
        2 if voice.chance(0.5) => {
            let printed = format!("0 {}s, line #", voice.noun());
            voice.run(&format!("./scripts/{name} --list"), printed)
        }
        2 => {
            let notes = format!("# Notes on {name}\n\n- {}\n", text::next(voice));
            voice.run("cat notes.md", notes)
        }
        _ => text::nothing(voice, &name),
    }
}

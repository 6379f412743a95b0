//! Two calls in turn, A B A B, each with its own unchanging result.
//!
//! 10 of 57 recorded loops were cycles of several calls; ping-pong is the miss most often reported of
//! detectors that count consecutive repeats.

use std::sync::Arc;

use crate::rng::Rng;
use crate::world::agent::Kit;
use crate::world::text::{self, Dialect, Source, Told, Voice, json};

/// Two calls and whose turn it is.
#[derive(Debug)]
pub(crate) struct Alternation {
    /// Whether the second undoes the first.
    undoes: bool,
    calls: Option<[Arc<Told>; 2]>,
    turn: usize,
}

impl Alternation {
    pub(crate) fn draw(rng: &mut Rng) -> Self {
        let _ = rng.bits();
        Self { undoes: rng.chance(0.5), calls: None, turn: 0 }
    }

    pub(crate) fn round(&mut self, kit: &mut Kit<'_>) -> bool {
        kit.think();
        let calls = self.calls.get_or_insert_with(|| calls(kit.voice, self.undoes).map(Arc::new));
        let told = Arc::clone(&calls[self.turn]);
        kit.call(told);
        self.turn = 1 - self.turn;
        true
    }
}

fn calls(voice: &mut Voice, undoes: bool) -> [Told; 2] {
    let source = Source::draw(voice, 6);
    let name = voice.name();
    let switch = |from: &str, to: &str| match voice.dialect {
        Dialect::Tools => Told::new(
            "Edit",
            json(&[
                ("file_path", &source.file),
                ("old_string", &format!("{name}: {from}")),
                ("new_string", &format!("{name}: {to}")),
            ]),
            format!("The file {} has been updated successfully.", source.file),
        ),
        Dialect::Shell | Dialect::Editor => {
            voice.run(&format!("sed -i 's/{name}: {from}/{name}: {to}/' {}", source.file), "")
        }
    };
    if undoes {
        return [switch("true", "false"), switch("false", "true")];
    }
    let first = switch("true", "false");
    if voice.chance(0.5) {
        let complaint = format!("{}: 1 check failed: {name} is {}", source.file, voice.adjective());
        return [first, voice.run_in_vain(&format!("make check-{name}"), &complaint)];
    }
    // The same file is opened, and the same word is searched for.
    let open = voice.run(&format!("cat -n {}", source.file), source.page());
    [open, text::nothing(voice, &name)]
}

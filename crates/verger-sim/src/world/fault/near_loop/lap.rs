//! Laps of four to eight steps, now and then one left out or asked a little differently; all is as it was.

use crate::world::text::{self, Told, Voice};

/// The steps of a lap.
#[derive(Debug)]
pub(super) struct Lap {
    steps: Vec<Told>,
    at: usize,
}

impl Lap {
    pub(super) fn draw(voice: &mut Voice) -> Self {
        let steps = (0..voice.number(4, 9))
            .map(|_| match voice.number(0, 6) {
                0 | 1 => text::read(voice),
                2 => text::search(voice),
                3 => text::command(voice),
                4 => {
                    let name = voice.file();
                    text::find(voice, &name)
                }
                _ => {
                    let file = voice.file();
                    voice.run(&format!("ls {file}"), format!("{file} already exists"))
                }
            })
            .collect();
        Self { steps, at: 0 }
    }

    pub(super) fn next(&mut self, voice: &mut Voice) -> Told {
        if voice.chance(0.08) {
            self.at += 1;
        }
        let told = self.steps[self.at % self.steps.len()].clone();
        self.at += 1;
        if told.args.starts_with('{') || !voice.chance(0.15) {
            return told;
        }
        let args = format!("{} {}", told.args, voice.pick(&["2>&1", "| cat", "# again", "| head -100"]));
        Told { args, ..told }
    }
}

//! Prose is sent to a shell, which cannot make anything of it.

use crate::world::text::{Told, Voice};

/// What it talks about.
#[derive(Debug)]
pub(super) struct Monologue {
    subject: &'static str,
    counter: u64,
    flagged: bool,
}

impl Monologue {
    pub(super) fn draw(voice: &mut Voice) -> Self {
        Self { subject: voice.noun(), counter: voice.number(20, 30_000), flagged: voice.chance(0.5) }
    }

    pub(super) fn next(&mut self, voice: &mut Voice) -> Told {
        self.counter += voice.number(3, 30);
        let subject = self.subject;
        let text = match voice.number(0, 6) {
            0 => format!(
                "There seems to be a problem with the {subject}. I will try to list the files once more."
            ),
            1 => format!(
                "The {subject} is still not there. Let me check the command and try it without options."
            ),
            2 => format!(
                "We keep getting an error about the {subject}. First I will look at the current folder."
            ),
            3 => format!("It is possible that the {subject} is in another place. I will look for it again."),
            4 => format!("Let us step back and think about the {subject} before the next command."),
            _ => format!("I apologise for the confusion about the {subject}. I will now open the file."),
        };
        let word = text.split_whitespace().next().unwrap_or_default();
        let complaint = format!("/bin/bash: line {}: {word}: command not found", self.counter);
        if self.flagged { voice.run_in_vain(&text, &complaint) } else { voice.run(&text, complaint) }
    }
}

//! Files are looked for whose names were made up.

use crate::world::text::{self, Told, Voice};

/// What they are thought to be about.
#[derive(Debug)]
pub(super) struct Files {
    subject: &'static str,
}

impl Files {
    pub(super) fn draw(voice: &mut Voice) -> Self {
        Self { subject: voice.noun() }
    }

    pub(super) fn next(&self, voice: &mut Voice) -> Told {
        let (subject, ending) = (self.subject, voice.ending);
        let name = match voice.number(0, 6) {
            0 => format!("{}_{subject}.{ending}", voice.adjective()),
            1 => format!("{subject}_{}.{ending}", voice.noun()),
            2 => format!("{subject}-{}.md", voice.noun()),
            3 => format!("{}{}Test.{ending}", voice.type_name(), subject),
            4 => format!("*{subject}*{}*", voice.noun()),
            _ => format!("{}_{subject}_{}.yaml", voice.verb(), voice.adjective()),
        };
        text::find(voice, &name)
    }
}

//! One function is written again with other names and comments, and the same test fails in the same way.

use crate::world::text::{self, Dialect, Suite, Told, Voice, json};

/// A function that is written again and again.
#[derive(Debug)]
pub(super) struct Tweak {
    file: String,
    name: String,
    body: String,
    suite: Suite,
    failing: u32,
    /// Whether the tests are next.
    tests: bool,
}

impl Tweak {
    pub(super) fn draw(voice: &mut Voice) -> Self {
        let failing = voice.number(1, 4) as u32;
        Self {
            file: voice.file(),
            name: voice.name(),
            body: text::block(voice, 4),
            suite: Suite::draw(voice, failing),
            failing,
            tests: false,
        }
    }

    pub(super) fn next(&mut self, voice: &mut Voice) -> Told {
        if std::mem::replace(&mut self.tests, true) {
            self.tests = false;
            return self.suite.run(voice, 12, self.failing);
        }
        let new = format!(
            "def {}({}):\n    # {} {}\n{}",
            self.name,
            voice.noun(),
            voice.verb(),
            voice.noun(),
            self.body
        );
        match voice.dialect {
            Dialect::Tools => Told::new(
                "Edit",
                json(&[
                    ("file_path", &self.file),
                    ("old_string", &format!("def {}", self.name)),
                    ("new_string", &new),
                ]),
                format!("The file {} has been updated successfully.", self.file),
            ),
            Dialect::Shell => Told::new("bash", format!("cat > {} <<'EOF'\n{new}EOF", self.file), ""),
            Dialect::Editor => {
                let page = format!("[File: {} (9 lines total)]\n{new}", self.file);
                Told::new("edit", format!("edit 1:9\n{new}end_of_edit"), page)
            }
        }
    }
}

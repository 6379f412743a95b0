//! Every call fails in the same way, and the agent tries again.
//!
//! Recorded: `javac: not found` twenty times in a run that had already written the right fix. Half of the
//! loops here repeat the call to the letter, half vary its arguments; what fails is the same.

use verger_core::fingerprint::TextPrint;
use verger_core::signal::{Body, Failure};

use crate::rng::Rng;
use crate::world::agent::Kit;
use crate::world::text::{Dialect, Told, Voice, json, line};

/// What fails.
const COMPLAINTS: [&str; 4] = [
    "javac: command not found",
    "EACCES: permission denied, mkdir '/opt/build'",
    "error: linker `cc` not found",
    "String to replace not found in file",
];

/// One failure over and over.
#[derive(Debug)]
pub(crate) struct ErrorLoop {
    kind: usize,
    /// What it is about, and the call to the letter.
    first: Option<(String, Told)>,
    varies: bool,
}

impl ErrorLoop {
    pub(crate) fn draw(rng: &mut Rng) -> Self {
        let kind = rng.range(0, COMPLAINTS.len() as u64) as usize;
        let _ = rng.bits();
        Self { kind, first: None, varies: rng.chance(0.5) }
    }

    pub(crate) fn round(&mut self, kit: &mut Kit<'_>) -> bool {
        kit.think();
        let (kind, voice) = (self.kind, &mut *kit.voice);
        let (subject, first) = self.first.get_or_insert_with(|| {
            let subject = voice.type_name();
            let told = attempt(voice, kind, &subject);
            (subject, told)
        });
        let told = if self.varies { attempt(voice, kind, subject) } else { first.clone() };
        if self.varies {
            kit.fresh();
        }
        kit.call(told);
        if kit.rng.chance(0.3) {
            let text = TextPrint::of(COMPLAINTS[kind]);
            kit.send(Body::Error(Failure { text, unrecoverable: false, provider: false, retry_after: None }));
        }
        true
    }
}

/// One more attempt, in other words.
fn attempt(voice: &mut Voice, kind: usize, subject: &str) -> Told {
    let (flag, number) = (voice.adjective(), voice.number(1, 9));
    let command = match kind {
        0 => match voice.number(0, 4) {
            0 => format!("javac -d out/{flag} {subject}.java"),
            1 => format!("javac -cp lib/{flag}.jar:. {subject}.java && java {subject}"),
            2 => format!("cd src/{flag} && javac {subject}.java"),
            _ => format!("javac -source {number} -Xlint:{flag} {subject}.java"),
        },
        1 => match voice.number(0, 3) {
            0 => format!("npm run build -- --{flag}"),
            1 => format!("npm install --prefix ./{flag} && npm run build"),
            _ => format!("node scripts/build.js --target {subject} -j{number}"),
        },
        2 => match voice.number(0, 3) {
            0 => format!("cargo build --features {flag}"),
            1 => format!("RUSTFLAGS='-C opt-level={number}' cargo build -p {subject}"),
            _ => format!("cargo clean && cargo build --bin {flag}"),
        },
        _ => {
            let (old, new) = (format!("{}class {subject} {{", " ".repeat(number as usize)), line(voice));
            return match voice.dialect {
                Dialect::Tools => {
                    let args =
                        json(&[("file_path", "src/main.java"), ("old_string", &old), ("new_string", &new)]);
                    Told::failed("Edit", args, COMPLAINTS[kind])
                }
                Dialect::Shell | Dialect::Editor => {
                    voice.run_in_vain(&format!("replace src/main.java '{old}' '{new}'"), COMPLAINTS[kind])
                }
            };
        }
    };
    // The shell counts its lines.
    let counter =
        if kind == 0 { format!("/bin/bash: line {}: ", voice.number(20, 40_000)) } else { String::new() };
    voice.run_in_vain(&command, &format!("{counter}{}", COMPLAINTS[kind]))
}

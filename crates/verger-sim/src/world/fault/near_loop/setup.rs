//! Something has to be installed first, and whatever is tried ends in the same error.

use std::fmt::Write as _;

use crate::world::text::{Told, Voice};

/// What every attempt ends in.
const ERRORS: [&str; 4] = [
    "E: Unable to correct problems, you have held broken packages.",
    "configure: error: OpenSSL library not found, install it or use --without-ssl",
    "ERROR: Could not find a version that satisfies the requirement",
    "The JAVA_HOME environment variable is not defined correctly, this environment variable is needed to run this program.",
];

/// What is to be installed.
#[derive(Debug)]
pub(super) struct Setup {
    package: String,
    error: &'static str,
    /// Whether the sender says that a command failed.
    flagged: bool,
}

impl Setup {
    pub(super) fn draw(voice: &mut Voice) -> Self {
        Self {
            package: format!("{}-{}", voice.noun(), voice.noun()),
            error: voice.pick(&ERRORS),
            flagged: voice.chance(0.6),
        }
    }

    pub(super) fn next(&self, voice: &mut Voice) -> Told {
        let (package, other) = (&self.package, voice.adjective());
        let command = match voice.number(0, 8) {
            0 => format!("sudo apt-get install -y {package}"),
            1 => format!("sudo apt-get update && sudo apt-get install {package}-{other}"),
            2 => format!("pip install {package}=={}.{}", voice.number(0, 5), voice.number(0, 20)),
            3 => format!("./configure --prefix=/opt/{other} --with-{package} && make"),
            4 => format!("sudo apt-get -f install && sudo apt-get install -y lib{package}"),
            5 => format!("export {}_HOME=/usr/lib/{other} && ./mvnw -q package", voice.noun().to_uppercase()),
            6 => format!("cd /tmp && ./configure --{other} && sudo make install"),
            _ => format!("pip install --{other} {package}"),
        };
        let mut out = String::new();
        for _ in 0..voice.number(0, 3) {
            let step = voice.pick(&[
                "Reading package lists...",
                "Building dependency tree...",
                "checking for gcc... gcc",
                "Reading state information...",
            ]);
            let _ = writeln!(out, "{step}");
        }
        out.push_str(self.error);
        if self.flagged { voice.run_in_vain(&command, &out) } else { voice.run(&command, out) }
    }
}

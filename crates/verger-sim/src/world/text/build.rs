//! A long build, and the end of its log.

use std::fmt::Write as _;

use super::told::Told;
use super::voice::Voice;

/// A build of everything.
pub(crate) fn build(voice: &mut Voice, failed: bool) -> Told {
    let command = match voice.ending {
        "rs" => "cargo build --release --workspace",
        "py" => "python -m build && docker build -t app .",
        "ts" => "npm ci && npm run build",
        "go" => "go build ./... && make image",
        _ => "mvn -q package -DskipTests",
    };
    let mut log = String::new();
    for _ in 0..voice.number(2, 6) {
        let _ = writeln!(
            log,
            "   Compiling {}-{} v0.{}.{}",
            voice.noun(),
            voice.noun(),
            voice.number(0, 30),
            voice.number(0, 20)
        );
    }
    if failed {
        let (file, number) = (voice.file(), voice.number(1, 900));
        let _ = writeln!(
            log,
            "error: cannot find `{}` in this scope\n --> {file}:{number}:9\nerror: build failed",
            voice.name()
        );
        return voice.run_in_vain(command, &log);
    }
    let _ = writeln!(
        log,
        "    Finished in {}m {:02}s, {} units",
        voice.number(2, 60),
        voice.number(0, 60),
        voice.number(20, 400)
    );
    voice.run(command, log)
}

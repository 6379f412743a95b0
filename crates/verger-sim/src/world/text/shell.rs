//! Ordinary commands that look around: what changed, who did it, what is there, what the data says.

use std::fmt::Write as _;

use super::code::line;
use super::told::Told;
use super::voice::Voice;

/// A command that shows something.
pub(crate) fn command(voice: &mut Voice) -> Told {
    match voice.number(0, 5) {
        0 => diff(voice),
        1 => log(voice),
        2 => list(voice),
        3 => query(voice),
        _ => script(voice),
    }
}

fn diff(voice: &mut Voice) -> Told {
    let file = voice.file();
    let mut out = format!("diff --git a/{file} b/{file}\n@@ -{0},4 +{0},5 @@\n", voice.number(1, 400));
    for _ in 0..voice.number(1, 4) {
        let sign = voice.pick(&["+", "-", " "]);
        let _ = writeln!(out, "{sign}{}", line(voice));
    }
    voice.run(&format!("git diff {file}"), out)
}

fn log(voice: &mut Voice) -> Told {
    let file = voice.file();
    let mut out = String::new();
    for _ in 0..voice.number(1, 4) {
        let hash = voice.rng.bits() >> 36;
        let _ = writeln!(
            out,
            "{hash:07x} {}: {} {} {}",
            voice.noun(),
            voice.verb(),
            voice.adjective(),
            voice.noun()
        );
    }
    voice.run(&format!("git log --oneline -5 -- {file}"), out)
}

fn list(voice: &mut Voice) -> Told {
    let file = voice.file();
    let folder = file.rsplit_once('/').map_or("src", |(folder, _)| folder);
    let mut out = String::new();
    for _ in 0..voice.number(2, 6) {
        let _ = writeln!(
            out,
            "-rw-r--r-- 1 dev dev {:>6} {}_{}.{}",
            voice.number(200, 90_000),
            voice.noun(),
            voice.noun(),
            voice.ending
        );
    }
    let inner = voice.noun();
    voice.run(&format!("ls -la {folder}/{inner}"), out)
}

fn query(voice: &mut Voice) -> Told {
    let (table, column) = (voice.noun(), voice.name());
    let mut out = format!(" id | {column}\n----+------\n");
    for _ in 0..voice.number(1, 4) {
        let _ = writeln!(out, " {} | {}", voice.number(1, 90_000), voice.name());
    }
    let limit = voice.number(3, 40);
    voice.run(&format!("psql -c 'select id, {column} from {table}s limit {limit}'"), out)
}

fn script(voice: &mut Voice) -> Told {
    let (name, what) = (voice.name(), voice.noun());
    let out = format!(
        "{} {what}s read, {} {}, {} left\n{}: {}.{}\n",
        voice.number(1, 9_000),
        voice.number(1, 900),
        voice.pick(&["changed", "skipped", "written", "matched", "dropped"]),
        voice.number(1, 90),
        voice.name(),
        voice.number(0, 99),
        voice.number(0, 99),
    );
    let of = voice.name();
    voice.run(&format!("./scripts/{name} --{what} {of}"), out)
}

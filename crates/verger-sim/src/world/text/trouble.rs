//! Ordinary failures: each says what was wrong with what was asked.

use super::told::{Told, json};
use super::voice::{Dialect, Voice};

/// How many kinds of ordinary failures there are.
pub(crate) const KINDS: u64 = 12;

/// A call that fails in this way.
pub(crate) fn trouble(voice: &mut Voice, kind: u64) -> Told {
    let (name, file, number) = (voice.name(), voice.file(), voice.number(2, 700));
    let (command, complaint) = match kind % KINDS {
        0 => (format!("cat {file}"), format!("cat: {file}: No such file or directory")),
        1 => (
            format!("make {name}"),
            format!(
                "error: mismatched types\n  --> {file}:{number}:17\n expected `{}`, found `{}`",
                voice.type_name(),
                voice.type_name()
            ),
        ),
        2 => (
            format!("git show {name}~{}", number % 9),
            format!("fatal: ambiguous argument '{name}': unknown revision or path not in the working tree."),
        ),
        3 => (
            format!("python3 scripts/{name}.py"),
            format!(
                "Traceback (most recent call last):\n  File \"{file}\", line {number}, in {name}\nKeyError: '{}'",
                voice.name()
            ),
        ),
        4 => (format!("./tools/{name}"), format!("bash: ./tools/{name}: Permission denied")),
        5 => return unmatched(voice, &file),
        6 => (
            format!("node scripts/{name}.js"),
            format!("TypeError: {}.{name} is not a function\n    at {file}:{number}", voice.noun()),
        ),
        7 => (format!("npm run {name}"), format!("npm error Missing script: \"{name}\"")),
        8 => (
            format!("psql -c 'select * from {name}'"),
            format!("ERROR:  relation \"{name}\" does not exist\nLINE 1: select * from {name}"),
        ),
        9 => (
            format!("./bin/{} --{name} {number}", voice.noun()),
            format!(
                "error: unexpected argument '--{name}' found\n\nUsage: {} [OPTIONS] <{}>",
                voice.noun(),
                voice.noun()
            ),
        ),
        10 => (
            format!("curl -fsS https://docs.internal/{name}"),
            format!("curl: (22) The requested URL returned error: 404 for /{name}"),
        ),
        _ => (
            format!("pytest {file} -k {name}"),
            format!(
                "E   AssertionError: {} != {}\n{file}:{number}: in {name}\n1 failed",
                voice.number(0, 99),
                voice.number(100, 199)
            ),
        ),
    };
    voice.run_in_vain(&command, &complaint)
}

/// An edit of lines that are not there as remembered.
fn unmatched(voice: &mut Voice, file: &str) -> Told {
    let (old, new) = (super::code::line(voice), super::code::line(voice));
    match voice.dialect {
        Dialect::Tools => Told::failed(
            "Edit",
            json(&[("file_path", file), ("old_string", &old), ("new_string", &new)]),
            format!("String to replace not found in file.\nString: {old}"),
        ),
        Dialect::Shell | Dialect::Editor => {
            let patch = format!("patch -p1 <<'EOF'\n--- a/{file}\n-{old}\n+{new}\nEOF");
            let complaint = format!("patching file {file}\nHunk #1 FAILED at {}.", voice.name());
            voice.run_in_vain(&patch, &complaint)
        }
    }
}

/// A call to a service that is down for now.
pub(crate) fn outage(voice: &mut Voice) -> Told {
    let url = format!("https://api.internal/v1/{}/{}", voice.noun(), voice.number(1, 90_000));
    let refusal = voice.pick(&[
        "HTTP 503 Service Unavailable",
        "Request failed with status code 429: Too Many Requests",
        "HTTP 502 Bad Gateway",
        "503 Service Unavailable: upstream connect error",
    ]);
    match voice.dialect {
        Dialect::Tools => {
            Told::failed("WebFetch", json(&[("url", &url), ("prompt", "What does it say?")]), refusal)
        }
        Dialect::Shell | Dialect::Editor => voice.run_in_vain(&format!("curl -fsS {url}"), refusal),
    }
}

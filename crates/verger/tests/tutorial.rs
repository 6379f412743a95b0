//! What the README, the how-tos and the runbooks tell people to type is typed, against the real program.
//!
//! A page is one session. Marks in comments say what becomes of the block of code below them:
//!
//! ```text
//! <!-- run -->            typed in a shell, one block after the other; what fails fails the test
//! <!-- before -->         the same, before the monitor is started
//! <!-- file: NAME -->     written to a file of that name in the session's folder
//! <!-- config -->         the monitor's configuration
//! <!-- config: PATH -->   the monitor's configuration is this file of the project
//! ```
//!
//! Only the port and the folders are others here than on the page.

mod support;

#[path = "support/monitor.rs"]
mod monitor;

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;

use monitor::{Monitor, clean};
use tempfile::TempDir;

/// Where every page finds the monitor.
const USUAL: &str = "127.0.0.1:8374";
/// Where pages let a program of their own listen.
const OWN_PORT: &str = "18899";

#[test]
fn a_new_user_sees_an_agent_get_stuck_reminded_and_asked_about() {
    let said = typed(&support::root().join("README.md")).expect("it is a session");
    for expected in [
        r#""accepted":1"#,
        r#""kind":"nudge""#,
        "hello is STUCK, for",
        "HEALTHY → DEGRADED",
        "DEGRADED → STUCK",
        "the reminder reached it",
        "People were asked what to do, and have not answered.",
        "verger decide hello allow-more-time",
        "admin decided: allow-more-time: it reads a long log",
    ] {
        assert!(said.contains(expected), "the session never shows {expected}:\n{said}");
    }
}

#[test]
fn what_the_book_tells_to_type_works() {
    let book = support::root().join("docs/src");
    let pages =
        ["how-to", "runbooks"].into_iter().flat_map(|folder| support::files(&book.join(folder), ".md"));
    // Each page has a monitor of its own, so they do not disturb each other.
    let sessions: Vec<_> = pages.map(|page| std::thread::spawn(move || typed(&page).is_some())).collect();
    let typed: Vec<bool> =
        sessions.into_iter().map(|session| session.join().expect("the session works")).collect();
    assert!(
        10 <= typed.iter().filter(|was_typed| **was_typed).count(),
        "most pages hold a session: {typed:?}"
    );
}

/// What a page's session prints; nothing if it is none.
fn typed(page: &Path) -> Option<String> {
    let text = fs::read_to_string(page).expect("a readable page");
    let session = Session::of(&text.replace(OWN_PORT, &free_port()));
    if session.script.is_empty() {
        return None;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().join("data");
    let config = session.lay_out(&folder);
    shell(&session.before, folder.path(), &data, page);
    let monitor = Monitor::start(folder.path(), &data, config.as_deref());
    for (name, content) in &session.files {
        fs::write(folder.path().join(name), content.replace(USUAL, &monitor.address))
            .expect("a writable folder");
    }
    let program = Path::new(env!("CARGO_BIN_EXE_verger")).parent().expect("its folder");
    let script = session
        .script
        .replace(USUAL, &monitor.address)
        .replace("$PWD/target/release", &program.display().to_string())
        .replace("$PWD/verger-data", &data.display().to_string());
    Some(shell(&script, folder.path(), &data, page))
}

/// A port at which nobody listens.
fn free_port() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("there are ports");
    listener.local_addr().expect("it has an address").port().to_string()
}

/// What is printed when this is typed here.
fn shell(script: &str, folder: &Path, data: &Path, page: &Path) -> String {
    let program = Path::new(env!("CARGO_BIN_EXE_verger")).parent().expect("its folder");
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap_or_default());
    let run = clean(Command::new("bash"))
        .args(["-eu", "-o", "pipefail", "-c", script])
        .env("PATH", path)
        .env("VERGER_DATA_DIR", data)
        .current_dir(folder)
        .output()
        .expect("a shell");
    let said = String::from_utf8_lossy(&run.stdout).into_owned();
    let failed = String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success(), "{} does not work:\n{said}\n{failed}", page.display());
    said
}

/// What a page tells to do.
#[derive(Debug, Default, PartialEq, Eq)]
struct Session {
    /// All that is typed before the monitor is started,
    before: String,
    /// and after.
    script: String,
    /// Names and contents.
    files: Vec<(String, String)>,
    config: Option<Config>,
}

#[derive(Debug, PartialEq, Eq)]
enum Config {
    /// As the page shows it.
    Shown(String),
    /// A file of the project.
    File(String),
}

impl Session {
    fn of(page: &str) -> Self {
        let mut session = Self::default();
        for part in page.split("<!-- ").skip(1) {
            let Some((mark, rest)) = part.split_once(" -->") else { continue };
            if let Some(path) = mark.strip_prefix("config: ") {
                session.config = Some(Config::File(path.to_owned()));
                continue;
            }
            let is_known = matches!(mark, "run" | "before" | "config") || mark.starts_with("file: ");
            let Some(code) = is_known.then(|| block(rest, mark)) else { continue };
            match mark.strip_prefix("file: ") {
                Some(name) => session.files.push((name.to_owned(), code)),
                None if mark == "config" => session.config = Some(Config::Shown(code)),
                None if mark == "before" => session.before += &code,
                None => session.script += &code,
            }
        }
        session
    }

    /// Writes the configuration, and says where it is.
    fn lay_out(&self, folder: &TempDir) -> Option<PathBuf> {
        Some(match self.config.as_ref()? {
            Config::File(path) => support::root().join(path),
            Config::Shown(text) => {
                let path = folder.path().join("verger.yaml");
                fs::write(&path, text).expect("a writable folder");
                path
            }
        })
    }
}

/// The block of code right below a mark.
fn block(rest: &str, mark: &str) -> String {
    let fenced = rest.trim_start().strip_prefix("```").and_then(|rest| rest.split_once('\n'));
    let code = fenced.and_then(|(_, code)| code.split_once("\n```"));
    format!("{}\n", code.unwrap_or_else(|| panic!("no block of code stands below {mark}")).0)
}

/// The reading of pages is held against a page.
#[test]
fn marks_say_what_becomes_of_the_block_below() {
    let page = "# T\n<!-- config -->\n```yaml\na: 1\n```\ntext\n<!-- run -->\n```sh\none\ntwo\n```\n```sh\nno\n```\n\
                <!-- file: x.py -->\n```python\nprint()\n```\n<!-- run -->\n```sh\nthree\n```\n<!-- other -->\n";
    let session = Session::of(page);
    assert_eq!(session.script, "one\ntwo\nthree\n");
    assert_eq!(session.files, [("x.py".to_owned(), "print()\n".to_owned())]);
    assert_eq!(session.config, Some(Config::Shown("a: 1\n".to_owned())));
    assert_eq!(Session::of("<!-- config: a/b.yaml -->").config, Some(Config::File("a/b.yaml".to_owned())));
}

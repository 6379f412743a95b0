//! The README's lines are typed as a new user types them, against the real program under the settings that it names.
//!
//! Blocks of shell that follow `<!-- tutorial -->` are one session. Only the port and the folders are others here.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

const MARKER: &str = "<!-- tutorial -->\n```sh\n";

#[test]
fn a_new_user_sees_an_agent_get_stuck_reminded_and_asked_about() {
    let root = root();
    let folder = tempfile::tempdir().expect("a folder");
    let monitor = Monitor::start(&root.join("docs/src/how-to/fast.yaml"), folder.path());
    let readme = fs::read_to_string(root.join("README.md")).expect("the README");
    let session = session(&readme).replace("127.0.0.1:8374", &monitor.address);
    let program = Path::new(env!("CARGO_BIN_EXE_verger")).parent().expect("its folder");
    let session = session
        .replace("$PWD/target/release", &program.display().to_string())
        .replace("$PWD/verger-data", &folder.path().display().to_string());
    let run = Command::new("bash").args(["-eu", "-o", "pipefail", "-c", &session]).output().expect("a shell");
    let said = String::from_utf8_lossy(&run.stdout);
    let failed = String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success(), "{said}\n{failed}");
    for expected in [
        r#""accepted":1"#,
        r#""kind":"nudge""#,
        "hello is STUCK: it does not get on.",
        "People were asked what to do, and have not answered yet.",
        "HEALTHY → DEGRADED",
        "DEGRADED → STUCK",
        "NUDGE_DELIVERED",
        "ESCALATION_DECIDED",
    ] {
        assert!(said.contains(expected), "the session never shows {expected}:\n{said}\n{failed}");
    }
}

/// The folder of the workspace. Asked at run time, because a build may be cached across clones.
fn root() -> PathBuf {
    let own = std::env::var("CARGO_MANIFEST_DIR").expect("cargo and nextest set it for every test");
    Path::new(&own).ancestors().nth(2).expect("the crate is at crates/verger").to_path_buf()
}

/// All blocks of the session, one after the other.
fn session(page: &str) -> String {
    let blocks = page.split(MARKER).skip(1).map(|rest| rest.split("```").next().unwrap_or_default());
    let session: String = blocks.collect();
    assert!(session.contains("verger why"), "the README has no such session any more");
    session
}

/// The monitor, until the test is over.
struct Monitor {
    child: Child,
    address: String,
}

impl Monitor {
    fn start(config: &Path, data: &Path) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_verger"))
            .arg("serve")
            .arg("--config")
            .arg(config)
            .arg("--data-dir")
            .arg(data)
            .args(["--listen", "127.0.0.1:0"])
            .stdout(Stdio::piped())
            .spawn()
            .expect("it starts");
        let output = BufReader::new(child.stdout.take().expect("it was asked for"));
        let mut lines = output.lines().map_while(Result::ok);
        let address = lines.find_map(|line| Some(line.split_once("http://")?.1.trim().to_owned()));
        Self { child, address: address.expect("it says where it is") }
    }
}

impl Drop for Monitor {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

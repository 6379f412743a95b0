//! The real program as a monitor, for as long as a test lasts.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// What a session may find around it and must not.
const FOREIGN: [&str; 5] =
    ["VERGER_URL", "VERGER_TOKEN", "VERGER_AGENT_ID", "VERGER_CONFIG", "VERGER_LISTEN"];

/// A monitor at a port of its own.
pub(crate) struct Monitor {
    child: Child,
    /// Where it answers, without the scheme.
    pub(crate) address: String,
}

impl Monitor {
    /// Starts one on this data, with this configuration if there is one, in this folder.
    pub(crate) fn start(folder: &Path, data: &Path, config: Option<&Path>) -> Self {
        let mut program = clean(Command::new(env!("CARGO_BIN_EXE_verger")));
        program
            .arg("serve")
            .arg("--data-dir")
            .arg(data)
            .args(["--listen", "127.0.0.1:0"])
            .current_dir(folder);
        if let Some(config) = config {
            program.arg("--config").arg(config);
        }
        let mut child = program.stdout(Stdio::piped()).spawn().expect("it starts");
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

/// A command that knows of no other monitor, and of one clock.
pub(crate) fn clean(mut command: Command) -> Command {
    for name in FOREIGN {
        command.env_remove(name);
    }
    command.env("TZ", "UTC");
    command
}

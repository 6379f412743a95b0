//! Programs under measurement, as children that are ended when they are dropped.

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use crate::{Measured, echo};

/// The kernel counts processor time in hundredths of a second for whoever asks.
const TICK: Duration = Duration::from_millis(10);

/// Large fleets are made up here, and come without tokens.
const LET_IN: &str = "cardinality: {strangers_max: 4000000}\n";

/// A running program.
pub(crate) struct Program {
    child: Child,
    pub(crate) address: SocketAddr,
    /// The admin's token, where there is one.
    pub(crate) token: String,
    _output: BufReader<ChildStdout>,
}

impl Program {
    /// The monitor on this data folder, with this configuration.
    pub(crate) fn monitor(data: &Path, configuration: &str) -> Measured<Self> {
        let file = data.with_extension("yaml");
        fs::write(&file, format!("{LET_IN}{configuration}"))?;
        let own = std::env::current_exe()?;
        let folder = own.parent().and_then(Path::parent).ok_or("this program is in no folder")?;
        let verger = folder.join("verger");
        if !verger.exists() {
            return Err(format!(
                "{} is missing; `cargo build --release -p verger` makes it",
                verger.display()
            )
            .into());
        }
        let mut command = Command::new(verger);
        command.arg("serve").args(["--listen", "127.0.0.1:0"]);
        command.arg("--config").arg(file).arg("--data-dir").arg(data);
        let mut program = Self::start(command)?;
        fs::read_to_string(data.join("admin.token"))?.trim().clone_into(&mut program.token);
        Ok(program)
    }

    /// The bare server that everything is compared with.
    pub(crate) fn echo() -> Measured<Self> {
        let mut command = Command::new(std::env::current_exe()?);
        command.arg(echo::COMMAND);
        Self::start(command)
    }

    /// Starts it, and waits until it says where it listens.
    fn start(mut command: Command) -> Measured<Self> {
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?;
        let mut output = BufReader::new(child.stdout.take().ok_or("it has no output")?);
        let mut line = String::new();
        while output.read_line(&mut line)? > 0 {
            if let Some((_, address)) = line.split_once("http://") {
                let address = address.trim().parse()?;
                return Ok(Self { child, address, token: String::new(), _output: output });
            }
            line.clear();
        }
        let _ = child.wait();
        Err("it ended without having served".into())
    }

    /// Processor time that it has used, all of its threads together.
    pub(crate) fn cpu(&self) -> Measured<Duration> {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.child.id()))?;
        // The name is in brackets and may hold anything.
        let (_, rest) = stat.rsplit_once(')').ok_or("stat cannot be read")?;
        let mut fields = rest.split_whitespace().skip(11);
        let mut ticks =
            || fields.next().and_then(|field| field.parse::<u32>().ok()).ok_or("stat cannot be read");
        Ok(TICK * (ticks()? + ticks()?))
    }

    /// Megabytes that it holds in memory, and the most that it ever held.
    pub(crate) fn memory(&self) -> Measured<(f64, f64)> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let field = |name: &str| {
            let line =
                status.lines().find_map(|line| line.strip_prefix(name)).ok_or("status cannot be read")?;
            let kilobytes: f64 = line.trim().trim_end_matches(" kB").parse()?;
            Measured::Ok(kilobytes * 1_024.0 / 1e6)
        };
        Ok((field("VmRSS:")?, field("VmHWM:")?))
    }
}

/// `kill -9`; nothing is left behind, also by a measurement that fails.
impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

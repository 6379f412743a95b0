//! `verger service install|status|uninstall`: the monitor as a user service of systemd.
//!
//! A unit is written and systemd is told; nothing else is touched. Where there is no systemd that is said, and nothing is
//! written.

use std::env;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use anyhow::{Context, bail};
use clap::{Args, Subcommand};
use serde_json::json;

use crate::exit::Exit;

const UNIT: &str = "verger.service";

#[derive(Debug, Subcommand)]
pub(crate) enum Service {
    /// Start the monitor now and whenever you log in
    #[command(after_help = "\
Examples:
  verger service install
  verger service install --config ~/verger.yaml

`loginctl enable-linger` keeps it running while you are logged out.")]
    Install(Install),
    /// Say whether it is installed and runs
    #[command(after_help = "\
Example:
  verger service status

Exit code 3 when it is not installed. `journalctl --user -u verger` shows what it printed.")]
    Status {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Stop it, and start it no longer; its data is kept
    #[command(after_help = "Example:\n  verger service uninstall")]
    Uninstall,
}

/// With what the monitor is started.
#[derive(Debug, Args)]
pub(crate) struct Install {
    /// The configuration
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Where everything is kept
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
}

pub(crate) fn run(what: &Service, out: &mut dyn Write) -> anyhow::Result<Exit> {
    if !Path::new("/run/systemd/system").is_dir() {
        bail!(
            "this machine is not run by systemd: have `verger serve` started by whatever starts programs here"
        );
    }
    let path = unit_path()?;
    match what {
        Service::Install(args) => install(args, &path, out),
        Service::Status { json } => status(*json, &path, out),
        Service::Uninstall => uninstall(&path, out),
    }
}

fn install(args: &Install, path: &Path, out: &mut dyn Write) -> anyhow::Result<Exit> {
    let program = env::current_exe().context("where this program is cannot be found out")?;
    let absolute = |path: &PathBuf| std::path::absolute(path);
    let config = args.config.as_ref().map(absolute).transpose()?;
    let data_dir = args.data_dir.as_ref().map(absolute).transpose()?;
    let unit = unit(&program, config.as_deref(), data_dir.as_deref())?;
    let folder = path.parent().context("the unit has no folder")?;
    fs::create_dir_all(folder).with_context(|| format!("could not make {}", folder.display()))?;
    fs::write(path, unit).with_context(|| format!("could not write {}", path.display()))?;
    systemctl(&["daemon-reload"])?;
    systemctl(&["enable", "--now", UNIT])?;
    writeln!(out, "installed as {}, and started", path.display())?;
    writeln!(out, "`verger doctor` checks it; `journalctl --user -u verger` shows what it prints")?;
    Ok(Exit::Done)
}

fn status(json: bool, path: &Path, out: &mut dyn Write) -> anyhow::Result<Exit> {
    let installed = path.exists();
    let asked = Command::new("systemctl").args(["--user", "is-active", UNIT]).output();
    let asked = asked.context("systemctl could not be run")?;
    let state = String::from_utf8_lossy(&asked.stdout).trim().to_owned();
    if json {
        writeln!(out, "{}", json!({ "installed": installed, "state": state, "unit": path }))?;
    } else if installed {
        writeln!(out, "installed as {}, {state}", path.display())?;
    } else {
        writeln!(out, "not installed: `verger service install` installs it")?;
    }
    Ok(if installed { Exit::Done } else { Exit::NotFound })
}

fn uninstall(path: &Path, out: &mut dyn Write) -> anyhow::Result<Exit> {
    if !path.exists() {
        writeln!(out, "not installed")?;
        return Ok(Exit::NotFound);
    }
    systemctl(&["disable", "--now", UNIT])?;
    fs::remove_file(path).with_context(|| format!("could not remove {}", path.display()))?;
    systemctl(&["daemon-reload"])?;
    writeln!(out, "uninstalled; its data is kept")?;
    Ok(Exit::Done)
}

fn systemctl(words: &[&str]) -> anyhow::Result<()> {
    let run = Command::new("systemctl").arg("--user").args(words).output();
    let Output { status, stderr, .. } = run.context("systemctl could not be run")?;
    if !status.success() {
        bail!("`systemctl --user {}` failed: {}", words.join(" "), String::from_utf8_lossy(&stderr).trim());
    }
    Ok(())
}

/// Where user units are, by the rules of XDG.
fn unit_path() -> anyhow::Result<PathBuf> {
    let absolute = |name| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let config = absolute("XDG_CONFIG_HOME").or_else(|| absolute("HOME").map(|home| home.join(".config")));
    Ok(config.context("neither XDG_CONFIG_HOME nor HOME is set")?.join("systemd/user").join(UNIT))
}

/// The unit. It ends by SIGTERM, as the monitor wants to be ended, and is started again when it fails.
fn unit(program: &Path, config: Option<&Path>, data_dir: Option<&Path>) -> anyhow::Result<String> {
    let mut words = vec![quoted(program)?, "serve".to_owned()];
    for (flag, path) in [("--config", config), ("--data-dir", data_dir)] {
        if let Some(path) = path {
            words.extend([flag.to_owned(), quoted(path)?]);
        }
    }
    let start = words.join(" ");
    Ok(format!(
        "[Unit]\nDescription=Verger watches fleets of AI agents\n\n[Service]\nType=notify\nWatchdogSec=60\nExecStart={start}\n\
         ExecReload=/bin/kill -HUP $MAINPID\nRestart=on-failure\nRestartSec=1\nUMask=0077\n\n[Install]\nWantedBy=default.target\n"
    ))
}

/// A path as systemd takes it: in quotes, with what it would expand doubled.
fn quoted(path: &Path) -> anyhow::Result<String> {
    let text = path.to_str().filter(|text| !text.chars().any(char::is_control));
    let text = text.with_context(|| format!("{} cannot stand in a unit", path.display()))?;
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"").replace('%', "%%").replace('$', "$$");
    Ok(format!("\"{escaped}\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_starts_the_monitor_whatever_its_paths_hold() {
        let unit = unit(Path::new("/opt/my tools/verger"), None, Some(Path::new("/data/100%/$x\"y")))
            .expect("a unit");
        let start = unit.lines().find_map(|line| line.strip_prefix("ExecStart=")).expect("a start");
        assert_eq!(start, r#""/opt/my tools/verger" serve --data-dir "/data/100%%/$$x\"y""#);
        assert!(super::unit(Path::new("/a\nExecStart=/evil"), None, None).is_err());
    }

    #[test]
    fn x08_systemd_waits_until_the_monitor_is_ready_and_watches_its_loop() {
        let unit = unit(Path::new("/usr/bin/verger"), None, None).expect("a unit");
        let lines: Vec<&str> = unit.lines().collect();
        assert!(lines.contains(&"Type=notify") && lines.contains(&"WatchdogSec=60"), "{unit}");
    }
}

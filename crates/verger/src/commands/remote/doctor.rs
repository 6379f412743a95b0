//! `verger doctor` (R12): names what is wrong between a person and their monitor, and what to do about it.
//!
//! Each check is one question with one answer. A check that needs another one's success is left out when that failed:
//! one cause is named once.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use clap::Args;
use serde::Serialize;
use verger_client::{Access, Control, Error, Withheld};

use super::Screen;
use super::reach::{Reach, now};
use crate::exit::Exit;
use crate::screen::{Style, lasting, safe};

/// Less room than this, and the monitor may soon be unable to write.
const ROOM_MIN: u64 = 200 << 20;
/// Clocks that differ by less confuse nobody.
const SKEW_MS: u64 = 5_000;

/// Find out what is wrong between you and the monitor
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  verger doctor
  verger doctor --json | jq '.checks[] | select(.status != \"ok\")'

Exit code 1 when something is wrong.")]
pub(crate) struct Doctor {
    #[command(flatten)]
    reach: Reach,
}

/// How a check went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Status {
    Ok,
    Warn,
    Fail,
}

/// A check, and what it found.
#[derive(Debug, Serialize)]
struct Check {
    name: &'static str,
    status: Status,
    text: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    advice: Option<String>,
}

impl Check {
    fn ok(name: &'static str, text: impl Into<String>) -> Self {
        Self { name, status: Status::Ok, text: text.into(), advice: None }
    }

    fn warn(name: &'static str, text: impl Into<String>, advice: &str) -> Self {
        Self { name, status: Status::Warn, text: text.into(), advice: Some(advice.to_owned()) }
    }

    fn fail(name: &'static str, text: impl Into<String>, advice: &str) -> Self {
        Self { name, status: Status::Fail, text: text.into(), advice: Some(advice.to_owned()) }
    }
}

pub(super) async fn run(args: &Doctor, screen: &mut Screen<'_>) -> anyhow::Result<Exit> {
    let access = args.reach.access()?;
    let mut checks = Vec::new();
    if let Some(folder) = args.reach.folder() {
        checks.extend(of_folder(&folder));
    }
    checks.push(of_token(&access));
    checks.extend(of_monitor(&access).await);
    let failed = checks.iter().any(|check| check.status == Status::Fail);
    if args.reach.json {
        screen.json(&serde_json::json!({ "ok": !failed, "checks": checks }))?;
    } else {
        for check in &checks {
            print(check, screen)?;
        }
    }
    Ok(if failed { Exit::Failed } else { Exit::Done })
}

fn print(check: &Check, screen: &mut Screen<'_>) -> anyhow::Result<()> {
    let (mark, style) = match check.status {
        Status::Ok => ("ok  ", Style::Good),
        Status::Warn => ("warn", Style::Warn),
        Status::Fail => ("FAIL", Style::Bad),
    };
    screen.line(&format!("{}  {:<9} {}", screen.paint.paint(style, mark), check.name, safe(&check.text)))?;
    if let Some(advice) = &check.advice {
        screen.line(&format!("                → {advice}"))?;
    }
    Ok(())
}

/// The data folder: whether it is there, and whether there is room.
fn of_folder(folder: &Path) -> Vec<Check> {
    let shown = folder.display();
    let Ok(meta) = fs::metadata(folder) else {
        let text = format!("{shown} does not exist");
        return vec![Check::warn(
            "data",
            text,
            "it is made by the first `verger serve`; or name another by --data-dir",
        )];
    };
    let mut checks = vec![if meta.mode() % 0o10 == 0 {
        Check::ok("data", shown.to_string())
    } else {
        Check::warn("data", format!("{shown} is open to other users"), "`chmod 700` it")
    }];
    if let Ok(disk) = rustix::fs::statvfs(folder) {
        let free = disk.f_bavail.saturating_mul(disk.f_frsize);
        let text = format!("{} MB free", free >> 20);
        checks.push(if free < ROOM_MIN {
            Check::fail("disk", text, "make room: a monitor that cannot write decides nothing")
        } else {
            Check::ok("disk", text)
        });
    }
    checks
}

fn of_token(access: &Access) -> Check {
    match access.withheld() {
        None => Check::ok("token", "found"),
        Some(why @ Withheld::Watched(_)) => {
            Check::warn("token", why.to_string(), "run it from a terminal of your own, or set VERGER_TOKEN")
        }
        Some(why) => Check::warn("token", why.to_string(), "start the monitor once, or set VERGER_TOKEN"),
    }
}

/// The monitor: whether it is there, is one, is this version's, and does its work.
async fn of_monitor(access: &Access) -> Vec<Check> {
    let control = match Control::new(access) {
        Ok(control) => control,
        Err(error) => return vec![Check::fail("monitor", error.to_string(), "check --url and VERGER_URL")],
    };
    let health = match control.health().await {
        Ok(health) => health,
        Err(error @ Error::Unreachable { .. }) => {
            return vec![Check::fail("monitor", error.to_string(), "start it: `verger serve`")];
        }
        Err(error) => {
            let advice = "another program has its port: stop that, or use `verger serve --listen`";
            return vec![Check::fail("monitor", error.to_string(), advice)];
        }
    };
    let text = format!(
        "{} answers at {}, for {}",
        health.version,
        access.address,
        lasting(health.uptime_seconds * 1_000)
    );
    let mut checks = vec![if health.version == env!("CARGO_PKG_VERSION") {
        Check::ok("monitor", text)
    } else {
        let text = format!("{text}; this program is {}", env!("CARGO_PKG_VERSION"));
        Check::warn("monitor", text, "restart the monitor with the version that you use")
    }];
    match control.ready().await {
        Ok(readiness) if readiness.ready => {
            checks.push(Check::ok("ready", "it does its work"));
            checks.extend(of_fleet(&control).await);
        }
        // Whoever does not do its work does not answer either.
        Ok(readiness) => {
            let missing: Vec<_> =
                readiness.missing.iter().map(|part| format!("{}: {}", part.part, part.text)).collect();
            checks.push(Check::fail("ready", missing.join("; "), "look at what the monitor printed"));
        }
        Err(error) => {
            checks.push(Check::fail("ready", error.to_string(), "look at what the monitor printed"));
        }
    }
    checks
}

/// What only somebody who may read can ask: clocks and blindness.
async fn of_fleet(control: &Control) -> Vec<Check> {
    let fleet = match control.fleet().await {
        Ok(fleet) => fleet,
        Err(error) => return vec![Check::warn("access", error.to_string(), "give it a token that may read")],
    };
    let skew = fleet.at.as_millis().abs_diff(now().as_millis());
    let mut checks = vec![if skew < SKEW_MS {
        Check::ok("clock", "the monitor's clock and this one agree")
    } else {
        Check::warn(
            "clock",
            format!("the monitor's clock and this one differ by {}", lasting(skew)),
            "set the clocks right",
        )
    }];
    if fleet.monitor.lateness_ms > 1_000 {
        let text = format!("the monitor is {} behind", lasting(fleet.monitor.lateness_ms));
        checks.push(Check::warn("pace", text, "give it more processor, or send it less"));
    }
    checks
}

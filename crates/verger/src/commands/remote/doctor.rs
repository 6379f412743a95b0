//! `verger doctor` (R12): names what is wrong between a person and their monitor, and what to do about it.
//!
//! Each check is one question with one answer. A check that needs another one's success is left out when that failed:
//! one cause is named once.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use clap::Args;
use serde::Serialize;
use verger_api::{FleetSummary, Missing};
use verger_client::{Access, Control, Error, Withheld};
use verger_config::Surroundings;

use super::Screen;
use super::reach::{Reach, now};
use crate::cli::Place;
use crate::exit::Exit;
use crate::screen::{Style, ago, count, lasting, safe, wrapped};
use crate::surroundings;

/// Less room than this, and the monitor may soon be unable to write.
const ROOM_MIN: u64 = 200 << 20;
/// Clocks that differ by less confuse nobody.
const SKEW_MS: u64 = 5_000;
/// Behind by less than this, nobody notices.
const LATE_MS: u64 = 1_000;

/// Check data, token, monitor and fleet, and say how to mend what is wrong
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  verger doctor
  verger doctor --json | jq '.checks[] | select(.status != \"ok\")'

Exit code 1 when something is wrong; warnings alone are no failure.")]
pub(crate) struct Doctor {
    #[command(flatten)]
    pub(super) reach: Reach,
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

    fn warn(name: &'static str, text: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { name, status: Status::Warn, text: text.into(), advice: Some(advice.into()) }
    }

    fn fail(name: &'static str, text: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { name, status: Status::Fail, text: text.into(), advice: Some(advice.into()) }
    }
}

pub(super) async fn run(args: &Doctor, screen: &mut Screen<'_>) -> anyhow::Result<Exit> {
    let mut checks = vec![of_configuration()];
    if let Some(folder) = args.reach.folder() {
        checks.extend(of_folder(&folder));
    }
    match args.reach.access() {
        Ok(access) => {
            checks.push(of_token(&access));
            checks.extend(of_monitor(&access).await);
        }
        Err(error) => checks.push(Check::fail("monitor", error.to_string(), "check --url and VERGER_URL")),
    }
    let failed = checks.iter().any(|check| check.status == Status::Fail);
    if args.reach.json {
        screen.json(&serde_json::json!({ "ok": !failed, "checks": checks }))?;
    } else {
        for check in &checks {
            print(check, screen)?;
        }
        summary(&checks, screen)?;
    }
    Ok(if failed { Exit::Failed } else { Exit::Done })
}

fn print(check: &Check, screen: &mut Screen<'_>) -> anyhow::Result<()> {
    let (mark, style) = match check.status {
        Status::Ok => ("✓", Style::Good),
        Status::Warn => ("!", Style::Warn),
        Status::Fail => ("✗", Style::Bad),
    };
    let text = wrapped(&safe(&check.text), 17, screen.width);
    screen.line(&format!("{} {:<14} {text}", screen.paint.paint(style, mark), check.name))?;
    if let Some(advice) = &check.advice {
        screen.line(&format!("{}→ {}", " ".repeat(17), wrapped(advice, 19, screen.width)))?;
    }
    Ok(())
}

fn summary(checks: &[Check], screen: &mut Screen<'_>) -> anyhow::Result<()> {
    let of = |status| checks.iter().filter(|check| check.status == status).count() as u64;
    let (failed, warned) = (of(Status::Fail), of(Status::Warn));
    screen.line("")?;
    screen.line(&match (failed, warned) {
        (0, 0) => "all is well".to_owned(),
        (0, warned) => format!("it works; {}", count(warned, "warning")),
        (failed, 0) => count(failed, "problem"),
        (failed, warned) => format!("{}, {}", count(failed, "problem"), count(warned, "warning")),
    })
}

/// The configuration that this environment names, if any. The monitor may have been started with another one.
fn of_configuration() -> Check {
    let around: Surroundings = surroundings::of(&Place::default());
    let report = verger_config::check(&around);
    match (report.passed, around.environment.get("VERGER_CONFIG")) {
        (false, _) => {
            Check::fail("configuration", "it is wrong", "`verger config check` says what and where")
        }
        (true, Some(file)) => Check::ok("configuration", file.clone()),
        (true, None) => Check::ok("configuration", "VERGER_CONFIG names none; none is needed"),
    }
}

/// The data folder: whether it is there, is private, and has room.
fn of_folder(folder: &Path) -> Vec<Check> {
    let shown = folder.display();
    let Ok(meta) = fs::metadata(folder) else {
        let advice = "the first `verger serve` makes it; or name another by --data-dir";
        return vec![Check::warn("data", format!("{shown} does not exist"), advice)];
    };
    let mut checks = vec![if meta.mode() % 0o100 == 0 {
        Check::ok("data", shown.to_string())
    } else {
        Check::warn("data", format!("{shown} is open to other users"), format!("chmod 700 {shown}"))
    }];
    checks.extend(of_database(folder));
    if let Ok(disk) = rustix::fs::statvfs(folder) {
        let free = disk.f_bavail.saturating_mul(disk.f_frsize);
        let text = if free < 1_000_000_000 {
            format!("{} MB free", free / 1_000_000)
        } else {
            format!("{:.1} GB free", free as f64 / 1e9)
        };
        checks.push(if free < ROOM_MIN {
            Check::fail("disk", text, "make room: a monitor that cannot write acts on nothing")
        } else {
            Check::ok("disk", text)
        });
    }
    checks
}

/// The database of a monitor that does not run. One that does looks after its own.
fn of_database(folder: &Path) -> Option<Check> {
    let file = folder.join("verger.db");
    if !file.try_exists().unwrap_or(true) {
        return None;
    }
    Some(match verger_server::examine(folder) {
        Ok(found) if found.is_empty() => Check::ok("database", "it is whole, and this version can read it"),
        Ok(found) => {
            let text = format!("{} is damaged (VG0203): {}", file.display(), found.join("; "));
            Check::fail(
                "database",
                text,
                "repair it or restore a backup: the runbook on damaged data says how",
            )
        }
        Err(verger_server::DataError::Locked { pid, .. }) => {
            let by = pid.map_or_else(|| "a monitor".to_owned(), |pid| format!("process {pid}"));
            Check::ok("database", format!("{by} works with it, and looks after it"))
        }
        Err(error) => {
            let advice = error.remedy().unwrap_or_else(|| "see who may use the data directory".to_owned());
            Check::fail("database", format!("{:#}", anyhow::Error::new(error)), advice)
        }
    })
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
            let text = super::hints::sentence(&error.into());
            return vec![Check::fail(
                "monitor",
                text,
                "start it: `verger serve`; or say where it is: --url, --data-dir",
            )];
        }
        Err(error) => {
            let advice = "another program has its port: stop that, or use `verger serve --listen`";
            return vec![Check::fail("monitor", error.to_string(), advice)];
        }
    };
    let uptime = lasting(health.uptime_seconds * 1_000);
    let text = format!("version {} answers at {}, up for {uptime}", health.version, access.address);
    let own = env!("CARGO_PKG_VERSION");
    let mut checks = vec![if health.version == own {
        Check::ok("monitor", text)
    } else {
        Check::warn(
            "monitor",
            format!("{text}; this program is {own}"),
            "restart the monitor with the version that you use",
        )
    }];
    let ready = of_readiness(&control).await;
    let is_ready = ready.status == Status::Ok;
    checks.push(ready);
    // A monitor that does not do its work may not answer for long.
    if is_ready {
        checks.extend(match control.fleet().await {
            Ok(fleet) => of_fleet(&fleet),
            Err(error) => vec![of_refusal(&error)],
        });
    }
    checks
}

async fn of_readiness(control: &Control) -> Check {
    let advice = "its standard error may say more; if the disk is full, make room";
    match control.ready().await {
        Ok(readiness) if readiness.ready => Check::ok("ready", "it does its work"),
        Ok(readiness) => {
            let missing: Vec<_> = readiness.missing.iter().map(told_missing).collect();
            let remedies = readiness.missing.iter().filter_map(|part| part.remedy.as_deref());
            let remedies = remedies.collect::<Vec<_>>().join("; ");
            Check::fail(
                "ready",
                missing.join("; "),
                if remedies.is_empty() { advice.to_owned() } else { remedies },
            )
        }
        Err(error) => Check::fail("ready", error.to_string(), advice),
    }
}

/// What is missing, since when, and what it means.
pub(super) fn told_missing(part: &Missing) -> String {
    let since = part.since.map_or_else(String::new, |since| format!(", since {}", ago(since, now())));
    let meaning = part.meaning.as_deref().map_or_else(String::new, |meaning| format!(". So {meaning}"));
    format!("{}: {}{since}{meaning}", part.part, part.text)
}

/// Why nothing could be read. A token that is wrong makes every other command fail, one that is kept back does not.
fn of_refusal(error: &Error) -> Check {
    match error.problem().map(|problem| problem.code.as_str()) {
        Some("VG0412") => {
            Check::fail("access", error.to_string(), "unset VERGER_TOKEN, or set it to a valid token")
        }
        Some("VG0411") => Check::warn("access", "nothing can be read without a token", "see `token` above"),
        _ => Check::warn("access", error.to_string(), "use a token that may read"),
    }
}

/// What only somebody who may read can ask: clocks, pace, blindness and how the fleet is.
fn of_fleet(fleet: &FleetSummary) -> Vec<Check> {
    let skew = fleet.at.as_millis().abs_diff(now().as_millis());
    let mut checks = vec![if skew < SKEW_MS {
        Check::ok("clock", "the monitor's clock and this one agree")
    } else {
        let text = format!("the monitor's clock and this one differ by {}", lasting(skew));
        Check::warn("clock", text, "set the clocks right")
    }];
    if fleet.monitor.lateness_ms > LATE_MS {
        let text = format!("the monitor is {} behind", lasting(fleet.monitor.lateness_ms));
        checks.push(Check::warn("pace", text, "give it more processor, or send it less"));
    }
    if let Some(blind) = fleet.monitor.blind_times.first() {
        let lasted = u64::try_from(blind.until.as_millis() - blind.from.as_millis()).unwrap_or(0);
        let text = format!(
            "it last could not see for {}, until {} ({})",
            lasting(lasted),
            ago(blind.until, now()),
            blind.cause
        );
        checks.push(Check::ok("sight", text));
    }
    let agents = count(fleet.agents, "agent");
    checks.push(match fleet.open_incidents {
        0 => Check::ok("fleet", format!("{agents}, no open incidents")),
        open => Check::warn(
            "fleet",
            format!("{agents}, {}", count(open, "open incident")),
            "`verger fleet` lists them",
        ),
    });
    checks
}

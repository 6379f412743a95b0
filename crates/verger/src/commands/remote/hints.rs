//! What a person can do about a command that came to nothing: the name that was meant, the next command to type.
//!
//! Whatever has to be asked for that is asked of the same monitor; if it does not answer, there is no hint.

use std::path::Path;

use verger_api::Problem;
use verger_client::{AgentFilter, BreakerFilter, Control, Error, Page};
use verger_config::nearest;

use super::Remote;

/// Names that are compared with one that is not known.
const NAMES_MAX: u32 = 1_000;

/// What went wrong, in one sentence.
pub(super) fn sentence(error: &anyhow::Error) -> String {
    match error.downcast_ref::<Error>() {
        Some(Error::Unreachable { at, .. }) if !Path::new(at).exists() && at.ends_with("verger.sock") => {
            let folder = Path::new(at).parent().unwrap_or(Path::new(at));
            format!("the monitor can't be reached: none runs on the data in {}", folder.display())
        }
        _ => format!("{error:#}"),
    }
}

/// What to do about it; nothing where the error says it all.
pub(super) async fn of(error: &anyhow::Error, command: &Remote) -> Vec<String> {
    match error.downcast_ref::<Error>() {
        Some(Error::Unreachable { .. }) => unreachable(),
        Some(Error::Refused { problem, .. }) => refused(problem, command).await,
        Some(Error::Foreign { .. }) => vec!["`verger doctor` looks for the cause".to_owned()],
        _ => Vec::new(),
    }
}

fn unreachable() -> Vec<String> {
    vec![
        "start one: `verger serve`, or `verger service install`".to_owned(),
        "if one runs elsewhere, say where: --url URL, or --data-dir DIR; `verger doctor` looks for the cause"
            .to_owned(),
    ]
}

async fn refused(problem: &Problem, command: &Remote) -> Vec<String> {
    let whom = command.whom().unwrap_or("ID");
    let advice = match problem.code.as_str() {
        "VG0101" | "VG0311" | "VG0321" | "VG0342" | "VG0417" => return vec![meant(problem, command).await],
        "VG0102" => format!("look at its present life first: `verger agent {whom}`"),
        "VG0103" | "VG0105" => {
            format!("`verger why {whom}` says what is under way; `verger escalate` opens a question")
        }
        "VG0104" => format!("`verger why {whom}` says what becomes of its work"),
        "VG0106" => "it passes by itself; `verger decide` and `verger terminate` are not limited".to_owned(),
        "VG0411" | "VG0412" => {
            "set VERGER_TOKEN to a valid token, or run this as the user of the monitor".to_owned()
        }
        "VG0413" => "the admin makes tokens that may do more: `verger token create --scope admin`".to_owned(),
        _ => return Vec::new(),
    };
    vec![advice]
}

/// The name that was probably meant; else where to find names.
async fn meant(problem: &Problem, command: &Remote) -> String {
    let (what, list) = match problem.code.as_str() {
        "VG0342" => (Names::Breakers, "`verger breakers` lists those that there are"),
        "VG0417" => (Names::Tokens, "`verger token list` shows those that there are"),
        "VG0101" => {
            (Names::Agents, "`verger agents` lists those that are known; the first signal makes one known")
        }
        _ => (
            Names::Tasks,
            "a task can be recovered when its agent has ended; `verger agents` shows who works on what",
        ),
    };
    let found = match command.reach().control() {
        Ok(control) => names(&control, what).await.unwrap_or_default(),
        Err(_) => Vec::new(),
    };
    // The monitor names what it did not find between backticks.
    let asked = problem.detail.split('`').nth(1).unwrap_or_default();
    match nearest(asked, found.iter().map(String::as_str)).filter(|name| *name != asked) {
        Some(name) => format!("did you mean `{name}`?"),
        None => list.to_owned(),
    }
}

#[derive(Clone, Copy)]
enum Names {
    Agents,
    Tasks,
    Breakers,
    Tokens,
}

async fn names(control: &Control, what: Names) -> Result<Vec<String>, Error> {
    let page = Page { limit: Some(NAMES_MAX), cursor: None };
    Ok(match what {
        Names::Breakers => {
            let list = control.breakers(&BreakerFilter::default(), &page).await?;
            list.items.into_iter().map(|breaker| breaker.name).collect()
        }
        Names::Tokens => control.tokens(&page).await?.items.into_iter().map(|token| token.id).collect(),
        Names::Agents | Names::Tasks => {
            let agents = control.agents(&AgentFilter::default(), &page).await?.items.into_iter();
            match what {
                Names::Tasks => agents.filter_map(|agent| agent.task_id).collect(),
                _ => agents.map(|agent| agent.agent_id).collect(),
            }
        }
    })
}

//! All lives of one run, from the first start to the last end.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use anyhow::Context;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use verger_act::Tail;
use verger_act::process::{End, MemoryWatch, become_subreaper};
use verger_api::PendingItem;

use super::comeback::{Comeback, Start};
use super::ending::Ending;
use super::monitor::{Finder, Known};
use super::place::Folder;
use super::record::{self, Record};
use super::reporter::{Reporter, Whom};
use super::wrapper::{self, Life, NotBegun, Plan};
use super::{Run, not_started, say};
use crate::commands::remote::Reach;
use crate::exit::Exit;

/// Runs it to its end, and says how it ended.
pub(super) async fn run(args: &Run) -> anyhow::Result<Ending> {
    let id = args.agent.clone().unwrap_or_else(|| own_name(&args.command));
    let reach = Reach { url: args.url.clone(), data_dir: args.data_dir.clone(), json: false };
    let finder = Finder::new(reach, &id);
    let data_dir = finder.folder();
    if let Some(wrapper) = Record::taken(data_dir.as_deref(), &id) {
        say(&format!("agent {id} runs already, under {wrapper}; `--agent` gives this one another name"));
        return Ok(Ending::Code(Exit::Refused as i32));
    }
    // Before this process inherits whoever lost its parent: a monitor is nobody's child.
    let known = known(&finder).await;
    become_subreaper().context("this system has no subreapers")?;
    let folder = Folder::new().context("no folder for sockets can be had")?;
    let role = match (&args.role, args.restart) {
        (role, true) => Some(format!("{}+restart", role.as_deref().unwrap_or("default"))),
        (role, false) => role.clone(),
    };
    let incarnation = known.as_ref().and_then(|known| known.incarnation);
    let whom = Whom { id: id.clone(), task: args.task.clone(), role, incarnation };
    let record = Record::new(data_dir, &id, &folder);
    let (send, items) = unbounded_channel();
    let mut runner = Runner { args, finder, known, folder, whom, record, send, items };
    let ending = runner.all_lives().await;
    if let Some(known) = &runner.known {
        runner.finder.forget(known).await;
    }
    ending
}

struct Runner<'a> {
    args: &'a Run,
    finder: Finder,
    known: Option<Known>,
    folder: Folder,
    whom: Whom,
    record: Record,
    send: UnboundedSender<PendingItem>,
    items: UnboundedReceiver<PendingItem>,
}

impl Runner<'_> {
    async fn all_lives(&mut self) -> anyhow::Result<Ending> {
        let comeback = if self.args.restart {
            Some(Comeback::new(&self.folder, &self.whom.id, self.whom.task.as_deref())?)
        } else {
            None
        };
        let mut start = None;
        loop {
            let ending = self.life(start.take()).await?;
            let Some(comeback) = comeback.as_ref().filter(|_| self.may_come_back(ending)) else {
                self.record.over();
                return Ok(ending);
            };
            self.record.waits();
            say(&format!("{} {}; the monitor says when it is brought back", self.whom.id, End::from(ending)));
            start = comeback.word(self.finder.control().as_ref()).await;
            if start.is_none() {
                self.record.over();
                return Ok(ending);
            }
            self.whom.incarnation = self.whom.incarnation.map(|life| life.saturating_add(1));
        }
    }

    /// Whoever ended well, or was ended by order, is not wanted back.
    fn may_come_back(&self, ending: Ending) -> bool {
        let by_a_person = ending == Ending::Signal(rustix::process::Signal::INT.as_raw());
        !ending.is_clean() && !by_a_person && self.known.is_some()
    }

    async fn life(&mut self, start: Option<Start>) -> anyhow::Result<Ending> {
        let mut variables = self.variables();
        variables.extend(start.as_ref().into_iter().flat_map(|start| start.variables(self.folder.path())));
        let (mark, marks) = record::marks();
        let (words, stage) = (self.args.command.clone(), wrapper::stage());
        let plan = Plan { words, stage, variables, mark, marks };
        let memory = MemoryWatch::start(None);
        let mut reporter = Reporter::new(self.whom.clone(), self.send.clone());
        if let Some(known) = &self.known {
            reporter.connect(known);
        }
        let begun = Life::begin(&plan, &self.folder).await;
        if let Some(start) = start {
            start.answer(begun.is_ok()).await;
        }
        let life = match begun {
            Ok(life) => life,
            Err(NotBegun::Own(error)) => return Err(error).context("the program was not started"),
            Err(NotBegun::Program(errno)) => return Ok(not_started(&self.args.command, errno)),
        };
        self.record.begun(self.whom.incarnation, life.keeper(), life.tree());
        reporter.started(life.program(), shown(&self.args.command));
        let monitor = (&self.finder, &mut self.known);
        let ended = life.run(&mut reporter, &mut self.items, &self.record, monitor).await;
        let (output, by_us) = (ended.flow.tail(), self.record.is_end_announced());
        let how = memory.explain(ended.ending.into(), by_us);
        let is_told = reporter.ended(ended.ending, reason(how, &output));
        self.record.ended(&record::Ended { ending: ended.ending, how, output: &output, is_told });
        Ok(ended.ending)
    }

    /// What the program finds around it.
    fn variables(&self) -> Vec<(&'static str, OsString)> {
        let whom = &self.whom;
        let mut variables = vec![("VERGER_AGENT_ID", whom.id.clone().into())];
        variables.extend(whom.task.clone().map(|task| ("VERGER_TASK_ID", task.into())));
        variables.extend(whom.incarnation.map(|life| ("VERGER_INCARNATION", life.to_string().into())));
        if let Some(known) = &self.known {
            variables.push(("VERGER_URL", known.url.clone().into()));
            variables.extend(known.token.clone().map(|token| ("VERGER_TOKEN", token.into())));
        }
        variables
    }
}

/// The monitor; one for this user if there is none.
async fn known(finder: &Finder) -> Option<Known> {
    let missing = match finder.find().await {
        Ok(known) => return Some(known),
        Err(error) => error,
    };
    let missing = if finder.is_own() && matches!(missing, verger_client::Error::Unreachable { .. }) {
        match finder.start().await {
            Ok(known) => {
                say(&format!("no monitor ran, so one was started: {}", known.url));
                return Some(known);
            }
            Err(error) => format!("{error:#}"),
        }
    } else {
        missing.to_string()
    };
    say(&format!("no monitor: {missing}; the program runs unwatched until there is one"));
    None
}

fn own_name(words: &[OsString]) -> String {
    let name = words.first().map(Path::new).and_then(Path::file_name).map(OsStr::to_string_lossy);
    format!("{}-{}", name.as_deref().unwrap_or("program"), std::process::id())
}

fn shown(words: &[OsString]) -> String {
    let words: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
    verger_api::redact(&words.join(" ")).into_owned()
}

/// How it ended, and the last line that it wrote.
fn reason(how: End, output: &Tail) -> String {
    let text = output.text();
    let last = text.lines().rev().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let last: String = last.chars().filter(|letter| !letter.is_control()).take(200).collect();
    let last = if last.is_empty() { String::new() } else { format!("; it said last: {last}") };
    verger_api::redact(&format!("it {how}{last}")).into_owned()
}

//! What is left in the data directory, so that the monitor can do what this process could not.

use std::path::{Path, PathBuf};

use verger_act::process::{End, FinalState, Identity, Mark, Tree};
use verger_act::{FinalStateFile, RunEnded, RunRecord, Tail};

use super::ending::Ending;
use super::place::Folder;

/// The record of this run. Where there is no data directory of a monitor on this machine nothing is written.
pub(super) struct Record {
    data_dir: Option<PathBuf>,
    present: RunRecord,
    is_told: bool,
}

impl Record {
    pub(super) fn new(data_dir: Option<PathBuf>, agent: &str, folder: &Folder) -> Self {
        let present = RunRecord {
            agent_id: agent.to_owned(),
            incarnation: None,
            wrapper: Identity::own(),
            keeper: None,
            tree: None,
            folder: folder.path().to_owned(),
            ended: None,
        };
        Self { data_dir, present, is_told: false }
    }

    /// The wrapper that this agent runs under already, if there is one.
    pub(super) fn taken(data_dir: Option<&Path>, agent: &str) -> Option<Identity> {
        let record = RunRecord::of(data_dir?, agent)?;
        Some(record.wrapper).filter(Identity::is_alive)
    }

    /// A life began.
    pub(super) fn begun(&mut self, incarnation: Option<u32>, keeper: u32, tree: &Tree) {
        // What was said of the life before does not hold for this one.
        RunRecord::forget_end(&self.present.folder);
        self.present.incarnation = incarnation;
        self.present.keeper = Identity::of(keeper);
        self.present.tree = Some(tree.record());
        self.present.ended = None;
        self.write();
    }

    /// It ended. Whether the monitor knows is written down, and so is what the program printed last, if it did not end
    /// well.
    pub(super) fn ended(&mut self, end: &Ended<'_>) {
        self.present.ended = Some(RunEnded { code: end.ending.code(), signal: end.ending.signal() });
        if !end.ending.is_clean() || self.is_end_announced() {
            self.keep_final_state(end);
        }
        self.is_told = end.is_told;
        // From now on the tree is gone; that nobody was told of it is for the monitor to find.
        self.write();
    }

    /// It may be brought back: nothing runs until then.
    pub(super) fn waits(&mut self) {
        (self.present.tree, self.present.keeper, self.present.ended) = (None, None, None);
        self.write();
    }

    /// Nothing is to follow. What nobody was told of is left for the monitor.
    pub(super) fn over(&self) {
        if self.is_told || self.present.tree.is_none() {
            self.remove();
        }
    }

    /// Whether somebody wants all of the tree to end.
    pub(super) fn is_end_announced(&self) -> bool {
        RunRecord::is_end_announced(&self.present.folder)
    }

    fn keep_final_state(&self, end: &Ended<'_>) {
        let (Some(data_dir), Some(tree)) = (&self.data_dir, &self.present.tree) else { return };
        let pid = tree.root.pid;
        let mut tree = Tree::of_record(tree.clone());
        let directory = std::env::current_dir().unwrap_or_default();
        let mut state = FinalState::after(&mut tree, end.output, &directory);
        state.output = verger_api::redact(&state.output).into_owned();
        let kept = FinalStateFile {
            agent_id: self.present.agent_id.clone(),
            incarnation: self.present.incarnation,
            pid,
            end: Some(end.how.to_string()),
            state,
        };
        // It is for people who want to understand; a full disk keeps nobody from ending.
        let _ = kept.keep(data_dir);
    }

    fn write(&self) {
        if let Some(data_dir) = &self.data_dir {
            // Without it the program runs, and a monitor can only look on.
            let _ = self.present.write(data_dir);
        }
    }

    fn remove(&self) {
        if let Some(data_dir) = &self.data_dir {
            self.present.remove(data_dir);
        }
    }
}

/// How a life ended.
pub(super) struct Ended<'a> {
    pub(super) ending: Ending,
    pub(super) how: End,
    pub(super) output: &'a Tail,
    /// Whether the monitor was told.
    pub(super) is_told: bool,
}

/// What this run bears, and what its processes have in their environment.
pub(super) fn marks() -> (Mark, String) {
    let mark = Mark::random();
    let around = std::env::var_os(verger_act::process::RUN_VARIABLE);
    let all = mark.variable(around.as_deref());
    (mark, all)
}

//! Ends the whole tree of a run, after its final state was kept (L22).

use std::path::Path;
use std::time::Duration;

use verger_act::process::{FinalState, Patience, Stopped, Tree};
use verger_act::{FinalStateFile, RunRecord, Tail};
use verger_core::time::Span;

use super::Runs;

/// The most that a tree has from being asked to being killed.
const GRACE_MAX: Duration = Duration::from_secs(10);

impl Runs {
    /// Ends it, and says who is left. Nothing else of the machine is touched.
    pub(crate) async fn stop(&self, record: RunRecord, within: Span) -> Option<Stopped> {
        let data_dir = self.data_dir.clone();
        let limit = Duration::from_millis(within.as_millis()).max(Duration::from_secs(1));
        let patience = Patience { grace: (limit / 2).min(GRACE_MAX), limit };
        tokio::task::spawn_blocking(move || end(&data_dir, record, patience)).await.ok()?
    }
}

/// Blocks until nobody is left, or the limit has passed.
pub(super) fn end(data_dir: &Path, record: RunRecord, patience: Patience) -> Option<Stopped> {
    record.announce_end();
    let mut tree = Tree::of_record(record.tree?);
    let kept = FinalStateFile {
        agent_id: record.agent_id,
        incarnation: record.incarnation,
        pid: tree.root().pid,
        end: None,
        state: FinalState::take(&mut tree, &Tail::default()),
    };
    // A full disk does not keep a program running that is to end.
    let _ = kept.keep(data_dir);
    Some(tree.stop(patience))
}

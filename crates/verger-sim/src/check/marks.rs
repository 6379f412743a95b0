//! Batches are numbered in order, and observed time on disk never runs backwards.

use verger_core::time::Timestamp;
use verger_engine::Mark;

use super::{Broken, Checker, End};
use crate::trace::{Moment, What};

/// Knows the last mark.
#[derive(Debug, Default)]
pub(super) struct Marks {
    last: Option<Mark>,
    broken: Broken,
}

impl Checker for Marks {
    fn name(&self) -> &'static str {
        "observed-time-never-runs-backwards"
    }

    fn observe(&mut self, moment: &Moment<'_>) {
        let What::Committed { batch, .. } = moment.what else { return };
        let mark = batch.mark;
        if let Some(last) = self.last.replace(mark)
            && (mark.number <= last.number || mark.observed < last.observed)
        {
            let shown = |mark: Mark| format!("batch {} at {}", mark.number, mark.observed);
            self.broken.note(moment.at, || format!("{} follows {}", shown(mark), shown(last)));
        }
        let late: Option<Timestamp> =
            batch.events.iter().map(|event| event.at).find(|at| mark.observed < *at);
        if let Some(at) = late {
            self.broken.note(moment.at, || format!("a fact of {at} is in a batch up to {}", mark.observed));
        }
    }

    fn finish(&mut self, _end: &End<'_>) -> Result<(), String> {
        self.broken.verdict()
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::Trace;
    use super::*;

    #[test]
    fn time_that_runs_backwards_is_caught() {
        let (mut trace, mut checker) = (Trace::new(), Marks::default());
        trace.at(10).commit(&mut checker, vec![], vec![]);
        trace.at(10).commit(&mut checker, vec![], vec![]);
        assert_eq!(trace.finish(&mut checker), Ok(()));
        trace.at(9).commit(&mut checker, vec![], vec![]);
        assert_eq!(trace.finish(&mut checker), Err("at 9s: batch 3 at 9s follows batch 2 at 10s".into()));
    }
}

//! A restart changes nothing: a fleet restored from its rows is the fleet that wrote them.

use super::{Broken, Checker, End};
use crate::trace::{Moment, What};

/// Hears of rehearsed restarts.
#[derive(Debug, Default)]
pub(super) struct RestartChangesNothing {
    broken: Broken,
}

impl Checker for RestartChangesNothing {
    fn name(&self) -> &'static str {
        "a-restart-changes-nothing"
    }

    fn observe(&mut self, moment: &Moment<'_>) {
        if let What::Drilled { difference: Some(difference) } = moment.what {
            self.broken.note(moment.at, || difference.to_owned());
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
    fn a_row_that_forgets_something_is_caught() {
        let (trace, mut checker) = (Trace::new(), RestartChangesNothing::default());
        trace.tell(&mut checker, What::Drilled { difference: None });
        assert_eq!(trace.finish(&mut checker), Ok(()));
        trace.tell(&mut checker, What::Drilled { difference: Some("STUCK became HEALTHY") });
        assert_eq!(trace.finish(&mut checker), Err("at 0s: STUCK became HEALTHY".into()));
    }
}

//! What an agent will do next: acts, each after its wait.

use std::collections::VecDeque;
use std::sync::Arc;

use verger_core::fingerprint::CallPrint;
use verger_core::signal::{Author, Body};
use verger_core::time::Span;

use crate::world::condition::Condition;
use crate::world::text::Told;

/// One thing an agent does.
#[derive(Debug)]
pub(crate) enum Act {
    /// It happens, and is reported if the agent's connection reports such things.
    Send(Body),
    /// A call ends.
    Finish(Finish),
    /// Somebody says something in its conversation.
    Say(Author, String),
    /// What is really the case changes.
    Become(Condition),
    /// A turn used tokens.
    Use {
        /// Tokens read.
        input: u64,
        /// Tokens written.
        output: u64,
    },
    /// The work got on.
    Advance,
    /// The context window is compacted.
    Compact,
    /// The process ends in good order, for a successor to go on.
    Leave,
}

/// A call that will end, and what comes of it.
#[derive(Debug)]
pub(crate) struct Finish {
    pub(crate) call: u64,
    pub(crate) print: CallPrint,
    pub(crate) told: Arc<Told>,
    /// How long it takes, where the agent says so.
    pub(crate) took: Option<Span>,
}

/// What an agent will do next.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    acts: VecDeque<(u64, Act)>,
    wait: u64,
}

/// What is due in a plan.
#[derive(Debug)]
pub(crate) enum Due {
    /// This act, now.
    Now(Act),
    /// Nothing for so many milliseconds.
    After(u64),
    /// Nothing is planned.
    Nothing,
}

impl Plan {
    /// Nothing happens for so long.
    pub(crate) fn wait(&mut self, millis: u64) {
        self.wait += millis;
    }

    /// Then this happens.
    pub(crate) fn then(&mut self, act: Act) {
        self.acts.push_back((std::mem::take(&mut self.wait), act));
    }

    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        self.acts.clear();
        self.wait = 0;
    }

    /// Takes what is due. A wait is handed out once, and counts as spent.
    pub(crate) fn due(&mut self) -> Due {
        match self.acts.front_mut() {
            Some((0, _)) => self.acts.pop_front().map_or(Due::Nothing, |(_, act)| Due::Now(act)),
            Some((wait, _)) => Due::After(std::mem::take(wait)),
            None if self.wait > 0 => Due::After(std::mem::take(&mut self.wait)),
            None => Due::Nothing,
        }
    }
}

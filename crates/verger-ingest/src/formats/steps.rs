//! Steps on their way from a format to a sink: numbered, and calls joined with their answers.

use std::collections::VecDeque;

use crate::flaw::{Flaw, Place};
use crate::read::Sink;
use crate::run::{Call, Event, Step, Talker};

/// Runs of one recording that are under way at once. More are only in a recording of a whole fleet; the one that is
/// open for longest is then ended.
const OPEN_MAX: usize = 1_024;

/// Calls of one run that wait for their answers at once.
const PENDING_MAX: usize = 256;

/// Names of calls and messages that are remembered, because recordings repeat what they held before.
const SEEN_MAX: usize = 4_096;

/// Where the steps of a recording go.
pub(crate) struct Steps<'a> {
    sink: &'a mut dyn Sink,
    open: VecDeque<Open>,
    default_id: String,
    at: Place,
}

/// A run that is under way.
#[derive(Default)]
struct Open {
    id: String,
    next: u32,
    pending: VecDeque<(String, Call)>,
    seen: VecDeque<String>,
}

impl<'a> Steps<'a> {
    pub(crate) fn new(sink: &'a mut dyn Sink, default_id: String) -> Self {
        Self { sink, open: VecDeque::new(), default_id, at: Place::Whole }
    }

    /// What a run is called that says no name of its own.
    pub(crate) fn default_id(&self) -> String {
        self.default_id.clone()
    }

    /// Where in the recording the reader is.
    pub(crate) fn at(&mut self, place: Place) {
        self.at = place;
    }

    pub(crate) fn flaw(&mut self, flaw: Flaw) {
        self.sink.flaw(flaw);
    }

    /// Something is wrong where the reader is, and the rest of the place is fine.
    pub(crate) fn flawed(&mut self, reason: String) {
        self.sink.flaw(Flaw { place: self.at, reason });
    }

    /// Something was said. Silence is no message.
    pub(crate) fn message(&mut self, run: &str, from: Talker, text: &str) {
        if !text.trim().is_empty() {
            self.event(run, Event::Message { from, text: text.to_owned() });
        }
    }

    /// A call and its answer.
    pub(crate) fn call(&mut self, run: &str, call: Call) {
        self.event(run, Event::Call(call));
    }

    /// The next step of a run.
    pub(crate) fn event(&mut self, run: &str, event: Event) {
        let open = self.open(run);
        let i = open.next;
        open.next = i.saturating_add(1);
        self.sink.step(run, Step { i, event });
    }

    /// A step that has a number of its own. Answers whether that was above the last one; if not, it was counted on.
    pub(crate) fn numbered(&mut self, run: &str, i: Option<u32>, event: Event) -> bool {
        let open = self.open(run);
        let fits = i.is_none_or(|i| open.next <= i);
        if let Some(i) = i.filter(|_| fits) {
            open.next = i;
        }
        self.event(run, event);
        fits
    }

    /// A call whose answer is to come. One that was already seen under this name is not begun again.
    pub(crate) fn begin(&mut self, run: &str, id: &str, call: Call) {
        if !self.is_new(run, id) {
            return;
        }
        let open = self.open(run);
        open.pending.push_back((id.to_owned(), call));
        if PENDING_MAX < open.pending.len() {
            open.pending.pop_front();
        }
    }

    /// The call of this name that has no answer yet.
    pub(crate) fn pending(&mut self, run: &str, id: &str) -> Option<&mut Call> {
        self.open(run).pending.iter_mut().find(|(pending, _)| pending == id).map(|(_, call)| call)
    }

    /// The answer to a call. Answers to nothing that was asked are passed over.
    pub(crate) fn answer(&mut self, run: &str, id: &str, fill: impl FnOnce(&mut Call)) {
        let open = self.open(run);
        let Some(at) = open.pending.iter().position(|(pending, _)| pending == id) else { return };
        if let Some((_, mut call)) = open.pending.remove(at) {
            fill(&mut call);
            self.call(run, call);
        }
    }

    /// Whether this name was not seen in this run before; from now on it was.
    pub(crate) fn is_new(&mut self, run: &str, id: &str) -> bool {
        let seen = &mut self.open(run).seen;
        if seen.iter().any(|seen| seen == id) {
            return false;
        }
        seen.push_back(id.to_owned());
        if SEEN_MAX < seen.len() {
            seen.pop_front();
        }
        true
    }

    /// Begins a run that may turn out to have no steps.
    pub(crate) fn start(&mut self, run: &str) {
        self.open(run);
    }

    /// Nothing more comes of this run.
    pub(crate) fn end(&mut self, run: &str) {
        if let Some(at) = self.open.iter().position(|open| open.id == run)
            && let Some(open) = self.open.remove(at)
        {
            self.close(open);
        }
    }

    /// Nothing more comes at all.
    pub(crate) fn finish(mut self) {
        while let Some(open) = self.open.pop_front() {
            self.close(open);
        }
    }

    fn close(&mut self, open: Open) {
        for (_, call) in open.pending {
            self.sink.unanswered(&open.id, call);
        }
        self.sink.end(&open.id);
    }

    fn open(&mut self, run: &str) -> &mut Open {
        let at = self.open.iter().position(|open| open.id == run).unwrap_or_else(|| {
            if self.open.len() == OPEN_MAX
                && let Some(oldest) = self.open.pop_front()
            {
                self.close(oldest);
            }
            self.open.push_back(Open { id: run.to_owned(), ..Open::default() });
            self.open.len() - 1
        });
        &mut self.open[at]
    }
}

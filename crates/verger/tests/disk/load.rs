//! Agents, their orchestrator and a person who all use the program at once, and note what it acknowledged.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use super::http::{Answer, Http};
use super::{pass, until};

/// Between two requests of one user: the disk is to be busy, not the machine.
const PAUSE: Duration = Duration::from_millis(4);

/// Something that was acknowledged, where it is found, and what is to be found there.
struct Acknowledged {
    at: String,
    holds: fn(&Value, &str) -> bool,
    what: String,
}

/// What the program acknowledged and refused so far.
#[derive(Default)]
pub(crate) struct Ledger {
    acknowledged: Mutex<Vec<Acknowledged>>,
    beats: AtomicUsize,
    unheard: AtomicUsize,
    refused: AtomicUsize,
    is_over: AtomicBool,
}

/// Does one thing; nothing if the program is no longer there.
type User = fn(&Ledger, &Http, usize) -> Option<()>;

impl Ledger {
    /// Has everybody use the program while `meanwhile` goes on. `round` keeps their names apart.
    pub(crate) fn load(&self, http: &Http, round: usize, meanwhile: impl FnOnce()) {
        let users: [User; 5] = [Self::beat, Self::work, Self::save, Self::ask, Self::die];
        self.is_over.store(false, Ordering::Relaxed);
        thread::scope(|scope| {
            for user in users {
                scope.spawn(move || {
                    let mut turn = round * 1_000_000;
                    while !self.is_over.load(Ordering::Relaxed) && user(self, http, turn).is_some() {
                        turn += 1;
                        pass(PAUSE);
                    }
                });
            }
            // Whoever waits for the users must not wait for ever if this panics.
            let _over = Over(&self.is_over);
            meanwhile();
        });
    }

    /// Waits until so much more was acknowledged.
    pub(crate) fn await_more(&self, count: usize) {
        let before = self.len();
        until("more is acknowledged", || (self.len() >= before + count).then_some(()));
    }

    /// Waits until facts are refused, and that heartbeats are taken all the same.
    pub(crate) fn await_refusals(&self) {
        let refused = self.refused.load(Ordering::Relaxed);
        until("facts are refused", || (self.refused.load(Ordering::Relaxed) > refused + 3).then_some(()));
        let beats = self.beats.load(Ordering::Relaxed);
        until("agents are heard", || (self.beats.load(Ordering::Relaxed) > beats + 20).then_some(()));
    }

    pub(crate) fn len(&self) -> usize {
        self.acknowledged.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// Looks for everything that was acknowledged.
    pub(crate) fn check(&self, http: &Http, when: &str) {
        for Acknowledged { at, holds, what } in
            self.acknowledged.lock().unwrap_or_else(PoisonError::into_inner).iter()
        {
            let answer = http.get(at).unwrap_or_else(|error| panic!("{when}: {at}: {error}"));
            assert_eq!(answer.status, 200, "{when}: {at} is lost: {}", answer.body);
            assert!(holds(&answer.body, what), "{when}: {what} is not in {}", answer.body);
        }
    }

    /// Heartbeats that were not taken.
    pub(crate) fn unheard(&self) -> usize {
        self.unheard.load(Ordering::Relaxed)
    }

    pub(crate) fn tally(&self) -> String {
        let (beats, refused) = (self.beats.load(Ordering::Relaxed), self.refused.load(Ordering::Relaxed));
        format!("{} facts acknowledged, {refused} refused, {beats} heartbeats taken", self.len())
    }

    fn note(&self, at: String, holds: fn(&Value, &str) -> bool, what: String) {
        let noted = Acknowledged { at, holds, what };
        self.acknowledged.lock().unwrap_or_else(PoisonError::into_inner).push(noted);
    }

    /// What becomes of an answer: it acknowledges, or refuses for now. Whatever else is wrong.
    fn is_acknowledged(&self, answer: &Answer, status: u16) -> bool {
        match answer.status {
            503 => self.refused.fetch_add(1, Ordering::Relaxed),
            found => {
                assert_eq!(found, status, "{}", answer.body);
                return true;
            }
        };
        false
    }

    /// Agents beat.
    fn beat(&self, http: &Http, turn: usize) -> Option<()> {
        let beat = json!({"agentId": format!("beats-{}", turn % 5), "tokenCount": turn});
        let answer = http.ask("POST", "/v1/heartbeats", Some(&beat)).ok()?;
        let counter = if answer.status == 503 { &self.unheard } else { &self.beats };
        counter.fetch_add(1, Ordering::Relaxed);
        assert!(matches!(answer.status, 202 | 503), "{}", answer.body);
        Some(())
    }

    /// An orchestrator gives out tasks.
    fn work(&self, http: &Http, turn: usize) -> Option<()> {
        let id = format!("work-{turn}");
        let task = json!({"agentId": format!("works-{}", turn % 10), "status": "done", "description": id});
        let answer = http.ask("PUT", &format!("/v1/tasks/{id}"), Some(&task)).ok()?;
        if self.is_acknowledged(&answer, 200) {
            self.note(format!("/v1/tasks/{id}"), |task, id| task["description"] == id, id);
        }
        Some(())
    }

    /// An agent saves its work; some of it is large enough for a file of its own.
    fn save(&self, http: &Http, turn: usize) -> Option<()> {
        let filler = "x".repeat(if turn % 16 == 15 { 300_000 } else { 100 });
        let id = format!("save-{turn}");
        let checkpoint =
            json!({"id": id, "taskId": "save", "agentId": "saves", "state": {"id": id, "filler": filler}});
        let answer = http.ask("POST", "/v1/checkpoints", Some(&checkpoint)).ok()?;
        // One that waits in line is kept, and written when it can be.
        if answer.status == 202 || self.is_acknowledged(&answer, 201) {
            self.note(format!("/v1/checkpoints/{id}"), |saved, id| saved["state"]["id"] == id, id);
        }
        Some(())
    }

    /// A person asks for a decision about an agent.
    fn ask(&self, http: &Http, turn: usize) -> Option<()> {
        let agent = format!("asked-{turn}");
        http.ask("POST", "/v1/heartbeats", Some(&json!({"agentId": agent}))).ok()?;
        let asked = json!({"reason": format!("look at {agent}")});
        let answer = http.ask("POST", &format!("/v1/agents/{agent}/escalate"), Some(&asked)).ok()?;
        // An agent whose heartbeat was not taken is not known.
        if answer.status != 404 && self.is_acknowledged(&answer, 202) {
            let at = format!("/v1/agents/{agent}/events?type=ESCALATION_TRIGGERED");
            self.note(at, |events, agent| events.to_string().contains(&format!("look at {agent}")), agent);
        }
        Some(())
    }

    /// An agent begins, and ends.
    fn die(&self, http: &Http, turn: usize) -> Option<()> {
        let agent = format!("dies-{turn}");
        let spawn = json!({"kind": "spawn", "agentId": agent});
        if !self.is_acknowledged(&http.ask("POST", "/v1/signals", Some(&spawn)).ok()?, 202) {
            return Some(());
        }
        let exit = json!({"kind": "exit", "agentId": agent, "code": 0});
        if self.is_acknowledged(&http.ask("POST", "/v1/signals", Some(&exit)).ok()?, 202) {
            self.note(format!("/v1/agents/{agent}"), |health, _| health["state"] == "TERMINATED", agent);
        }
        Some(())
    }
}

/// The end of a load, however it comes.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

//! Timelines: a script of times goes in, a readable log comes out.
//!
//! A script is a list of lines, `TIME WORDS` or `FROM..TO/STEP WORDS`; the agent is `a` unless the words begin
//! with `@name`. Between two lines the fleet is woken whenever it asks to be. A pinged agent with a channel answers
//! by itself after 10 ms while `answers` is on (the default); outcomes of other effects are up to the script
//! (`outcome delivered`). `beating 5m` has the agent send a heartbeat every five minutes from then on;
//! `$N` in the words is a number that differs from line to line.
//! The log shows facts and effects; pings are left out unless the run asks for them.

mod desk;
mod gates;
mod log;
mod script;

use std::collections::{BTreeMap, VecDeque};
use std::fmt::Write as _;

use verger_core::breaker::Permit;
use verger_core::effect::{Action, Effect, EffectKey, Outcome};
use verger_core::event::Event;
use verger_core::notice::{Notice, NoticeError, Reply};
use verger_core::policy::{Mode, Policies, RestartPolicy};
use verger_core::probe;
use verger_core::signal::{Body, Content, Signal, Status, Trust};
use verger_core::time::{AgentTime, WallTime};
use verger_core::{AgentId, AgentView, Collector, Fleet, Incarnation, RowKey, Span, Timestamp};

/// Where the wall clock stands when observed time begins: some day in 2026.
const WALL_AT_ZERO: i64 = 1_790_000_000_000;

/// A fleet under test.
pub(crate) struct Timeline {
    pub(crate) fleet: Fleet,
    pub(crate) now: Timestamp,
    /// Every event and effect so far.
    pub(crate) events: Vec<Event>,
    pub(crate) effects: Vec<Effect>,
    show_pings: bool,
    log: String,
    /// How pings go: answered, or not answered, refused, unreachable.
    reach: Reach,
    pong_status: Option<Status>,
    pongs: VecDeque<(Timestamp, Signal)>,
    /// The last effect of each agent that waits for an outcome.
    open: Vec<Effect>,
    trust: Trust,
    incarnation: Option<Incarnation>,
    /// How far the agents' clocks are ahead of the wall's, in milliseconds; unset, they say no time.
    clock: Option<i64>,
    /// The number of the last call of each name, and the next number.
    calls: BTreeMap<String, u64>,
    next_call: u64,
    /// Who sends heartbeats by itself: how often, when next, and saying what.
    beating: Vec<Beating>,
    policies: Policies,
    /// What a store would hold, as of the last restart.
    stored: BTreeMap<RowKey, Vec<u8>>,
    /// The last permit of each breaker.
    permits: BTreeMap<String, Permit>,
    /// What the runs of each agent's probes find; nothing comes back where it is lost.
    checks: BTreeMap<String, Option<probe::Outcome>>,
}

struct Beating {
    agent: String,
    every: Span,
    next: Timestamp,
    words: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Reach {
    Answered,
    Delivered,
    Refused,
    Unreachable,
    Unconfirmed,
}

/// Runs a script under the default policies and gives the log.
pub(crate) fn run(script: &str) -> String {
    Timeline::default().play(script).log()
}

/// Runs a script in this mode.
pub(crate) fn run_in(mode: Mode, script: &str) -> String {
    Timeline::in_mode(mode).play(script).log()
}

impl Default for Timeline {
    fn default() -> Self {
        Self::new(Policies::default())
    }
}

impl Timeline {
    pub(crate) fn new(policies: Policies) -> Self {
        Self {
            fleet: Fleet::new(policies.clone(), 7),
            now: Timestamp::ZERO,
            events: Vec::new(),
            effects: Vec::new(),
            show_pings: false,
            log: String::new(),
            reach: Reach::Answered,
            pong_status: None,
            pongs: VecDeque::new(),
            open: Vec::new(),
            trust: Trust::Verified,
            incarnation: None,
            clock: None,
            calls: BTreeMap::new(),
            next_call: 1,
            beating: Vec::new(),
            policies,
            stored: BTreeMap::new(),
            permits: BTreeMap::new(),
            checks: BTreeMap::new(),
        }
    }

    /// Agents that fail together are not held to, so that the limits on what is done to each can be seen.
    pub(crate) fn apart(mut policies: Policies) -> Self {
        policies.correlation.agents_min = u32::MAX;
        policies.correlation.stops_max = u16::MAX;
        policies.correlation.stops_share = 100;
        policies.correlation.look_around = Span::ZERO;
        Self::new(policies)
    }

    /// Everything that may be done without a person is done, and starts come on the second.
    pub(crate) fn unattended() -> Self {
        Self::unattended_with(|_| ())
    }

    /// The same under policies that differ in something.
    pub(crate) fn unattended_with(change: impl FnOnce(&mut Policies)) -> Self {
        let mut policies = Policies::default();
        policies.recovery.jitter_percent = 0;
        policies.each(|role| {
            role.mode = Mode::Full;
            role.restart = RestartPolicy::Recover;
        });
        change(&mut policies);
        Self::new(policies)
    }

    /// Under the default policies, in this mode.
    pub(crate) fn in_mode(mode: Mode) -> Self {
        let mut policies = Policies::default();
        policies.each(|role| role.mode = mode);
        Self::new(policies)
    }

    /// Shows pings in the log, too.
    pub(crate) fn with_pings(mut self) -> Self {
        self.show_pings = true;
        self
    }

    /// Plays a script on from where the last one ended.
    pub(crate) fn play(mut self, script: &str) -> Self {
        for line in script.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let (time, words) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
            for at in script::times(time) {
                assert!(self.now <= at, "{line}: the script goes back in time");
                self.pass_until(at);
                let number = format!("{}", self.now.as_millis() / 100);
                self.do_words(&words.trim().replace("$N", &number));
            }
        }
        self
    }

    /// Whether the log has this line, whatever its time.
    pub(crate) fn has(&self, what: &str) -> bool {
        self.log.lines().any(|line| line.split_once(' ').is_some_and(|(_, text)| text.starts_with(what)))
    }

    /// How many lines of the log begin with this, whatever their time.
    pub(crate) fn count(&self, what: &str) -> usize {
        let begins = |line: &&str| line.split_once(' ').is_some_and(|(_, text)| text.starts_with(what));
        self.log.lines().filter(begins).count()
    }

    /// The log from the first line on that holds this word.
    pub(crate) fn tail(self, word: &str) -> String {
        let at = self.log.find(word).unwrap_or_else(|| panic!("`{word}` is not in\n{}", self.log));
        let line = self.log[..at].rfind('\n').map_or(0, |end| end + 1);
        self.log[line..].to_owned()
    }

    /// The log so far.
    pub(crate) fn so_far(&self) -> &str {
        &self.log
    }

    /// What happened, a line each.
    pub(crate) fn log(self) -> String {
        self.log
    }

    /// What people see of an agent now.
    pub(crate) fn view(&self, id: &str) -> AgentView {
        self.fleet.view(self.now, &id.into()).expect("the agent is registered")
    }

    fn pass_until(&mut self, at: Timestamp) {
        loop {
            let wake = self.fleet.next_wake().filter(|due| *due <= at);
            let pong = self.pongs.front().map(|(due, _)| *due).filter(|due| *due <= at);
            let beat = self.beating.iter().map(|beating| beating.next).min().filter(|due| *due <= at);
            let Some(next) = [wake, pong, beat].into_iter().flatten().min() else { break };
            self.now = self.now.max(next);
            // What has arrived is taken in before deadlines are woken, as the engine does.
            if pong.is_some_and(|due| due <= self.now) {
                let (_, signal) = self.pongs.pop_front().expect("a pong is due");
                self.observe(&signal);
            } else if beat.is_some_and(|due| due <= self.now) {
                self.beat();
            } else {
                let mut out = Collector::default();
                self.fleet.wake(self.now, &mut out);
                self.take(out);
            }
        }
        self.now = at;
    }

    fn beat(&mut self) {
        let beating = self.beating.iter_mut().min_by_key(|beating| beating.next).expect("somebody beats");
        beating.next += beating.every;
        let words = format!("@{} beat {}", beating.agent, beating.words);
        self.do_words(&words);
    }

    fn observe(&mut self, signal: &Signal) {
        let mut out = Collector::default();
        let result = self.fleet.observe(self.now, signal, &mut out);
        self.take(out);
        if let Err(refusal) = result {
            self.note(&format!("refused: {refusal}"));
        }
    }

    fn signal(&self, agent: &str, body: Body) -> Signal {
        let wall = WALL_AT_ZERO + self.now.as_millis().cast_signed();
        let content = Content {
            incarnation: self.incarnation,
            sent_at: self.clock.map(|ahead| AgentTime(wall + ahead)),
            received_at: WallTime(wall),
            trust: self.trust,
            body,
        };
        Signal { agent: agent.into(), content }
    }

    fn take(&mut self, out: Collector) {
        for event in &out.events {
            let line = log::event(event);
            self.note(&line);
        }
        self.events.extend(out.events);
        for effect in out.effects {
            self.effects.push(effect.clone());
            if effect.action == Action::Ping {
                self.answer_ping(&effect.key);
                if !self.show_pings {
                    continue;
                }
            }
            if let Action::Probe(_) = effect.action {
                self.run_probe(&effect);
                if !self.show_pings {
                    continue;
                }
            }
            let line = log::effect(&effect);
            self.note(&line);
            self.open.push(effect);
        }
    }

    fn answer_ping(&mut self, key: &EffectKey) {
        let outcome = match self.reach {
            Reach::Answered | Reach::Delivered => Outcome::Delivered,
            Reach::Refused => Outcome::Refused,
            Reach::Unreachable => Outcome::Unreachable,
            Reach::Unconfirmed => return,
        };
        let outcome = self.signal(key.agent.as_str(), Body::Outcome { key: key.clone(), outcome });
        self.pongs.push_back((self.now, outcome));
        if self.reach == Reach::Answered {
            let pong = self.signal(key.agent.as_str(), Body::Pong { seq: key.seq, status: self.pong_status });
            self.pongs.push_back((self.now + Span::millis(10), pong));
        }
    }

    fn note(&mut self, line: &str) {
        writeln!(self.log, "{} {line}", self.now).expect("a string takes all");
    }

    /// Puts every row where a store would.
    pub(crate) fn store(&mut self) -> &BTreeMap<RowKey, Vec<u8>> {
        let stored = &mut self.stored;
        self.fleet.take_all_rows(&mut |row| {
            match row.bytes {
                Some(bytes) => stored.insert(row.key, bytes),
                None => stored.remove(&row.key),
            };
        });
        stored
    }

    /// Forgets everything and restores it from its rows.
    fn restart(&mut self) {
        self.store();
        let rows = self.stored.clone();
        self.fleet =
            Fleet::restore(self.policies.clone(), 7, rows, self.now).expect("its own rows are readable");
        self.note("restarted");
    }

    /// Other policies hold from now on, without a restart and after one.
    pub(crate) fn under(mut self, policies: Policies) -> Self {
        self.fleet.set_policies(self.now, policies.clone());
        self.policies = policies;
        self
    }

    /// The same, by a restart.
    pub(crate) fn restarted_under(mut self, policies: Policies) -> Self {
        self.policies = policies;
        self.restart();
        self
    }

    /// Tells the fleet of something that is no agent.
    pub(crate) fn notice(&mut self, notice: &Notice) -> Result<Reply, NoticeError> {
        let mut out = Collector::default();
        let reply = self.fleet.notice(self.now, notice, &mut out);
        self.take(out);
        reply
    }

    fn last_effect_of(&self, agent: &AgentId) -> EffectKey {
        let open = self.open.iter().rev().find(|effect| effect.key.agent == *agent);
        open.expect("an effect was released").key.clone()
    }
}

/// One line for each of these.
pub(crate) fn lines<T>(items: impl IntoIterator<Item = T>, line: impl Fn(T) -> String) -> String {
    items.into_iter().map(line).collect::<Vec<_>>().join("\n") + "\n"
}

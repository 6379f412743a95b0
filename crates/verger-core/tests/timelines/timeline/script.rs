//! The words of a script.
//!
//! Signals: `beat [tokens=N] [errors=N] [progress=N] [context=USED/LIMIT] [task=T] [role=R] [STATUS] [for=SPAN]`,
//! `activity`, `call CALL [-> RESULT] [failed] [outage] [tool=T] [took=SPAN]` (finished at once), `poll CALL …` (a call that waits),
//! `start CALL [limit=SPAN]`, `finish CALL [-> RESULT] [failed]`, `copy CALL` (its end once more), `late-start CALL`
//! (the start of a call whose end was seen), `says`, `person-says`, `model-starts`, `model-ends`, `sub-starts N`,
//! `sub-ends N`, `compaction`, `tokens N [cost=N]`, `load [memory=N] [cpu=N]`, `output files=N passed=N failed=N`, `error TEXT [unrecoverable]`,
//! `outage [for=SPAN]`, `status STATUS [on=KIND] [for=SPAN]`, `handoff`, `blocker`, `checkpoint ID`,
//! `spawn [role=R] [task=T] [host=H]`, `exit [code=N] [signal=N]`, `assign T`, `end-task T`, `channel`, `hang-up`.
//! Orders: `order nudge|escalate|terminate|more-time [for=SPAN]|force-handoff|recover|unregister|mode M|role R`.
//! Surroundings: `answers`, `silent`, `refuses`, `unreachable`, `unconfirmed` (how pings go), `pongs-say STATUS`,
//! `outcome WORD` (of the last effect), `unverified`, `verified`, `life N` / `life any`, `restart`, `beating SPAN`,
//! `still` (no heartbeats by itself), `clock [-]SPAN` (agents' clocks are ahead by this) / `clock none`,
//! `surveyed ID…` (of the last survey), `monitor-back SPAN` (the monitor was away, and blames nobody for so long).
//! Steps whose text is heard: `run TOOL ARGS… [-> RESULT…] [!]`, `talks …`, `person-talks …`; see `told`.
//! Tasks and messages: see `desk`.
//! Breakers and checkpoints: see [`gates`](super::gates).

mod told;
mod watch;

use verger_core::command::{Command, Decision, Order};
use verger_core::effect::{Action, Outcome};
use verger_core::fingerprint::{CallClass, CallPrint, ResultPrint, TextPrint};
use verger_core::id::{CheckpointId, ToolName};
use verger_core::policy::Mode;
use verger_core::recovery::{Checkpoint, Content, ContentHash};
use verger_core::resources::Load;
use verger_core::signal::{
    Author, Awaited, Body, Channel, Context, Exit, Failure, Heartbeat, Output, Spawn, Status, StatusReport,
    TaskChange, Trust,
};
use verger_core::{AgentId, Collector, Incarnation, Span, Timestamp};

use super::{Beating, Reach, Timeline};

/// `90`, `250ms`, `5m`, `1h30m`, `2d`.
pub(crate) fn span(text: &str) -> Span {
    let mut total = Span::ZERO;
    let mut digits = String::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        if c.is_ascii_digit() {
            digits.push(c);
            continue;
        }
        let number: u64 = digits.parse().unwrap_or_else(|_| panic!("`{text}` is no time"));
        digits.clear();
        total += match c {
            'm' if rest.starts_with('s') => {
                rest = &rest[1..];
                Span::millis(number)
            }
            's' => Span::secs(number),
            'm' => Span::minutes(number),
            'h' => Span::hours(number),
            'd' => Span::hours(24 * number),
            _ => panic!("`{text}` is no time"),
        };
    }
    if digits.is_empty() { total } else { total + Span::secs(digits.parse().expect("digits")) }
}

/// `5m`, or `0s..1h/5m`: every five minutes from the first to the last.
pub(crate) fn times(text: &str) -> Vec<Timestamp> {
    let at = |text| Timestamp::ZERO + span(text);
    let Some((from, rest)) = text.split_once("..") else { return vec![at(text)] };
    let (to, step) = rest.split_once('/').unwrap_or_else(|| panic!("`{text}` has no step"));
    let (mut next, last, step) = (at(from), at(to), span(step));
    let mut times = Vec::new();
    while next <= last {
        times.push(next);
        next += step;
    }
    times
}

pub(super) struct Words<'a>(pub(super) Vec<&'a str>);

impl<'a> Words<'a> {
    pub(super) fn value(&self, key: &str) -> Option<&'a str> {
        self.0.iter().find_map(|word| word.strip_prefix(key)?.strip_prefix('='))
    }

    pub(super) fn number(&self, key: &str) -> Option<u64> {
        self.value(key).map(|text| text.parse().unwrap_or_else(|_| panic!("{key}={text} is no number")))
    }

    pub(super) fn has(&self, word: &str) -> bool {
        self.0.contains(&word)
    }

    pub(super) fn first(&self) -> &'a str {
        self.0.first().copied().unwrap_or_else(|| panic!("a word is missing"))
    }

    fn status(&self) -> Option<Status> {
        self.0.iter().find_map(|word| status(word))
    }
}

impl Timeline {
    pub(crate) fn do_words(&mut self, words: &str) {
        let (agent, words) = match words.strip_prefix('@') {
            Some(named) => named.split_once(' ').unwrap_or((named, "")),
            None => ("a", words),
        };
        let mut list = words.split_whitespace();
        let Some(verb) = list.next() else { return };
        let rest = Words(list.collect());
        if self.change_surroundings(agent, verb, &rest)
            || self.desk_words(agent, verb, &rest)
            || self.watch(agent, verb, &rest)
            || self.told(agent, verb, &rest)
        {
            return;
        }
        match verb {
            "order" => self.order(agent, &rest),
            _ if self.do_gate_words(verb, &rest) => {}
            "call" | "poll" => {
                let (call, print) = (self.new_call(agent, rest.first()), print(verb, &rest));
                self.tell(agent, Body::ToolStarted { call, print, limit: None });
                self.tell(
                    agent,
                    Body::ToolFinished { call, print, result: result(&rest), tool: tool(&rest), step: None },
                );
            }
            "start" => {
                let (call, print) = (self.new_call(agent, rest.first()), print(verb, &rest));
                self.tell(agent, Body::ToolStarted { call, print, limit: rest.value("limit").map(span) });
            }
            "late-start" => {
                let call = self.calls[&format!("{agent} {}", rest.first())];
                self.tell(agent, Body::ToolStarted { call, print: print(verb, &rest), limit: None });
            }
            "finish" | "copy" => {
                let known = self.calls.get(&format!("{agent} {}", rest.first())).copied();
                let call = known.unwrap_or_else(|| self.new_call(agent, rest.first()));
                let (print, result, tool) = (print(verb, &rest), result(&rest), tool(&rest));
                self.tell(agent, Body::ToolFinished { call, print, result, tool, step: None });
            }
            _ => self.tell(agent, body(verb, &rest)),
        }
    }

    pub(crate) fn tell(&mut self, agent: &str, body: Body) {
        let signal = self.signal(agent, body);
        self.observe(&signal);
    }

    /// Every call has a number of its own, though its name may be an old one.
    fn new_call(&mut self, agent: &str, name: &str) -> u64 {
        let number = self.next_call;
        self.next_call += 1;
        self.calls.insert(format!("{agent} {name}"), number);
        number
    }

    fn change_surroundings(&mut self, agent: &str, verb: &str, words: &Words<'_>) -> bool {
        match verb {
            "answers" => self.reach = Reach::Answered,
            "silent" => self.reach = Reach::Delivered,
            "refuses" => self.reach = Reach::Refused,
            "unreachable" => self.reach = Reach::Unreachable,
            "unconfirmed" => self.reach = Reach::Unconfirmed,
            "pongs-say" => self.pong_status = status(words.first()),
            "unverified" => self.trust = Trust::Unverified,
            "verified" => self.trust = Trust::Verified,
            "life" => self.incarnation = words.first().parse().ok().map(Incarnation),
            "restart" => self.restart(),
            "wait" => {}
            "monitor-back" => self.fleet.forgive(self.now, span(words.first())),
            "still" => self.beating.retain(|beating| beating.agent != agent),
            "beating" => {
                let every = span(words.first());
                let (next, said) = (self.now + every, words.0[1..].join(" "));
                self.beating.push(Beating { agent: agent.to_owned(), every, next, words: said });
            }
            "clock" => {
                let millis = |text: &str| span(text).as_millis().cast_signed();
                self.clock = match words.first() {
                    "none" => None,
                    text => Some(text.strip_prefix('-').map_or_else(|| millis(text), |text| -millis(text))),
                };
            }
            "outcome" => {
                let key = self.last_effect_of(&AgentId::from(agent));
                let outcome = match words.first() {
                    "delivered" => Outcome::Delivered,
                    "refused" => Outcome::Refused,
                    "unreachable" => Outcome::Unreachable,
                    "stopped" => Outcome::Stopped,
                    "failed" => Outcome::Failed,
                    "unreadable" => Outcome::Unreadable,
                    "rejected" => Outcome::Rejected,
                    other => panic!("no outcome `{other}`"),
                };
                self.tell(agent, Body::Outcome { key, outcome });
            }
            "surveyed" => self.survey(agent, words),
            _ => return false,
        }
        true
    }

    /// The store says which checkpoints of the task there are: those that are named, each after the one before it;
    /// `-c2` is damaged.
    fn survey(&mut self, agent: &str, words: &Words<'_>) {
        let key = self.last_effect_of(&AgentId::from(agent));
        let asked = self.effects.iter().rev().find_map(|effect| match &effect.action {
            Action::Survey { task } if effect.key == key => Some(task.clone()),
            _ => None,
        });
        let task = asked.expect("a survey was asked for");
        let mut parent = None;
        let checkpoints = words.0.iter().enumerate().map(|(order, word)| {
            let id = CheckpointId::from(word.trim_start_matches('-'));
            let content = if word.starts_with('-') { Content::Damaged } else { Content::Intact };
            let mut hash = ContentHash::default();
            hash.0[0] = order as u8 + 1;
            let (made_at, order) = (self.now, order as u64);
            let parent = parent.replace(id.clone());
            Checkpoint { id, task: task.clone(), parent, hash, content, order, made_at }
        });
        let checkpoints = checkpoints.collect();
        self.tell(agent, Body::Surveyed { key, checkpoints });
    }

    fn order(&mut self, agent: &str, words: &Words<'_>) {
        let decide = |decision| Order::Decide { decision, reason: "decided".into() };
        let order = match words.first() {
            "nudge" => Order::Nudge { text: None },
            "escalate" => Order::Escalate { reason: "asked".into() },
            "terminate" => Order::Terminate { reason: "told to".into() },
            "more-time" => decide(Decision::AllowMoreTime(words.value("for").map(span))),
            "force-handoff" => decide(Decision::ForceHandoff),
            "recover" => decide(Decision::TerminateAndRecover),
            "unregister" => Order::Unregister,
            "mode" => Order::SetMode(Some(mode(words.0[1]))),
            "role" => Order::SetRole(words.0[1].into()),
            other => panic!("no order `{other}`"),
        };
        let command = Command { agent: agent.into(), incarnation: self.incarnation, by: "ada".into(), order };
        let mut out = Collector::default();
        let result = self.fleet.command(self.now, &command, &mut out);
        self.take(out);
        if let Err(error) = result {
            self.note(&format!("refused: {error}"));
        }
    }
}

fn body(verb: &str, words: &Words<'_>) -> Body {
    match verb {
        "beat" => Body::Heartbeat(heartbeat(words)),
        "activity" => Body::Activity,
        "says" => {
            Body::Message { author: Author::Agent, text: TextPrint::of(&words.0.join(" ")), step: None }
        }
        "person-says" => {
            Body::Message { author: Author::Person, text: TextPrint::of(&words.0.join(" ")), step: None }
        }
        "model-starts" => Body::ModelStarted,
        "model-ends" => Body::ModelFinished,
        "sub-starts" => Body::SubagentStarted { id: words.first().parse().expect("a number") },
        "sub-ends" => Body::SubagentFinished { id: words.first().parse().expect("a number") },
        "compaction" => Body::Compaction,
        "tokens" => {
            let output = words.first().parse().expect("a number");
            Body::Tokens { input: 0, output, cost_micros: words.number("cost").unwrap_or(0) }
        }
        "load" => Body::Load(Load {
            memory_bytes: words.number("memory").unwrap_or(0),
            cpu_millis: words.number("cpu").unwrap_or(0),
        }),
        "output" => Body::Output(output(words)),
        "error" => Body::Error(failure(words, false)),
        "outage" => Body::Error(failure(words, true)),
        "status" => Body::Status(StatusReport {
            status: words.status().expect("a status"),
            waiting_on: words.value("on").map(awaited),
            lasting: words.value("for").map(span),
        }),
        "handoff" => Body::Handoff { reason: "full".into() },
        "blocker" => Body::Blocker { reason: "no key".into() },
        "checkpoint" => Body::Checkpoint { id: words.first().into() },
        "spawn" => Body::Spawn(Spawn {
            host: words.value("host").map(Into::into),
            provider: words.value("provider").map(Into::into),
            role: words.value("role").map(Into::into),
            task: words.value("task").map(Into::into),
        }),
        "exit" => Body::Exit(Exit {
            code: words.number("code").map(|code| code as i32),
            signal: words.number("signal").map(|signal| signal as i32),
        }),
        "assign" => Body::Task(TaskChange::Assigned(words.first().into())),
        "end-task" => Body::Task(TaskChange::Ended(words.first().into())),
        "channel" => Body::Channel(Channel::Opened),
        "hang-up" => Body::Channel(Channel::Closed),
        "leaves-channel" => Body::Channel(Channel::Left),
        other => panic!("no verb `{other}`"),
    }
}

fn heartbeat(words: &Words<'_>) -> Heartbeat {
    let context = words.value("context").map(|text| {
        let (used, limit) = text.split_once('/').expect("USED/LIMIT");
        Context { used: used.parse().expect("a number"), limit: limit.parse().expect("a number") }
    });
    Heartbeat {
        task: words.value("task").map(Into::into),
        role: words.value("role").map(Into::into),
        tokens: words.number("tokens"),
        errors: words.number("errors"),
        progress: words.number("progress"),
        status: words.status(),
        busy_for: words.value("for").map(span),
        context,
        cost_micros: words.number("cost"),
    }
}

/// The call's name makes its fingerprint; `poll` makes it one that waits.
fn print(verb: &str, words: &Words<'_>) -> CallPrint {
    let mut print = CallPrint::of("bash", words.first());
    if verb == "poll" {
        print.class = CallClass::Waiting;
    }
    print
}

fn tool(words: &Words<'_>) -> Option<ToolName> {
    words.value("tool").map(Into::into)
}

fn result(words: &Words<'_>) -> ResultPrint {
    let text = words.0.iter().skip_while(|word| **word != "->").nth(1).copied().unwrap_or("done");
    let mut result = ResultPrint::of(text, words.has("failed"), words.value("took").map(span));
    result.outage |= words.has("outage");
    result
}

fn output(words: &Words<'_>) -> Output {
    let number = |key| words.number(key).map(|number| number as u32);
    Output { files_changed: number("files"), tests_passed: number("passed"), tests_failed: number("failed") }
}

fn failure(words: &Words<'_>, provider: bool) -> Failure {
    Failure {
        text: TextPrint::of(words.0.first().copied().unwrap_or("error")),
        unrecoverable: words.has("unrecoverable"),
        provider,
        retry_after: words.value("for").map(span),
    }
}

fn status(word: &str) -> Option<Status> {
    Some(match word {
        "healthy" => Status::Healthy,
        "busy" => Status::Busy,
        "degraded" => Status::Degraded,
        "idle" => Status::Idle,
        "waiting" => Status::Waiting,
        _ => return None,
    })
}

fn awaited(word: &str) -> Awaited {
    match word {
        "tool" => Awaited::Tool,
        "model" => Awaited::Model,
        "subagent" => Awaited::Subagent,
        "person" => Awaited::Person,
        "provider" => Awaited::Provider,
        "timer" => Awaited::Timer,
        other => panic!("nobody waits on `{other}`"),
    }
}

fn mode(word: &str) -> Mode {
    match word {
        "observe" => Mode::Observe,
        "nudge" => Mode::Nudge,
        "escalate" => Mode::Escalate,
        "full" => Mode::Full,
        other => panic!("no mode `{other}`"),
    }
}

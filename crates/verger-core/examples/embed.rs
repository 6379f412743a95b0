//! Verger's decisions inside another program: no server, no store, no runtime, not even a clock of its own.
//!
//! Two agents are watched under 002's production preset. One answers its pings; the other freezes. The program
//! hands over what it sees, does what it is asked to, and keeps time. `cargo run --example embed` prints the story.

use verger_core::effect::{Action, Effect, Outcome};
use verger_core::event::Fact;
use verger_core::policy::Policies;
use verger_core::signal::{Body, Channel, Content, Signal, Spawn, Trust};
use verger_core::time::WallTime;
use verger_core::{Collector, Fleet, Span, Timestamp};

/// The program around the fleet: its clock, and which of its agents still answers.
struct Host {
    fleet: Fleet,
    now: Timestamp,
    frozen: Option<&'static str>,
    story: Vec<String>,
}

impl Host {
    fn new() -> Self {
        Self {
            fleet: Fleet::new(Policies::default(), 42),
            now: Timestamp::ZERO,
            frozen: None,
            story: Vec::new(),
        }
    }

    /// Something was seen of an agent.
    fn saw(&mut self, agent: &str, body: Body) {
        let wall = WallTime(1_790_000_000_000 + self.now.as_millis().cast_signed());
        let content =
            Content { incarnation: None, sent_at: None, received_at: wall, trust: Trust::Verified, body };
        let mut out = Collector::default();
        let signal = Signal { agent: agent.into(), content };
        if let Err(refusal) = self.fleet.observe(self.now, &signal, &mut out) {
            self.tell(agent, &refusal.to_string());
        }
        self.follow(out);
    }

    /// Lets time pass, waking the fleet whenever it asks to be.
    fn pass(&mut self, span: Span) {
        let until = self.now + span;
        while let Some(due) = self.fleet.next_wake().filter(|due| *due <= until) {
            self.now = due;
            let mut out = Collector::default();
            self.fleet.wake(due, &mut out);
            self.follow(out);
        }
        self.now = until;
    }

    /// Notes the facts, then does what is to be done.
    fn follow(&mut self, out: Collector) {
        for event in out.events {
            let agent = event.agent.map_or_else(|| "the fleet".to_owned(), |(id, _)| id.to_string());
            match event.fact {
                Fact::StateChanged { from, to, evidence } => {
                    let why: Vec<String> = evidence.iter().map(ToString::to_string).collect();
                    self.tell(&agent, &format!("{from} -> {to} {}", why.join("; ")));
                }
                Fact::Disconnected { status, cause, .. } => {
                    let cause = cause.map_or_else(String::new, |cause| format!(", {cause}"));
                    self.tell(&agent, &format!("is {status}{cause}"));
                }
                _ => {}
            }
        }
        for effect in out.effects {
            self.act(&effect);
        }
    }

    fn act(&mut self, effect: &Effect) {
        let agent = effect.key.agent.as_str().to_owned();
        match &effect.action {
            Action::Ping => {
                self.saw(&agent, Body::Outcome { key: effect.key.clone(), outcome: Outcome::Delivered });
                if self.frozen != Some(agent.as_str()) {
                    self.saw(&agent, Body::Pong { seq: effect.key.seq, status: None });
                }
            }
            Action::Nudge { text, .. } => self.tell(&agent, &format!("is told: {text}")),
            Action::Escalate(escalation) => {
                self.tell(&agent, &format!("needs a person: {}", escalation.reason));
            }
            Action::Inquire { .. }
            | Action::Interrupt { .. }
            | Action::RequestHandoff { .. }
            | Action::Stop { .. }
            | Action::Deliver { .. }
            | Action::RemindOfMessage { .. }
            | Action::TellSender { .. }
            | Action::Survey { .. }
            | Action::Spawn(_)
            | Action::Withdraw { .. }
            | Action::WriteCheckpoint { .. }
            | Action::Probe(_)
            | Action::AskAdvice(_) => {}
        }
    }

    fn tell(&mut self, agent: &str, what: &str) {
        self.story.push(format!("{} {agent} {}", self.now, what.trim_end()));
    }
}

/// Two agents, a freeze, and an agent that was given work and does not run it.
pub(crate) fn story() -> Vec<String> {
    let mut host = Host::new();
    for agent in ["builder", "reviewer"] {
        host.saw(agent, Body::Spawn(Spawn { task: Some("fix the login".into()), ..Spawn::default() }));
        host.saw(agent, Body::Channel(Channel::Opened));
        host.saw(agent, Body::Activity);
    }
    host.pass(Span::secs(30));
    host.frozen = Some("builder");
    host.pass(Span::secs(10));
    host.frozen = None;
    host.saw("builder", Body::Activity);
    let idle = verger_core::signal::StatusReport {
        status: verger_core::signal::Status::Idle,
        waiting_on: None,
        lasting: None,
    };
    host.saw("reviewer", Body::Status(idle));
    host.pass(Span::minutes(11));
    host.story
}

#[cfg_attr(test, expect(dead_code, reason = "the test reads the story instead of printing it"))]
#[expect(clippy::print_stdout, reason = "printing is what this example is for")]
fn main() {
    for line in story() {
        println!("{line}");
    }
}

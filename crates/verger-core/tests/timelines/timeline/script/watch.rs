//! The words of the judge, the queen and the probes.
//!
//! `session NAME [graph=G]`, `session-ends NAME`, `step N [VERDICT] [in=SESSION] [node=X] [says=TEXT]` (in session
//! `s` unless it says), `ticket [worker=W] [session=S] [id=ID] [severity=S] [steps=N] [stall=MINUTES]`,
//! `advice ID dismiss|intervene|unsure`, `answer ID more-time|handoff|recover [by=A] [for=SPAN]` (the ID `last` is that
//! of the newest ticket), `probes NAME[,advisory] …` (none takes them away), `check NAME passes|fails|times-out|unclear|lost`
//! (what its runs find from now on), `result NAME run=N passes|fails|… [life=N]` (a result by itself).

use std::sync::Arc;

use verger_core::Incarnation;
use verger_core::command::Decision;
use verger_core::effect::{Action, Effect};
use verger_core::id::TicketId;
use verger_core::notice::Notice;
use verger_core::probe::{Outcome, ProbeResult, ProbeSpec};
use verger_core::verdicts::{Advice, Answer, Draft, Opinion, Stalling, Step, Verdict};

use super::super::Timeline;
use super::{Words, span};

impl Timeline {
    /// Says one of these words; tells whether it is one.
    pub(super) fn watch(&mut self, agent: &str, verb: &str, words: &Words<'_>) -> bool {
        let notice = match verb {
            "session" => Notice::SessionBegan {
                worker: agent.into(),
                session: words.first().into(),
                graph: words.value("graph").map(Into::into),
            },
            "session-ends" => Notice::SessionEnded { worker: agent.into(), session: words.first().into() },
            "step" => Notice::Step {
                worker: agent.into(),
                session: words.value("in").unwrap_or("s").into(),
                step: Box::new(step(words)),
            },
            "ticket" => Notice::Ticket(Box::new(draft(agent, words))),
            "advice" => {
                let advice = Advice::new("a model", opinion(words.0[1]), "so it seems");
                Notice::Advice { ticket: self.ticket(words.first()), advice }
            }
            "answer" => Notice::Answer { ticket: self.ticket(words.first()), answer: answer(words) },
            "probes" => Notice::Probes { agent: agent.into(), specs: words.0.iter().map(spec).collect() },
            "result" => {
                let found = outcome(words.0[2]).expect("an outcome");
                let life = Incarnation(words.number("life").unwrap_or(1) as u32);
                let run = words.number("run").expect("a run");
                probed(agent, result(words.first(), run, life, found))
            }
            "check" => {
                self.checks.insert(format!("{agent} {}", words.first()), outcome(words.0[1]));
                return true;
            }
            _ => return false,
        };
        if let Err(error) = self.notice(&notice) {
            self.note(&format!("refused: {error}"));
        }
        true
    }

    /// A probe that is to run finds at once what the script says.
    pub(in crate::timeline) fn run_probe(&mut self, effect: &Effect) {
        let Action::Probe(start) = &effect.action else { return };
        let agent = effect.key.agent.as_str();
        let known = self.checks.get(&format!("{agent} {}", start.probe)).copied();
        if let Some(found) = known.unwrap_or(Some(Outcome::Passed)) {
            let result = result(start.probe.as_str(), start.run, effect.key.incarnation, found);
            let _ = self.notice(&probed(agent, result));
        }
    }

    fn ticket(&self, word: &str) -> TicketId {
        match word {
            "last" => self.fleet.tickets().all().next().expect("there is a ticket").ticket.id.clone(),
            other => other.into(),
        }
    }
}

fn step(words: &Words<'_>) -> Step {
    let text = |key| words.value(key).map(Arc::from);
    Step {
        number: words.first().parse().expect("a number"),
        verdict: words.0.get(1).and_then(|word| Verdict::from_word(word)),
        node: text("node"),
        output: text("says"),
    }
}

fn draft(agent: &str, words: &Words<'_>) -> Draft {
    let text = |text: &str| Some(text.to_owned());
    Draft {
        ticket_id: words.value("id").map(ToOwned::to_owned),
        worker_agent_id: text(words.value("worker").unwrap_or(agent)),
        worker_session_id: text(words.value("session").unwrap_or("s")),
        worker_node_id: text("edit"),
        worker_graph_id: text("coder"),
        severity: text(words.value("severity").unwrap_or("medium")),
        cause: text("seen"),
        judge_reasoning: text("reasoned"),
        suggested_action: text("look"),
        recent_verdicts: Some(vec!["RETRY".to_owned()]),
        total_steps_checked: Some(20),
        steps_since_last_accept: Some(words.number("steps").unwrap_or(0).cast_signed()),
        stall_minutes: words.number("stall").map_or(Stalling::Moving, |m| Stalling::Minutes(m as f64)),
        evidence_snippet: (!words.has("partial")).then(String::new),
    }
}

fn opinion(word: &str) -> Opinion {
    match word {
        "dismiss" => Opinion::Dismiss,
        "intervene" => Opinion::Intervene,
        "unsure" => Opinion::Unsure,
        other => panic!("no opinion `{other}`"),
    }
}

fn answer(words: &Words<'_>) -> Answer {
    let decision = match words.0[1] {
        "more-time" => Decision::AllowMoreTime(words.value("for").map(span)),
        "handoff" => Decision::ForceHandoff,
        "recover" => Decision::TerminateAndRecover,
        other => panic!("no decision `{other}`"),
    };
    Answer { by: words.value("by").unwrap_or("ada").into(), decision, reason: "looked at it".into() }
}

fn spec(word: &&str) -> ProbeSpec {
    let (name, advisory) = word.strip_suffix(",advisory").map_or((*word, false), |name| (name, true));
    let mut spec = ProbeSpec::new(name, 1);
    spec.included = !advisory;
    spec
}

/// Nothing comes back from a run that is lost.
fn outcome(word: &str) -> Option<Outcome> {
    match word {
        "passes" => Some(Outcome::Passed),
        "fails" => Some(Outcome::Failed),
        "times-out" => Some(Outcome::TimedOut),
        "unclear" => Some(Outcome::Inconclusive),
        "lost" => None,
        other => panic!("no outcome `{other}`"),
    }
}

fn probed(agent: &str, result: ProbeResult) -> Notice {
    Notice::Probed { agent: agent.into(), result: Box::new(result) }
}

fn result(probe: &str, run: u64, incarnation: Incarnation, outcome: Outcome) -> ProbeResult {
    ProbeResult {
        probe: probe.into(),
        run,
        incarnation,
        outcome,
        description: None,
        error: None,
        duration: verger_core::Span::millis(20),
        data: None,
    }
}

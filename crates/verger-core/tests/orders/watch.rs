//! What is told of workers and probes: sessions that never began, steps out of order, tickets about anybody, results
//! that nobody awaits.

use proptest::prelude::*;
use verger_core::Incarnation;
use verger_core::command::Decision;
use verger_core::notice::Notice;
use verger_core::probe::{Outcome, ProbeResult, ProbeSpec};
use verger_core::verdicts::{Advice, Answer, Draft, Opinion, Stalling, Step, Verdict};

use crate::world::{agent, number, span};

fn session() -> impl Strategy<Value = &'static str> {
    prop_oneof![4 => Just("s"), 1 => Just("t"), 1 => Just("")]
}

fn step() -> impl Strategy<Value = Step> {
    let verdict = prop_oneof![
        4 => Just(Some(Verdict::Retry)),
        1 => Just(Some(Verdict::Accept)),
        1 => Just(None),
    ];
    (prop_oneof![4 => 0..60_u64, 1 => any::<u64>()], verdict).prop_map(|(number, verdict)| Step {
        number,
        verdict,
        node: Some("edit".into()),
        output: Some("so\u{202e}".into()),
    })
}

fn draft() -> impl Strategy<Value = Draft> {
    let severity = prop_oneof![Just("low"), Just("medium"), Just("critical"), Just("grave")];
    let id = prop::option::of(prop_oneof![Just("t1"), Just("t2")]);
    (agent(), session(), id, severity, number()).prop_map(|(worker, session, id, severity, steps)| {
        let text = |text: &str| Some(text.to_owned());
        Draft {
            ticket_id: id.map(ToOwned::to_owned),
            worker_agent_id: text(worker.as_str()),
            worker_session_id: text(session),
            worker_node_id: text("n"),
            worker_graph_id: text("g"),
            severity: text(severity),
            cause: text("c"),
            judge_reasoning: text("r"),
            suggested_action: text("a"),
            recent_verdicts: Some(Vec::new()),
            total_steps_checked: Some(1),
            steps_since_last_accept: Some(steps.cast_signed()),
            stall_minutes: Stalling::Moving,
            evidence_snippet: text(""),
        }
    })
}

fn specs() -> impl Strategy<Value = Vec<ProbeSpec>> {
    let spec = (prop_oneof![Just("http"), Just("tcp")], 200..320_u64, any::<bool>());
    prop::collection::vec(spec, 0..3).prop_map(|list| {
        let spec = |(name, secs, included): (&str, u64, bool)| {
            let mut spec = ProbeSpec::new(name, secs % 2);
            // Long ones, so that a world of weeks is not all probes; some are longer than they may be.
            spec.interval = verger_core::Span::secs(secs);
            spec.included = included;
            spec
        };
        list.into_iter().map(spec).collect()
    })
}

fn result() -> impl Strategy<Value = ProbeResult> {
    let outcome = prop_oneof![
        1 => Just(Outcome::Passed),
        3 => Just(Outcome::Failed),
        1 => Just(Outcome::TimedOut),
        1 => Just(Outcome::Inconclusive),
    ];
    (prop_oneof![Just("http"), Just("tcp")], 0..40_u64, 1..3_u32, outcome, span()).prop_map(
        |(probe, run, life, outcome, duration)| ProbeResult {
            probe: probe.into(),
            run,
            incarnation: Incarnation(life),
            outcome,
            description: None,
            error: None,
            duration,
            data: None,
        },
    )
}

pub(crate) fn notice() -> impl Strategy<Value = Notice> {
    let ticket = || prop_oneof![Just("t1"), Just("t2"), Just("nobody's")];
    let opinion = prop_oneof![Just(Opinion::Dismiss), Just(Opinion::Intervene), Just(Opinion::Unsure)];
    let decision = prop_oneof![
        prop::option::of(span()).prop_map(Decision::AllowMoreTime),
        Just(Decision::ForceHandoff),
        Just(Decision::TerminateAndRecover),
    ];
    prop_oneof![
        3 => (agent(), session()).prop_map(|(worker, session)| {
            Notice::SessionBegan { worker, session: session.into(), graph: None }
        }),
        1 => (agent(), session())
            .prop_map(|(worker, session)| Notice::SessionEnded { worker, session: session.into() }),
        8 => (agent(), session(), step()).prop_map(|(worker, session, step)| {
            Notice::Step { worker, session: session.into(), step: Box::new(step) }
        }),
        3 => draft().prop_map(|draft| Notice::Ticket(Box::new(draft))),
        1 => (ticket(), opinion).prop_map(|(ticket, opinion)| {
            Notice::Advice { ticket: ticket.into(), advice: Advice::new("m", opinion, "r") }
        }),
        1 => (ticket(), decision).prop_map(|(ticket, decision)| {
            let answer = Answer { by: "ada".into(), decision, reason: "so".into() };
            Notice::Answer { ticket: ticket.into(), answer }
        }),
        2 => (agent(), specs()).prop_map(|(agent, specs)| Notice::Probes { agent, specs }),
        4 => (agent(), result())
            .prop_map(|(agent, result)| Notice::Probed { agent, result: Box::new(result) }),
    ]
}

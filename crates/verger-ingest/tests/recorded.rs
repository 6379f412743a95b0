//! Sessions recorded for this purpose: real commands, their real answers and the time between them (twenty times as long
//! as it was). Beside its steps each says what a person would: `healthy`, or `stuck` from a step on (L06, L14, X20).

use std::path::Path;

use serde::Deserialize;
use verger_ingest::{Event, Format, Recording, Run, Runs, State, inspect, read};

/// How long after a person's verdict a stuck session may go unnoticed.
const NOTICED_WITHIN_MS: i64 = 5 * 60 * 1_000;

#[derive(Deserialize)]
struct Label {
    run_id: String,
    verdict: String,
    from_step: Option<u32>,
}

fn sessions() -> Vec<(Run, Label)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recorded/sessions.jsonl");
    let text = std::fs::read_to_string(&path).expect("the sessions are beside the test");
    let labels = text.lines().map(|line| serde_json::from_str::<Label>(line).expect("a label"));
    let mut runs = Runs::default();
    read(&Recording::file(&path), Some(Format::Runs), &mut runs, &|_| {}).expect("sessions can be read");
    assert_eq!(runs.flaws, []);
    let sessions: Vec<_> = runs.done.into_iter().zip(labels).collect();
    assert!(sessions.iter().all(|(run, label)| run.id == label.run_id));
    sessions
}

fn ended_ms(run: &Run, step: u32) -> i64 {
    let call = run.steps.iter().find(|own| own.i == step).map(|step| &step.event);
    match call {
        Some(Event::Call(call)) => call.ended_ms.expect("every call has its time"),
        other => panic!("step {step} of {} is no call: {other:?}", run.id),
    }
}

#[test]
fn l14_no_recorded_session_that_gets_on_is_called_stuck() {
    let healthy: Vec<_> = sessions().into_iter().filter(|(_, label)| label.verdict == "healthy").collect();
    assert!(4 <= healthy.len());
    for (run, _) in healthy {
        let finding = inspect(&run);
        assert_eq!(finding.stuck_at, None, "{}: {:?}", run.id, finding.evidence);
    }
}

#[test]
fn l14_every_recorded_session_that_is_stuck_is_called_so_within_five_minutes() {
    let stuck: Vec<_> = sessions().into_iter().filter(|(_, label)| label.verdict == "stuck").collect();
    assert!(4 <= stuck.len());
    for (run, label) in stuck {
        let finding = inspect(&run);
        assert_eq!(finding.state, State::Stuck, "{}", run.id);
        let (at, from) = (finding.stuck_at.expect("a step"), label.from_step.expect("a step"));
        let late_ms = ended_ms(&run, at) - ended_ms(&run, from);
        assert!(late_ms <= NOTICED_WITHIN_MS, "{}: {late_ms} ms", run.id);
        assert!(at <= from + 3, "{}: at step {at}, not {from}", run.id);
    }
}

#[test]
fn x20_the_verdict_on_a_recorded_session_rests_on_nothing_that_came_later() {
    for (run, label) in sessions().into_iter().filter(|(_, label)| label.verdict == "stuck") {
        let at = inspect(&run).stuck_at.expect("a step");
        let cut = |last: u32| Run {
            id: label.run_id.clone(),
            steps: run.steps.iter().filter(|step| step.i <= last).cloned().collect(),
        };
        assert_eq!(inspect(&cut(at)).stuck_at, Some(at), "{}", run.id);
        assert_eq!(inspect(&cut(at - 1)).stuck_at, None, "{}", run.id);
    }
}

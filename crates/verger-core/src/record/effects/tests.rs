//! Every action survives, and nothing that was changed is believed.

use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::effect::EffectKey;
use crate::evidence::{Evidence, Measure, Severity, Sign};
use crate::id::Incarnation;
use crate::messages::Undelivered;
use crate::probe::{Outcome, Reported};
use crate::signal::Trust;
use crate::time::{Span, Timestamp};
use crate::verdicts::{self, Report, Ticket};

fn effect(action: Action) -> Effect {
    Effect { key: EffectKey { agent: "claude:7".into(), incarnation: Incarnation(3), seq: 41 }, action }
}

fn escalation() -> Escalation {
    let evidence = Evidence {
        sign: Sign::Repeats,
        value: Measure::Count(9),
        threshold: Measure::Count(5),
        severity: Severity::Stuck,
        trust: Trust::Verified,
        stretch: None,
    };
    Escalation {
        reason: "it repeats itself".into(),
        evidence: Arc::from([evidence]),
        task: Some("t".into()),
        checkpoint: None,
        nudges: 2,
        timeout: Span::minutes(10),
    }
}

fn spawn() -> Spawn {
    let lost = Lost { checkpoints: 1, work: Some(Span::minutes(4)) };
    let context =
        Context { reason: "killed".into(), attempt: 2, attempts_max: 3, from: Some("c9".into()), lost };
    Spawn { task: "t".into(), agent: "a".into(), start: 17, attempt: 2, from: Some("c9".into()), context }
}

fn probe() -> ProbeStart {
    let last = Reported {
        outcome: Outcome::Failed,
        description: Some("500".into()),
        error: None,
        duration: Span::millis(12),
        checked_at: Timestamp::from_millis(77),
        data: Some("{}".into()),
    };
    ProbeStart { probe: "http".into(), run: 8, timeout: Span::secs(5), failures: 2, last: Some(last) }
}

fn question() -> Question {
    let report = Report {
        worker: "w".into(),
        session: "s".into(),
        node: "n".into(),
        graph: "g".into(),
        severity: verdicts::Severity::High,
        cause: "no step was accepted".into(),
        judge_reasoning: "it stands".into(),
        suggested_action: "look".into(),
        recent_verdicts: vec!["RETRY".into(), "RETRY".into()],
        total_steps_checked: 40,
        steps_since_last_accept: 12,
        stall: Some(Span::minutes(6)),
        evidence_snippet: "…".into(),
    };
    let ticket =
        Ticket { id: "k".into(), created_at: Timestamp::from_millis(5), life: Some(Incarnation(1)), report };
    Question { ticket, within: Span::secs(30) }
}

/// Every action, and every word for a sender. The list of variants stops the build when one is added; the count below
/// stops this test when it is not added here.
fn every_action() -> Vec<Action> {
    let tell = |news| Action::TellSender { message: "m".into(), to: "b".into(), news };
    vec![
        Action::Ping,
        Action::Inquire { task: None, within: Span::secs(30), text: "how are you?".into() },
        Action::Nudge { attempt: 2, text: "go on".into() },
        Action::Escalate(escalation()),
        Action::Interrupt { repeats: 6 },
        Action::RequestHandoff { within: Span::minutes(2) },
        Action::Stop { within: Span::secs(10) },
        Action::Survey { task: "t".into() },
        Action::Spawn(Box::new(spawn())),
        Action::Withdraw { task: "t".into(), start: 17, incarnation: Some(Incarnation(4)) },
        Action::Deliver { message: "m".into(), from: "a".into(), attempt: 1 },
        Action::RemindOfMessage { message: "m".into(), from: "a".into(), unread: 3 },
        tell(ForSender::NotDelivered(Undelivered::Offline)),
        tell(ForSender::Delivered { after: Span::secs(9) }),
        tell(ForSender::Dropped),
        tell(ForSender::Expired),
        Action::WriteCheckpoint { id: "c".into(), store: "shared/s3".into(), attempt: 3 },
        Action::Probe(Box::new(probe())),
        Action::AskAdvice(Box::new(question())),
    ]
}

#[test]
fn every_action_survives() {
    let mut tags = std::collections::BTreeSet::new();
    for action in every_action() {
        let effect = effect(action);
        let mut tag = Vec::new();
        effect.action.put(&mut tag);
        tags.insert(tag[0]);
        assert_eq!(effect_from_bytes(&effect_to_bytes(&effect)), Ok(effect));
    }
    assert_eq!(tags, (0..=15).collect(), "each action is tried");
}

#[test]
fn an_effect_of_a_newer_version_is_named_as_such() {
    let mut bytes = effect_to_bytes(&effect(Action::Ping));
    bytes.truncate(bytes.len() - 4);
    bytes[0] = 2;
    let sum = checksum(&bytes);
    bytes.extend(sum.to_le_bytes());
    assert_eq!(effect_from_bytes(&bytes), Err(EffectError::Newer { found: 2, known: 1 }));
}

proptest! {
    #[test]
    fn one_changed_byte_is_refused(which in 0..19_usize, at in any::<prop::sample::Index>(), by in 1..=255_u8) {
        let mut bytes = effect_to_bytes(&effect(every_action().swap_remove(which)));
        let at = at.index(bytes.len());
        bytes[at] ^= by;
        prop_assert_eq!(effect_from_bytes(&bytes), Err(EffectError::Damaged));
    }

    #[test]
    fn a_part_of_an_effect_is_refused(which in 0..19_usize, kept in any::<prop::sample::Index>()) {
        let bytes = effect_to_bytes(&effect(every_action().swap_remove(which)));
        let part = &bytes[..kept.index(bytes.len())];
        prop_assert_eq!(effect_from_bytes(part), Err(EffectError::Damaged));
    }

    /// Even behind a right checksum: nothing panics, and no length that is a lie reserves memory.
    #[test]
    fn any_bytes_are_read_or_refused(mut bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        bytes.insert(0, LAYOUT);
        let sum = checksum(&bytes);
        bytes.extend(sum.to_le_bytes());
        if let Ok(effect) = effect_from_bytes(&bytes) {
            prop_assert_eq!(effect_from_bytes(&effect_to_bytes(&effect)), Ok(effect));
        }
    }
}

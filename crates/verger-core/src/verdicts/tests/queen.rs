use super::*;
use Criterion::{DoomLoop, ManySteps, Minor, Progress, Severe, Stalled, Transient, Unrecoverable};
use Ruling::{Dismiss, Intervene};

const NOTHING: Sight =
    Sight { unrecoverable: false, progress: false, looping: false, transient: false, recovering: false };

fn ruled(severity: &str, steps: i64, sight: Sight) -> (Ruling, Option<Criterion>) {
    let draft = Draft { severity: Some(severity.into()), steps_since_last_accept: Some(steps), ..complete() };
    let triage = triage(&report(draft), sight, &QueenPolicy::default());
    (triage.ruling, triage.by)
}

#[test]
fn j04_dismissed_low_severity_and_fewer_than_8_steps() {
    assert_eq!(ruled("low", 7, NOTHING), (Dismiss, Some(Minor)));
    assert_eq!(ruled("low", 0, NOTHING), (Dismiss, Some(Minor)));
    assert_eq!(ruled("low", 8, NOTHING), (Dismiss, None), "not by this criterion");
    assert_eq!(ruled("medium", 7, NOTHING), (Dismiss, None), "nor this");
}

#[test]
fn j04_dismissed_a_clearly_transient_issue() {
    let transient = Sight { transient: true, ..NOTHING };
    assert_eq!(ruled("medium", 9, transient), (Dismiss, Some(Transient)));
    assert_eq!(ruled("high", 16, transient), (Dismiss, Some(Transient)), "over is over");
}

#[test]
fn j04_dismissed_genuine_progress_despite_bad_verdicts() {
    let progress = Sight { progress: true, ..NOTHING };
    assert_eq!(ruled("medium", 12, progress), (Dismiss, Some(Progress)));
    assert_eq!(ruled("critical", 25, progress), (Dismiss, Some(Progress)), "no count denies it");
}

#[test]
fn j04_intervenes_on_high_and_critical() {
    assert_eq!(ruled("high", 1, NOTHING), (Intervene, Some(Severe)));
    assert_eq!(ruled("critical", 1, NOTHING), (Intervene, Some(Severe)));
    assert_eq!(ruled("medium", 1, NOTHING), (Dismiss, None));
}

#[test]
fn j04_intervenes_on_10_steps_with_no_recovery_sign() {
    assert_eq!(ruled("medium", 10, NOTHING), (Intervene, Some(ManySteps)));
    assert_eq!(ruled("low", 10, NOTHING), (Intervene, Some(ManySteps)));
    assert_eq!(ruled("medium", 9, NOTHING), (Dismiss, None));
    assert_eq!(ruled("medium", 10, Sight { recovering: true, ..NOTHING }), (Dismiss, None));
}

#[test]
fn j04_intervenes_on_a_stall_of_more_than_4_minutes() {
    let ruled = |minutes| {
        let draft = Draft { stall_minutes: Stalling::Minutes(minutes), ..complete() };
        let triage = triage(&report(draft), NOTHING, &QueenPolicy::default());
        (triage.ruling, triage.by)
    };
    assert_eq!(ruled(4.0), (Dismiss, None), "more than four");
    assert_eq!(ruled(4.1), (Intervene, Some(Stalled)));
}

#[test]
fn j04_intervenes_on_a_doom_loop() {
    assert_eq!(ruled("low", 1, Sight { looping: true, ..NOTHING }), (Intervene, Some(DoomLoop)));
}

#[test]
fn j04_intervenes_on_a_logic_bug_or_unrecoverable_state() {
    let all = Sight { unrecoverable: true, progress: true, looping: true, transient: true, recovering: true };
    assert_eq!(ruled("low", 1, all), (Intervene, Some(Unrecoverable)), "whatever else is true");
}

#[test]
fn j04_neither_criterion_met_is_dismissed_and_says_so() {
    let triage = triage(&report(complete()), NOTHING, &QueenPolicy::default());
    assert_eq!((triage.ruling, triage.by, triage.met.len()), (Dismiss, None, 0));
    assert_eq!(triage.analysis(), "Dismissed: no criterion for intervening is met.");
}

#[test]
fn j04_criteria_of_both_sides_are_held_in_one_order() {
    let looping = Sight { progress: true, looping: true, ..NOTHING };
    assert_eq!(ruled("high", 16, looping), (Dismiss, Some(Progress)), "what is new is no loop");
    let both = Sight { transient: true, looping: true, ..NOTHING };
    assert_eq!(ruled("medium", 9, both), (Intervene, Some(DoomLoop)), "a loop is not clearly transient");
    let draft = Draft {
        severity: Some("low".into()),
        steps_since_last_accept: Some(2),
        stall_minutes: Stalling::Minutes(9.0),
        ..complete()
    };
    let triage = triage(&report(draft), NOTHING, &QueenPolicy::default());
    assert_eq!((triage.by, triage.met.as_slice()), (Some(Stalled), [Stalled, Minor].as_slice()));
    assert_eq!(
        triage.analysis(),
        "A person should look: it has stood still for too long. Also: of low severity, after few steps."
    );
}

#[test]
fn j04_the_thresholds_are_configurable() {
    let policy =
        QueenPolicy { low_below: 2, steps_at: 3, stall_over: Span::secs(6), ..QueenPolicy::default() };
    let ruled = |steps, stall| {
        let draft = Draft {
            severity: Some("low".into()),
            steps_since_last_accept: Some(steps),
            stall_minutes: stall,
            ..complete()
        };
        triage(&report(draft), NOTHING, &policy).by
    };
    assert_eq!(ruled(1, Stalling::Moving), Some(Minor));
    assert_eq!(ruled(2, Stalling::Moving), None);
    assert_eq!(ruled(3, Stalling::Moving), Some(ManySteps));
    assert_eq!(ruled(2, Stalling::Minutes(0.2)), Some(Stalled));
}

/// What is ruled when a model says this.
fn advised(severity: &str, steps: i64, sight: Sight, opinion: Opinion) -> Triage {
    let draft = Draft { severity: Some(severity.into()), steps_since_last_accept: Some(steps), ..complete() };
    let mut triage = triage(&report(draft), sight, &QueenPolicy::default());
    triage.advise(Advice::new("m", opinion, "because"));
    triage
}

#[test]
fn j04_a_model_never_decides_alone() {
    let ruling = |severity, steps, sight, opinion| advised(severity, steps, sight, opinion).ruling;
    assert_eq!(ruling("medium", 9, NOTHING, Opinion::Intervene), Dismiss, "no criterion is with it");
    assert_eq!(ruling("low", 2, NOTHING, Opinion::Intervene), Dismiss);
    assert_eq!(ruling("critical", 25, NOTHING, Opinion::Dismiss), Intervene);
    let broken = Sight { unrecoverable: true, progress: true, ..NOTHING };
    assert_eq!(ruling("low", 2, broken, Opinion::Dismiss), Intervene, "this is not for a model to weigh");
}

#[test]
fn j04_a_model_tips_the_scale_where_criteria_of_both_sides_are_met() {
    let progress = Sight { progress: true, ..NOTHING };
    let tipped = advised("high", 16, progress, Opinion::Intervene);
    assert_eq!((tipped.ruling, tipped.by), (Intervene, Some(Severe)), "the reason is still a criterion");
    assert_eq!(advised("high", 16, progress, Opinion::Unsure).ruling, Dismiss);
    assert_eq!(advised("high", 16, progress, Opinion::Dismiss).ruling, Dismiss);
}

#[test]
fn j04_a_models_reasoning_is_kept_and_bounded() {
    let mut triage = advised("high", 16, NOTHING, Opinion::Dismiss);
    assert!(triage.analysis().ends_with("no sign of recovery. m says: because"), "{}", triage.analysis());
    triage.advise(Advice::new("n", Opinion::Intervene, "later"));
    assert_eq!(triage.advice.map(|advice| advice.by), Some("m".into()), "the first is kept");
    let long = Advice::new(&"m".repeat(9_000), Opinion::Unsure, &"ä".repeat(9_000));
    assert_eq!((long.by.chars().count(), long.reasoning.chars().count()), (100, 4_000));
}

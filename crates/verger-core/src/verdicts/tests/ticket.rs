use super::*;
use crate::verdicts::judge::{Place, draft};
use crate::verdicts::ticket::{EVIDENCE_MAX, ID_MAX, TEXT_MAX, VERDICTS_MAX, ticket_id};

fn flaws(draft: Draft) -> Vec<(&'static str, Why)> {
    let refusal = draft.check().expect_err("it is not complete");
    refusal.flaws.iter().map(|flaw| (flaw.field.name(), flaw.why)).collect()
}

#[test]
fn j03_a_complete_ticket_is_taken_as_it_is() {
    let (id, report) = complete().check().expect("nothing is missing");
    assert_eq!(id, None);
    assert_eq!(report.worker.as_str(), "worker");
    assert_eq!(report.session.as_str(), "session_20260223_143022_abc12345");
    assert_eq!((&*report.node, &*report.graph), ("edit", "coder"));
    assert_eq!(report.severity, Severity::Medium);
    assert_eq!(&*report.cause, "12 steps since the last ACCEPT");
    assert_eq!(&*report.judge_reasoning, "it repeats itself");
    assert_eq!(&*report.suggested_action, "human review");
    assert_eq!(report.recent_verdicts, ["ACCEPT".into(), "RETRY".into()]);
    assert_eq!((report.total_steps_checked, report.steps_since_last_accept), (47, 9));
    assert_eq!((report.stall, report.stall_minutes()), (None, None));
    assert_eq!(&*report.evidence_snippet, "I will try the same again");
}

/// Takes one field out of a complete ticket.
fn without(field: &str) -> Draft {
    let mut draft = complete();
    match field {
        "worker_agent_id" => draft.worker_agent_id = None,
        "worker_session_id" => draft.worker_session_id = None,
        "worker_node_id" => draft.worker_node_id = None,
        "worker_graph_id" => draft.worker_graph_id = None,
        "severity" => draft.severity = None,
        "cause" => draft.cause = None,
        "judge_reasoning" => draft.judge_reasoning = None,
        "suggested_action" => draft.suggested_action = None,
        "recent_verdicts" => draft.recent_verdicts = None,
        "total_steps_checked" => draft.total_steps_checked = None,
        "steps_since_last_accept" => draft.steps_since_last_accept = None,
        "stall_minutes" => draft.stall_minutes = Stalling::Unsaid,
        "evidence_snippet" => draft.evidence_snippet = None,
        _ => panic!("no field {field}"),
    }
    draft
}

/// The schema of 003 without what is made for whoever does not give it: `ticket_id` and `created_at`.
const FIELDS: [&str; 13] = [
    "worker_agent_id",
    "worker_session_id",
    "worker_node_id",
    "worker_graph_id",
    "severity",
    "cause",
    "judge_reasoning",
    "suggested_action",
    "recent_verdicts",
    "total_steps_checked",
    "steps_since_last_accept",
    "stall_minutes",
    "evidence_snippet",
];

#[test]
fn j03_every_field_is_required() {
    for field in FIELDS {
        assert_eq!(flaws(without(field)), [(field, Why::Missing)]);
    }
}

#[test]
fn j03_everything_that_is_wrong_is_named_at_once_and_in_order() {
    let missing: Vec<_> = FIELDS.iter().map(|field| (*field, Why::Missing)).collect();
    assert_eq!(flaws(Draft::default()), missing);
    let draft = Draft {
        ticket_id: Some(String::new()),
        cause: Some(" \n".into()),
        severity: Some("High".into()),
        total_steps_checked: Some(-1),
        stall_minutes: Stalling::Minutes(f64::NAN),
        ..complete()
    };
    assert_eq!(
        draft.check().expect_err("refused").to_string(),
        "the ticket is not complete: `ticket_id` is empty; \
         `severity` must be one of low, medium, high, critical; `cause` is empty; \
         `total_steps_checked` must be a number from 0 on, and one that makes sense; \
         `stall_minutes` must be a number from 0 on, and one that makes sense"
    );
}

#[test]
fn j03_evidence_is_at_most_500_characters_and_not_bytes() {
    let with = |length| Draft { evidence_snippet: Some("ä".repeat(length)), ..complete() };
    assert_eq!(report(with(500)).evidence_snippet.chars().count(), 500);
    let too_long = Why::TooLong { max: 500, given: 501 };
    assert_eq!(flaws(with(501)), [("evidence_snippet", too_long)], "refused, not cut");
    assert_eq!(&*report(with(0)).evidence_snippet, "", "a worker may not have said anything");
}

#[test]
fn j03_the_severities_are_those_of_the_schema() {
    for (word, severity) in [
        ("low", Some(Severity::Low)),
        ("medium", Some(Severity::Medium)),
        ("high", Some(Severity::High)),
        ("critical", Some(Severity::Critical)),
        ("CRITICAL", None),
        ("", None),
        ("urgent", None),
    ] {
        let checked = Draft { severity: Some(word.to_owned()), ..complete() }.check();
        assert_eq!(checked.ok().map(|(_, report)| report.severity), severity, "{word}");
    }
}

#[test]
fn j03_a_stall_is_a_number_of_minutes_or_said_not_to_be() {
    let stall = |minutes| Draft { stall_minutes: Stalling::Minutes(minutes), ..complete() };
    assert_eq!(report(stall(4.1)).stall, Some(Span::secs(246)));
    assert_eq!(report(stall(0.0)).stall_minutes(), Some(0.0));
    for wrong in [-0.1, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 1e9, f64::MAX] {
        assert_eq!(flaws(stall(wrong)), [("stall_minutes", Why::NoAmount)], "{wrong}");
    }
}

#[test]
fn j03_nothing_is_longer_than_it_may_be() {
    let long = |max: usize| Some("x".repeat(max + 1));
    assert_eq!(
        flaws(Draft { ticket_id: long(ID_MAX), ..complete() }),
        [("ticket_id", Why::TooLong { max: ID_MAX, given: ID_MAX + 1 })]
    );
    assert_eq!(
        flaws(Draft { cause: long(TEXT_MAX), ..complete() }),
        [("cause", Why::TooLong { max: TEXT_MAX, given: TEXT_MAX + 1 })]
    );
    let verdicts = |count, word: &str| Some(vec![word.to_owned(); count]);
    assert_eq!(
        flaws(Draft { recent_verdicts: verdicts(101, "RETRY"), ..complete() }),
        [("recent_verdicts", Why::TooMany { max: VERDICTS_MAX, given: 101 })]
    );
    assert_eq!(
        flaws(Draft { recent_verdicts: verdicts(2, &"R".repeat(33)), ..complete() }),
        [("recent_verdicts", Why::TooLong { max: 32, given: 33 })]
    );
    assert_eq!(report(Draft { recent_verdicts: verdicts(0, ""), ..complete() }).recent_verdicts.len(), 0);
}

#[test]
fn j03_a_name_is_a_uuid_made_from_what_the_ticket_is_about() {
    let report = report(complete());
    let id = ticket_id(&report, at(5), 1);
    assert_eq!(id, ticket_id(&report, at(5), 1), "the same from the same");
    assert_ne!(id, ticket_id(&report, at(5), 2));
    assert_ne!(id, ticket_id(&report, at(6), 1));
    let groups: Vec<_> = id.as_str().split('-').map(str::len).collect();
    assert_eq!(groups, [8, 4, 4, 4, 12]);
    assert_eq!(&id.as_str()[14..15], "8", "version");
    assert!(matches!(&id.as_str()[19..20], "8" | "9" | "a" | "b"), "variant of {id}");
}

#[test]
fn j03_the_monitors_own_judge_writes_complete_tickets() {
    let policy = JudgePolicy::default();
    let mut trend = Trend::default();
    trend.begin(at(0), "s", &policy);
    trend.wake(at(120), Seen::default(), &policy).expect("the first check");
    let found = (0..20)
        .filter_map(|step| trend.on_step(at(130), "s", step, Some(Verdict::Retry), Seen::default(), &policy))
        .last()
        .expect("twenty are too many");
    let place = Place { graph: "coder", node: Some("bash") };
    let said = format!("{}the end", "ä".repeat(EVIDENCE_MAX));
    let written = draft(&"w".into(), place, &found, &said).expect("a ticket is due");
    let report = report(written);
    assert_eq!(report.severity, Severity::Critical);
    assert_eq!((report.steps_since_last_accept, report.total_steps_checked), (20, 20));
    assert_eq!((&*report.node, &*report.graph), ("bash", "coder"));
    assert!(report.evidence_snippet.ends_with("äthe end"));
    assert_eq!(report.evidence_snippet.chars().count(), EVIDENCE_MAX);
    let nowhere = Place { graph: "", node: None };
    let report = super::report(draft(&"w".into(), nowhere, &found, "").expect("a ticket is due"));
    assert_eq!((&*report.node, &*report.graph), ("w", "w"), "what is not known is called like the worker");
    let calm = Assessment { ticket: None, ..found };
    assert_eq!(draft(&"w".into(), place, &calm, ""), None);
}

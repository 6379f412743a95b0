//! What is stored of the judge and the queen.

use super::{Damaged, Stored};
use crate::command::Decision;
use crate::verdicts::{
    Advice, Answer, Checked, Criterion, Ending, Entry, Opinion, Report, Ruling, Severity, Stage, Standing,
    Ticket, Trend, Triage, Verdict, Worker,
};

fields!(Trend {
    session,
    steps,
    first_kept,
    counted_before,
    total,
    moved_at,
    behind,
    checked,
    check_at,
    reported
});
fields!(Checked { at, total });
fields!(Worker { trend, graph, node, output, began_at, accepted_at, progress_at, told });
fields!(Entry { number, ticket, triage, stage, worst, confirmed_at, told_at, answered });
fields!(Ticket { id, created_at, life, report });
fields!(Report {
    worker,
    session,
    node,
    graph,
    severity,
    cause,
    judge_reasoning,
    suggested_action,
    recent_verdicts,
    total_steps_checked,
    steps_since_last_accept,
    stall,
    evidence_snippet,
});
fields!(Triage { ruling, by, met, advice });
fields!(Advice { by, opinion, reasoning });
fields!(Answer { by, decision, reason });

variants!(Verdict { 0 = Accept, 1 = Retry, 2 = Reject, 3 = Continue, 4 = Escalate });
variants!(Severity { 0 = Low, 1 = Medium, 2 = High, 3 = Critical });
variants!(Ruling { 0 = Dismiss, 1 = Intervene });
variants!(Opinion { 0 = Dismiss, 1 = Intervene, 2 = Unsure });
variants!(Criterion {
    0 = Unrecoverable, 1 = Progress, 2 = DoomLoop, 3 = Transient, 4 = Stalled, 5 = Severe, 6 = ManySteps, 7 = Minor,
});
variants!(Stage {
    0 = Triaging { until }, 1 = Dismissed, 2 = Open, 3 = Joined { to }, 4 = Over { at, ending },
});
variants!(Ending { 0 = Recovered, 1 = LifeOver, 2 = Renewed, 3 = Expired, 4 = Displaced, 5 = SessionOver });
variants!(Standing { 0 = Healthy, 1 = Warning, 2 = Medium, 3 = High, 4 = Critical });
variants!(Decision { 0 = AllowMoreTime(span), 1 = ForceHandoff, 2 = TerminateAndRecover });

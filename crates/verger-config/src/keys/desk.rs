//! Thresholds about work and words: messages, tasks, the judge and the queen.

use verger_core::policy::Policies;
use verger_core::time::Span;

use super::thresholds;
use crate::kind::{Kind, MANY, at_least, count, pause, span};

thresholds! {
    /// In the order of the reference page.
    DESK: Policies;
    "messages.urgent", |it| it.messages.urgent, span(),
        "Time to acknowledge an urgent message before people are told.";
    "messages.high", |it| it.messages.high, span(),
        "Time to acknowledge an important message before the receiver is reminded.";
    "messages.high_reminded", |it| it.messages.high_reminded, span(),
        "Time that the reminder of an important message has before people are told.";
    "messages.normal", |it| it.messages.normal, span(),
        "Time to acknowledge an ordinary message before the receiver is reminded.";
    "messages.low", |it| it.messages.low, span(),
        "Time to acknowledge an unimportant message before that is logged.";
    "messages.busy_factor", |it| it.messages.busy_factor, count(1, 255),
        "Factor by which a busy receiver stretches the time before people are told.";
    "messages.inquiry_timeout", |it| it.messages.inquiry_timeout, span(),
        "An answer to a status inquiry may take so long; until then it is not asked again.";
    "messages.gather", |it| it.messages.gather, pause(),
        "Messages whose time is over within this time of a reminder need no second one.";
    "messages.redeliver_after", |it| it.messages.redeliver_after, span(),
        "Time before a failed delivery is tried again; doubled each time.";
    "messages.redeliver_max", |it| it.messages.redeliver_max, span(),
        "The longest time between two deliveries.";
    "messages.keep", |it| it.messages.keep, span(),
        "An unacknowledged message is given up after this.";
    "messages.forget_after", |it| it.messages.forget_after, span(),
        "Time for which the name of a message that is over is known, so that a repeat of it is recognised.";
    "messages.per_receiver_max", |it| it.messages.per_receiver_max, count(1, MANY),
        "Messages to one receiver.";
    "messages.total_max", |it| it.messages.total_max, count(1, MANY),
        "Messages in all.";
    "tasks.quiet", |it| it.tasks.quiet, span(),
        "Longer without an update than this is the first part of a stall.";
    "tasks.inquiry_timeout", |it| it.tasks.inquiry_timeout, span(),
        "Time to answer a status inquiry; half of it later it is asked once more.";
    "tasks.busy_factor", |it| it.tasks.busy_factor, count(1, 255),
        "Factor by which a busy worker stretches the time to answer.";
    "tasks.explained_for", |it| it.tasks.explained_for, span(),
        "How long an explanation holds that does not say for how long.";
    "tasks.explained_max", |it| it.tasks.explained_max, span(),
        "The longest that one explanation holds.";
    "tasks.explanations_max", |it| it.tasks.explanations_max, count(1, 255),
        "Explanations without any progress between them that are believed.";
    "tasks.remember_ended", |it| it.tasks.remember_ended, at_least(Span::hours(7 * 24)),
        "How long the end of a task is remembered; with less, a finished task might be done again.";
    "tasks.abandoned_after", |it| it.tasks.abandoned_after, span(),
        "An open task of which nothing was heard for this long is forgotten.";
    "tasks.per_agent_max", |it| it.tasks.per_agent_max, count(1, MANY),
        "Open tasks of one agent.";
    "tasks.open_max", |it| it.tasks.open_max, count(1, MANY),
        "Open tasks in all.";
    "tasks.ended_max", |it| it.tasks.ended_max, count(1, MANY),
        "Ended tasks that are remembered.";
    "judge.check_interval", |it| it.verdicts.judge.check_interval, span(),
        "How often a worker is looked at.";
    "judge.warn_at", |it| it.verdicts.judge.warn_at, count(1, MANY),
        "So many steps since the last ACCEPT are a warning, without a ticket.";
    "judge.medium_at", |it| it.verdicts.judge.medium_at, count(1, MANY),
        "So many steps are a medium ticket, if the evidence shows a loop.";
    "judge.high_at", |it| it.verdicts.judge.high_at, count(1, MANY),
        "So many steps are a high ticket.";
    "judge.critical_at", |it| it.verdicts.judge.critical_at, count(1, MANY),
        "So many steps are a critical ticket.";
    "judge.stall_critical", |it| it.verdicts.judge.stall_critical, span(),
        "A stall of this length is a critical ticket.";
    "judge.continue_counts", |it| it.verdicts.judge.continue_counts, Kind::Bool,
        "Whether CONTINUE counts as a step without ACCEPT.";
    "judge.ticket_again", |it| it.verdicts.judge.ticket_again, span(),
        "How long after a ticket the same condition is reported again.";
    "queen.low_below", |it| it.verdicts.queen.low_below, count(1, MANY),
        "A ticket of low severity with fewer steps than this since the last ACCEPT is dismissed.";
    "queen.steps_at", |it| it.verdicts.queen.steps_at, count(1, MANY),
        "So many steps since the last ACCEPT without a sign of recovery are a person's affair.";
    "queen.stall_over", |it| it.verdicts.queen.stall_over, span(),
        "A stall longer than this is a person's affair, too.";
    "queen.advice_within", |it| it.verdicts.queen.advice_within, Kind::Optional(&span()),
        "How long a language model has to say what it thinks of a ticket.";
    "queen.more_time", |it| it.verdicts.queen.more_time, span(),
        "How long \"more time\" is when the person does not say, and how long any other decision has to show before the condition is news again.";
    "queen.open_for", |it| it.verdicts.queen.open_for, span(),
        "How long a ticket stays open that nobody decides and nothing confirms.";
}

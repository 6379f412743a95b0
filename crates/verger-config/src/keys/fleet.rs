//! Thresholds that hold for the whole fleet: budgets, correlated failure, recovery, how much is remembered.

use verger_core::policy::Policies;
use verger_core::time::Span;

use super::thresholds;
use crate::kind::{Kind, MANY, at_least, count, hundredths, pause, span, thousandths};
use crate::value::WHEN_FULL;

thresholds! {
    /// In the order of the reference page.
    FLEET: Policies;
    "fleet.nudges", |it| it.limits.nudges, Kind::Limit,
        "Reminders in the whole fleet.";
    "fleet.escalations", |it| it.limits.escalations, Kind::Limit,
        "Escalations in the whole fleet.";
    "fleet.terminations", |it| it.limits.terminations, Kind::Limit,
        "Terminations that no person ordered.";
    "writes.pause", |it| it.writes.pause, span(),
        "The pause after a first failure.";
    "writes.pause_max", |it| it.writes.pause_max, span(),
        "The longest pause; each is twice the one before.";
    "writes.timeout", |it| it.writes.timeout, span(),
        "How long a write may take before it counts as failed.";
    "writes.persistent_after", |it| it.writes.persistent_after, span(),
        "Failing for so long is persistent, and people are told.";
    "writes.queue_max", |it| it.writes.queue_max, count(1, 65_535),
        "How many checkpoints wait behind one breaker.";
    "writes.queues_max", |it| it.writes.queues_max, count(1, MANY),
        "How many queues there are.";
    "recovery.attempts_max", |it| it.recovery.attempts_max, count(1, 255),
        "Attempts for one task before people must look at it.";
    "recovery.agent_limit", |it| it.recovery.agent_limit, Kind::Limit,
        "Starts of one agent, whoever did them; beyond it people must look.";
    "recovery.fleet_limit", |it| it.recovery.fleet_limit, Kind::Limit,
        "Starts in the whole fleet, whoever did them; beyond it recoveries wait.";
    "recovery.burst_limit", |it| it.recovery.burst_limit, Kind::Limit,
        "Starts in quick succession.";
    "recovery.backoff", |it| it.recovery.backoff, Kind::Durations,
        "The wait before each attempt; the last one holds for all further.";
    "recovery.jitter_percent", |it| it.recovery.jitter_percent, hundredths(0, 100),
        "By how much of itself a wait is prolonged at most, at random.";
    "recovery.come_up", |it| it.recovery.come_up, span(),
        "Time for a started life to show itself.";
    "recovery.watch", |it| it.recovery.watch, span(),
        "How long a new life is watched closely.";
    "recovery.stable_after", |it| it.recovery.stable_after, span(),
        "A life that made progress and lasted this long after its watch resets the counters.";
    "recovery.doubt_patience", |it| it.recovery.doubt_patience, span(),
        "How long the end of a life may stay unconfirmed before people are told.";
    "recovery.poisoned_after", |it| it.recovery.poisoned_after, count(1, 255),
        "So many attempts from one checkpoint that fail within the watch make it poisoned.";
    "recovery.chain_max", |it| it.recovery.chain_max, count(1, MANY),
        "Checkpoints of one task that are looked at, newest first.";
    "recovery.tasks_max", |it| it.recovery.tasks_max, count(1, MANY),
        "Recoveries that are kept at once.";
    "recovery.notes_max", |it| it.recovery.notes_max, count(1, MANY),
        "Tasks without recovery of which something is remembered: that they are over, or who has them.";
    "recovery.forget_after", |it| it.recovery.forget_after, span(),
        "How long a recovery that a person called off is shown.";
    "correlation.window", |it| it.correlation.window, span(),
        "The time within which agents must have turned bad to count together.";
    "correlation.agents_min", |it| it.correlation.agents_min, count(1, MANY),
        "In a scope of fewer agents a share means nothing.";
    "correlation.affected_min", |it| it.correlation.affected_min, count(1, MANY),
        "Fewer affected agents are no incident of a scope.";
    "correlation.fleet_share", |it| it.correlation.fleet_share, hundredths(1, 100),
        "The share of the fleet that makes a fleet's incident.";
    "correlation.host_share", |it| it.correlation.host_share, hundredths(1, 100),
        "The share of a host's agents that makes a host's incident.";
    "correlation.provider_share", |it| it.correlation.provider_share, hundredths(1, 100),
        "The share of a provider's users that makes a provider's incident, whatever is wrong with them.";
    "correlation.outage_min", |it| it.correlation.outage_min, count(1, MANY),
        "As many users who report the provider's own failure make its outage.";
    "correlation.outage_share", |it| it.correlation.outage_share, hundredths(1, 100),
        "The reports of an outage must also be this share of its users.";
    "correlation.outage_successes", |it| it.correlation.outage_successes, count(1, 65_535),
        "Successful calls since the last report that end an outage.";
    "correlation.outage_quiet", |it| it.correlation.outage_quiet, span(),
        "An outage that nobody reported for so long after its reset time is over.";
    "correlation.reset_max", |it| it.correlation.reset_max, span(),
        "A provider's reset time is believed up to here.";
    "correlation.settle", |it| it.correlation.settle, pause(),
        "The scope must look well this long before its incident is over.";
    "correlation.ask_again", |it| it.correlation.ask_again, at_least(Span::minutes(1)),
        "While a scope is frozen, people are asked again this often.";
    "correlation.freeze_max", |it| it.correlation.freeze_max, span(),
        "The longest freeze that no person prolonged.";
    "correlation.lasts_max", |it| it.correlation.lasts_max, span(),
        "The longest incident; who is bad after that is so for itself.";
    "correlation.look_around", |it| it.correlation.look_around, pause(),
        "Nobody is ended sooner than this after it turned bad: who else does is not known before.";
    "correlation.stops_max", |it| it.correlation.stops_max, count(1, 65_535),
        "At most so many terminations are under way at once, in any state of the fleet.";
    "correlation.stops_share", |it| it.correlation.stops_share, hundredths(1, 100),
        "Terminations under way are at most this share of the fleet; one is always allowed.";
    "correlation.stop_lasts_max", |it| it.correlation.stop_lasts_max, span(),
        "A termination of which no end was heard holds its place no longer than this.";
    "resources.near", |it| it.resources.near, thousandths(1, 100),
        "From this share of a limit on people are warned, once.";
    "resources.sustained", |it| it.resources.sustained, span(),
        "Memory and processor must be over their limit for so long.";
    "resources.sample_gap_max", |it| it.resources.sample_gap_max, span(),
        "Samples further apart than this say nothing about the time between them.";
    "resources.fleet_window", |it| it.resources.fleet_window, at_least(Span::minutes(1)),
        "What the fleet used is counted anew after this.";
    "waste.absence", |it| it.waste.absence, span(),
        "After how long a person would have looked at the agent without being called.";
    "cardinality.ended_after", |it| it.cardinality.ended_after, span(),
        "An agent that ended is forgotten after this.";
    "cardinality.silent_after", |it| it.cardinality.silent_after, span(),
        "An agent of which nothing was heard for so long is forgotten.";
    "cardinality.agents_max", |it| it.cardinality.agents_max, count(1, MANY),
        "At most so many agents are registered.";
    "cardinality.when_full", |it| it.cardinality.when_full, Kind::Choice(WHEN_FULL),
        "What happens when there are as many: newcomers are refused, or who is gone longest is forgotten.";
    "cardinality.strangers_max", |it| it.cardinality.strangers_max, count(1, MANY),
        "At most so many agents are registered by who shows no token, within `cardinality.strangers_within`.";
    "cardinality.strangers_within", |it| it.cardinality.strangers_within, span(),
        "The time for which those are counted.";
    "breakers.groups", |it| it.breakers.groups, Kind::Pairs,
        "Endpoints that stand or fall together: each endpoint and the shared breaker that its calls also ask.";
    "breakers.bounds.per_agent_max", |it| it.breakers.bounds.per_agent_max, count(1, 65_535),
        "Breakers of one agent.";
    "breakers.bounds.shared_max", |it| it.breakers.bounds.shared_max, count(1, 65_535),
        "Breakers that are shared.";
    "breakers.bounds.total_max", |it| it.breakers.bounds.total_max, count(1, MANY),
        "Breakers in all.";
}

//! Thresholds of one role, by the names of the reference page of thresholds.

use verger_core::liveness::Pings;
use verger_core::policy::Role;

use super::{Threshold, limits, merge, nested, service, thresholds};
use crate::kind::{Kind, MANY, count, pause, span, thousandths};
use crate::shape::{Entry, Shape, section, value};
use crate::value::{Field, MODES, RESTARTS, Value};

thresholds! {
    /// All thresholds that a role has; applied in this order, so that switching pings off has the last word.
    ROLE: Role;
    "mode", |it| it.mode, Kind::Choice(MODES),
        "What may be done without a person.";
    "restart", |it| it.restart, Kind::Choice(RESTARTS),
        "What follows when an agent of this role fails.";
    "requires_heartbeats", |it| it.requires_heartbeats, Kind::Bool,
        "Heartbeats are required: their absence counts even if none was ever sent.";
    "startup_grace", |it| it.startup_grace, pause(),
        "A new life is not blamed for silence this long, and its first success ends the grace.";
    "liveness.activity_counts", |it| it.liveness.activity_counts, Kind::Bool,
        "Whether activity other than heartbeats and pongs counts as life.";
    "liveness.inquiry_timeout", |it| it.liveness.inquiry_timeout, span(),
        "How long a status inquiry may stay unanswered.";
    "liveness.route_patience", |it| it.liveness.route_patience, span(),
        "How long a broken way is tried again before the agent counts as cut off.";
    "liveness.gone_after", |it| it.liveness.gone_after, span(),
        "How long a refused connection is retried before the process counts as gone.";
    "liveness.partition_patience", |it| it.liveness.partition_patience, span(),
        "How long an unreachable agent counts as cut off rather than lost.";
    "liveness.busy_factor", |it| it.liveness.busy_factor, count(1, 255),
        "Factor by which an announced `busy` stretches every limit here.";
    "liveness.beats.interval", |it| it.liveness.beats.interval, span(),
        "How often they are expected.";
    "liveness.beats.timeout", |it| it.liveness.beats.timeout, span(),
        "Silence after which they are missing.";
    "liveness.pings.activity_timeout", |it| pings(it).activity_timeout, span(),
        "Activity this recent shows the agent as online rather than idle.";
    "liveness.pings.interval", |it| pings(it).interval, span(),
        "Silence after which a ping is sent.";
    "liveness.pings.timeout", |it| pings(it).timeout, span(),
        "How long an answer may take; a miss is pinged again at once.";
    "liveness.pings.misses_max", |it| pings(it).misses_max, count(1, 255),
        "Consecutive misses that mean silence.";
    "patience.tool", |it| it.patience.tool, span(),
        "A tool call without a limit of its own.";
    "patience.model", |it| it.patience.model, span(),
        "An answer of the model.";
    "patience.subagent", |it| it.patience.subagent, span(),
        "A sub-agent.";
    "patience.person", |it| it.patience.person, span(),
        "A person.";
    "patience.provider", |it| it.patience.provider, span(),
        "A provider's outage beyond the reset time it gave.";
    "patience.busy", |it| it.patience.busy, span(),
        "A `busy` that does not say for how long.";
    "patience.lease_max", |it| it.patience.lease_max, span(),
        "An announced lease (`busyUntil`, a timer), all renewals without progress together.";
    "patience.usual", |it| it.patience.usual, pause(),
        "How much of any wait is ordinary work.";
    "progress.degraded_after", |it| it.progress.degraded_after, span(),
        "Nothing new for this long is a warning sign.";
    "progress.stuck_after", |it| it.progress.stuck_after, span(),
        "Nothing new for longer than this is stuck.";
    "progress.tool_silence", |it| it.progress.tool_silence, span(),
        "No tool call for this long is stuck.";
    "progress.idle_with_work", |it| it.progress.idle_with_work, span(),
        "Idle for this long with work assigned.";
    "repetition.repeats", |it| it.repetition.repeats, count(2, MANY),
        "Times the same call has the same result that are worth a reminder.";
    "repetition.repeats_stuck", |it| it.repetition.repeats_stuck, count(2, MANY),
        "Times that are a loop.";
    "repetition.laps", |it| it.repetition.laps, count(2, MANY),
        "Laps of a cycle of two to six calls.";
    "repetition.stands", |it| it.repetition.stands, span(),
        "How long a loop stands without another call.";
    "repetition.waiting_patience", |it| it.repetition.waiting_patience, span(),
        "How long calls that wait or look whether something is done may go on without any change.";
    "errors.rate_max", |it| it.errors.rate_max, thousandths(0, 100),
        "The share of failed calls above which an agent is degraded.";
    "errors.streak_max", |it| it.errors.streak_max, count(1, MANY),
        "Failures in a row, all alike, above which an agent is failing.";
    "errors.growth_max", |it| it.errors.growth_max, count(1, MANY),
        "Heartbeats in a row with ever more errors, above which an agent is degraded.";
    "errors.reports_stand", |it| it.errors.reports_stand, span(),
        "How long a streak of errors reported outside calls stands after the last of them.";
    "tokens.spike_minutes", |it| it.tokens.spike_minutes, count(1, 9),
        "Of the last nine active minutes, how many far above the usual make a spike.";
    "tokens.stop_min", |it| it.tokens.stop_min, span(),
        "The shortest pause that can be a stop.";
    "tokens.stop_pauses", |it| it.tokens.stop_pauses, count(1, MANY),
        "How many times its longest usual pause an agent must pause.";
    "context.steps", |it| it.context.steps, count(1, MANY),
        "Steps with a full window that are exhaustion.";
    "context.same_words", |it| it.context.same_words, count(1, MANY),
        "Times it says the same with a full window that are exhaustion, too.";
    "context.standstill", |it| it.context.standstill, span(),
        "How long nothing lasting may come of them.";
    "context.grace", |it| it.context.grace, span(),
        "How long the window may stay full.";
    "context.relief", |it| it.context.relief, span(),
        "How long a compaction or a request to hand over counts as being dealt with.";
    "output.calls_max", |it| it.output.calls_max, count(1, MANY),
        "Calls without a changed file, for an agent that changes files.";
    "output.falls", |it| it.output.falls, count(1, MANY),
        "Reports in a row with fewer passing tests than the one before.";
    "flapping.window", |it| it.flapping.window, span(),
        "The time over which changes are counted.";
    "flapping.raise_at", |it| it.flapping.raise_at, count(1, 8),
        "As many changes raise the condition.";
    "flapping.clear_below", |it| it.flapping.clear_below, count(1, 8),
        "Fewer than this clear it.";
    "intervention.nudge_enabled", |it| it.intervention.nudge_enabled, Kind::Bool,
        "Whether to remind at all.";
    "intervention.nudges_max", |it| it.intervention.nudges_max, count(0, 255),
        "Reminders before people are asked.";
    "intervention.nudge_interval", |it| it.intervention.nudge_interval, span(),
        "Time given to each reminder.";
    "intervention.nudge_template", |it| it.intervention.nudge_template, Kind::Optional(&Kind::Text),
        "The reminder's text, with `{duration}` in it.";
    "intervention.escalation_timeout", |it| it.intervention.escalation_timeout, span(),
        "Time people have to decide.";
    "intervention.cleanup_timeout", |it| it.intervention.cleanup_timeout, span(),
        "Time a stopping agent has to clean up.";
    "intervention.stops_max", |it| it.intervention.stops_max, count(1, 255),
        "Tries to stop an agent before people are told that it does not stop.";
    "intervention.repeats_escalate", |it| it.intervention.repeats_escalate, count(1, MANY),
        "So many repeats ask people at once.";
    "intervention.repeats_stop", |it| it.intervention.repeats_stop, count(1, MANY),
        "So many repeats interrupt the turn.";
    "intervention.stable_after", |it| it.intervention.stable_after, span(),
        "Health that lasts this long closes the case; only then are reminders counted from one again.";
    "intervention.nudge_limit", |it| it.intervention.nudge_limit, Kind::Limit,
        "Reminders to one agent.";
    "intervention.escalation_limit", |it| it.intervention.escalation_limit, Kind::Limit,
        "Escalations about one agent.";
    "intervention.termination_limit", |it| it.intervention.termination_limit, Kind::Limit,
        "Terminations of one agent's lives.";
    "liveness.pings.enabled", |it| it.liveness.pings, Kind::Bool,
        "Whether agents are pinged at all.";
}

/// The presets of 002 by name.
pub(crate) const PRESETS: [(&str, Pings); 3] = [
    ("development", Pings::DEVELOPMENT),
    ("production", Pings::PRODUCTION),
    ("high-tolerance", Pings::HIGH_TOLERANCE),
];

const PRESET_NAMES: &[&str] = &[PRESETS[0].0, PRESETS[1].0, PRESETS[2].0];

/// Pings that are configured are switched on.
fn pings(role: &mut Role) -> &mut Pings {
    role.liveness.pings.get_or_insert(Pings::PRODUCTION)
}

impl Field for Option<Pings> {
    fn get(&self) -> Value {
        Value::Bool(self.is_some())
    }

    fn set(&mut self, value: &Value) {
        match value {
            Value::Bool(true) => *self = self.take().or(Some(Pings::PRODUCTION)),
            Value::Bool(false) => *self = None,
            _ => {}
        }
    }
}

/// `roles:`.
pub(crate) fn entry() -> Entry {
    let rows = ROLE.iter().map(|Threshold { name, kind, meaning, .. }| (*name, *kind, *meaning));
    let mut entries = vec![value("extends", Kind::Text, "The role whose settings this one begins with.")];
    merge(&mut entries, nested(rows));
    let preset = value("preset", Kind::Choice(PRESET_NAMES), "All of these at once, as 002 names them.");
    merge(&mut entries, vec![section("liveness", vec![section("pings", vec![preset], "")], "")]);
    entries.push(limits::section_of(
        "limits",
        "What one life may use; what is not named is as in `limits.agent`.",
    ));
    entries.extend(service::means());
    Entry {
        name: "roles",
        meaning: "Thresholds by role: `default` for agents that claim none, `critical`, `active`, `background` and \
                  `standby` of 001, and your own.",
        shape: Shape::Named(entries),
    }
}

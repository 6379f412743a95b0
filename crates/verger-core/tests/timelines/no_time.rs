//! Times of nothing at all: whatever is configured, the monitor rests between two things that it does.

use verger_core::policy::{Mode, Policies, RestartPolicy};
use verger_core::{Collector, Span, Timestamp};

use crate::timeline::Timeline;

type Setting = (&'static str, fn(&mut Policies) -> &mut Span);

macro_rules! settings {
    ($($($field:ident).+),* $(,)?) => {
        [$((stringify!($($field).+), |policies| &mut policies.$($field).+)),*]
    };
}

const SETTINGS: [Setting; 37] = settings![
    messages.urgent,
    messages.high,
    messages.high_reminded,
    messages.normal,
    messages.low,
    messages.inquiry_timeout,
    messages.gather,
    messages.redeliver_after,
    messages.redeliver_max,
    messages.keep,
    messages.forget_after,
    tasks.quiet,
    tasks.inquiry_timeout,
    tasks.explained_for,
    tasks.explained_max,
    tasks.remember_ended,
    tasks.abandoned_after,
    verdicts.judge.check_interval,
    verdicts.judge.stall_critical,
    verdicts.judge.ticket_again,
    verdicts.queen.stall_over,
    verdicts.queen.more_time,
    verdicts.queen.open_for,
    writes.pause,
    writes.pause_max,
    writes.timeout,
    writes.persistent_after,
    breakers.tool.open_for,
    breakers.tool.permit_timeout,
    breakers.checkpoint.open_for,
    breakers.checkpoint.permit_timeout,
    cardinality.ended_after,
    cardinality.silent_after,
    resources.sustained,
    resources.fleet_window,
    correlation.window,
    correlation.settle,
];

/// What happens, and how many seconds after the beginning: something waits in every machine, and much goes wrong.
const SCRIPT: [(u64, &str); 26] = [
    (0, "spawn task=t host=h provider=p"),
    (1, "beat"),
    (1, "@b beat"),
    (1, "@c beat"),
    (2, "@c exit code=0"),
    (1, "session s"),
    (2, "give t due=1s"),
    (2, "@b give u due=1s"),
    (3, "send m1 to=b urgent"),
    (3, "send m2 to=b high"),
    (3, "send m3 to=b"),
    (3, "send m4 to=b low"),
    (3, "send m6 to=c"),
    (3, "acquire a/tool/bash"),
    (3, "submit a/checkpoint/disk c9"),
    (4, "step 1 RETRY"),
    (5, "outage for=1h"),
    (6, "explain t"),
    (7, "@b cannot u"),
    (60, "tokens 10"),
    (600, "ticket severity=high steps=30"),
    (4_000, "beat"),
    (4_001, "exit signal=11"),
    (4_002, "@b exit signal=9"),
    (4_003, "send m5 to=b urgent"),
    (20_000, "wait"),
];

/// The most often that it may want to be woken in one second.
const WAKES_MAX: u32 = 100;

/// Plays the script, and tells when it did not rest.
fn restless(change: impl FnOnce(&mut Policies)) -> Option<String> {
    let mut policies = Policies::default();
    policies.each(|role| {
        role.mode = Mode::Full;
        role.restart = RestartPolicy::Recover;
    });
    change(&mut policies);
    let mut timeline = Timeline::new(policies);
    for (secs, words) in SCRIPT {
        let at = Timestamp::ZERO + Span::secs(secs);
        let (mut second, mut wakes) = (0, 0);
        while let Some(due) = timeline.fleet.next_wake().filter(|due| *due <= at) {
            timeline.now = timeline.now.max(due);
            let this = timeline.now.as_millis() / 1_000;
            wakes = if second == this { wakes + 1 } else { 0 };
            second = this;
            if WAKES_MAX < wakes {
                return Some(format!("at {} before `{words}`", timeline.now));
            }
            timeline.fleet.wake(timeline.now, &mut Collector::default());
        }
        timeline.now = at;
        timeline.do_words(words);
    }
    None
}

#[test]
fn l40_no_time_that_is_set_to_nothing_keeps_the_monitor_from_resting() {
    assert_eq!(restless(|_| ()), None, "as it comes");
    let found = |(name, setting): Setting| {
        let when = restless(|policies| *setting(policies) = Span::ZERO)?;
        Some(format!("{name} {when}"))
    };
    assert_eq!(SETTINGS.into_iter().filter_map(found).collect::<Vec<_>>(), [""; 0]);
    let all = |policies: &mut Policies| {
        for (_, setting) in SETTINGS {
            *setting(policies) = Span::ZERO;
        }
    };
    assert_eq!(restless(all), None, "all of them");
}

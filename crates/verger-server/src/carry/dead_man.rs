//! Calls an address outside for as long as all is well (X08): whoever listens there sounds the alarm when it is not.
//!
//! Only a monitor that does its work calls: its loop has just turned, and what it decides can be written. One that is
//! down, hangs or cannot act is silent, which is the message.

use std::time::Duration;

use verger_act::{Delivery, Reply, Target, Webhooks};

use super::reach::Live;
use crate::http::missing;
use crate::monitor::Monitor;
use crate::serve::Log;

/// The time that whoever listens has.
const CALL_WITHIN: Duration = Duration::from_secs(10);

/// Who is called, and how often.
#[derive(Clone, Debug)]
pub(crate) struct DeadMan {
    pub(crate) target: Target,
    pub(crate) every: Duration,
}

/// What became of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Called {
    /// Somebody heard it.
    Heard,
    /// Nobody did.
    Failed,
    /// It was not made, because all is not well.
    Withheld,
}

/// Calls until it is dropped. While nobody is to be called it waits for somebody.
pub(crate) async fn call_while_well(monitor: Monitor, webhooks: Webhooks, mut live: Live, log: Log) {
    loop {
        let called = live.borrow_and_update().dead_man.clone();
        tokio::select! {
            () = call(&monitor, &webhooks, called, &log) => {}
            changed = live.changed() => {
                if changed.is_err() {
                    return;
                }
            }
        }
    }
}

async fn call(monitor: &Monitor, webhooks: &Webhooks, called: Option<DeadMan>, log: &Log) {
    let Some(DeadMan { target, every }) = called else { return std::future::pending().await };
    let mut before = Called::Heard;
    loop {
        let waits = tokio::time::sleep(every);
        let calls = async {
            if !monitor.turns_within(every).await || !missing(monitor).is_empty() {
                return (Called::Withheld, None);
            }
            let delivery = webhooks.call(&target, CALL_WITHIN).await;
            let is_heard = matches!(delivery.reply, Reply::Accepted(_));
            (if is_heard { Called::Heard } else { Called::Failed }, Some(delivery))
        };
        let ((), (now, delivery)) = tokio::join!(waits, calls);
        monitor.counters().on_dead_man(now);
        if now != before {
            log.warn(&told(now, delivery.as_ref(), &target));
        }
        before = now;
    }
}

fn told(now: Called, delivery: Option<&Delivery>, target: &Target) -> String {
    let said = delivery.map(ToString::to_string).unwrap_or_default();
    match now {
        Called::Heard => format!("the dead-man's switch is called again: {said}"),
        Called::Failed => format!("the dead-man's switch was not reached: {said}"),
        Called::Withheld => {
            format!("{} is not called, because the monitor does not do its work", target.host())
        }
    }
}

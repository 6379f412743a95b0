//! What happened to a recovery, as a sentence that a person reads.

use std::fmt;

use super::{CallOff, Change, Closing, Condition, Failure, Neglect, Order};

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scheduled { task, attempt, at } => {
                write!(f, "attempt {attempt} to recover {task} is planned for {at}")
            }
            Self::Initiated { task, attempt, from: Some(from), .. } => {
                write!(f, "attempt {attempt} to recover {task} begins, from {from}")
            }
            Self::Initiated { task, attempt, from: None, .. } => {
                write!(f, "attempt {attempt} to recover {task} begins, from its start")
            }
            Self::CameUp { task, life, by_others: false } => {
                write!(f, "{}{} came up with {task}", life.agent, life.incarnation)
            }
            Self::CameUp { task, life, by_others: true } => {
                write!(f, "{}{} came up with {task}, started by others", life.agent, life.incarnation)
            }
            Self::Completed { task, attempts, .. } => write!(f, "{task} is recovered, attempts: {attempts}"),
            Self::AttemptFailed { task, attempt, why } => {
                write!(f, "attempt {attempt} to recover {task} failed: {why}")
            }
            Self::Failed { task, why, .. } => write!(f, "{task} is not recovered any further: {why}"),
            Self::CalledOff { task, why } => write!(f, "the recovery of {task} was called off: {why}"),
            Self::NotRecovered { task, why } => write!(f, "{task} is not recovered: {why}"),
            Self::EndConfirmed { task } => write!(f, "nothing of {task} runs any more"),
            Self::Forgotten { task } => {
                write!(f, "{task} has been stable: its attempts count from one again")
            }
            Self::Ordered { task, by, order } => write!(f, "{by} ordered of the recovery of {task}: {order}"),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotStarted => "it could not be started",
            Self::CheckpointUnreadable => "its checkpoint could not be read",
            Self::NeverCameUp => "it never came up",
            Self::EndedInWatch => "it ended while it was watched",
            Self::EndedLater => "it ended before it was stable",
            Self::EndedUnseen => "it ended before it was seen",
        })
    }
}

impl fmt::Display for Closing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Finished => "it is done",
            Self::Cancelled => "it was cancelled",
            Self::Failed => "it failed for good",
        })
    }
}

impl fmt::Display for CallOff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Closed(closing) => closing.fmt(f),
            Self::TakenOver(life) => write!(f, "{}{} has it", life.agent, life.incarnation),
            Self::CameBack => f.write_str("the agent was not gone after all"),
            Self::ByPerson(by) => write!(f, "{by} said so"),
        }
    }
}

impl fmt::Display for Neglect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Closed(closing) => closing.fmt(f),
            Self::Superseded => f.write_str("another life has it"),
            Self::TooMany => f.write_str("too many recoveries are under way"),
        }
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Review => "people must look",
            Self::FailedAgain => "what was recovered failed again",
            Self::StartedOver => "no valid checkpoint is left, and it begins anew",
            Self::ChainBroken => "its chain of checkpoints is broken",
            Self::ChainUnknown => "nobody can say which checkpoints there are",
            Self::MayStillRun => "its old life may still run",
            Self::FleetLimit => "the hourly limit holds recoveries back",
            Self::TooMany => "more recoveries than are kept",
        })
    }
}

impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Recover { from: Some(from) } => write!(f, "recover now, from {from}"),
            Self::Recover { from: None } => f.write_str("recover now"),
            Self::Cancel => f.write_str("do not recover"),
            Self::ReviewDone => f.write_str("the review is done"),
            Self::ConfirmEnded => f.write_str("the old life is over"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn why_a_recovery_does_not_go_on_is_said_in_words() {
        let task = || "t".into();
        let called_off = |why| Change::CalledOff { task: task(), why }.to_string();
        assert_eq!(
            called_off(CallOff::ByPerson("ada".into())),
            "the recovery of t was called off: ada said so"
        );
        assert_eq!(
            called_off(CallOff::Closed(Closing::Finished)),
            "the recovery of t was called off: it is done"
        );
        let failed = Change::AttemptFailed { task: task(), attempt: 2, why: Failure::NotStarted };
        assert_eq!(failed.to_string(), "attempt 2 to recover t failed: it could not be started");
        let ordered = Change::Ordered { task: task(), by: "ada".into(), order: Order::Cancel };
        assert_eq!(ordered.to_string(), "ada ordered of the recovery of t: do not recover");
    }
}

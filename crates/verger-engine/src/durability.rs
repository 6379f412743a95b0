//! Which signals are facts, acknowledged after they are on disk, and which are vital signs, which wait for
//! nothing.

use verger_core::effect::Action;
use verger_core::notice::{BreakerNotice, Notice};
use verger_core::signal::Body;

/// Whether the sender may rely on the signal once it is acknowledged.
///
/// Facts change what is to be done with somebody's work. Vital signs come by the thousand, and the next one
/// makes the last one worthless; they are on disk within [`vitals_every`](crate::Settings::vitals_every).
pub(crate) fn is_fact(body: &Body) -> bool {
    match body {
        Body::Checkpoint { .. }
        | Body::Task(_)
        | Body::Spawn(_)
        | Body::Exit(_)
        | Body::Handoff { .. }
        | Body::Blocker { .. } => true,
        Body::Heartbeat(_)
        | Body::Activity
        | Body::ToolStarted { .. }
        | Body::ToolFinished { .. }
        | Body::Message { .. }
        | Body::ModelStarted
        | Body::ModelFinished
        | Body::SubagentStarted { .. }
        | Body::SubagentFinished { .. }
        | Body::Compaction
        | Body::Tokens { .. }
        | Body::Output(_)
        | Body::Error(_)
        | Body::Status(_)
        | Body::Pong { .. }
        | Body::Channel(_)
        | Body::Load(_)
        // The ledger knows whether its effect was more than a ping.
        | Body::Outcome { .. }
        | Body::Surveyed { .. } => false,
    }
}

/// Whether an effect is worthless once the moment has passed: it is neither kept nor released again.
pub(crate) fn is_ephemeral(action: &Action) -> bool {
    match action {
        // A probe is run again at its next turn, and a ticket is decided without advice when its time is up.
        Action::Ping | Action::Probe(_) | Action::AskAdvice(_) => true,
        Action::Inquire { .. }
        | Action::Nudge { .. }
        | Action::Escalate(_)
        | Action::Interrupt { .. }
        | Action::RequestHandoff { .. }
        | Action::Stop { .. }
        | Action::Survey { .. }
        | Action::Spawn(_)
        | Action::Withdraw { .. }
        | Action::Deliver { .. }
        | Action::RemindOfMessage { .. }
        | Action::TellSender { .. }
        | Action::WriteCheckpoint { .. } => false,
    }
}

/// Whether an effect is still right long after it was decided.
///
/// People want to know of an escalation however late it is, and a sender what became of its message; a checkpoint is to
/// be written and one that was saved to be found in any case, and a start that was taken back must not run however
/// late. Everything else is done to an agent, which may have got on by itself in the meantime; a task may have been
/// taken over, and a message that was not delivered is sent anew.
pub(crate) fn keeps(action: &Action) -> bool {
    match action {
        Action::Escalate(_)
        | Action::Survey { .. }
        | Action::Withdraw { .. }
        | Action::TellSender { .. }
        | Action::WriteCheckpoint { .. } => true,
        Action::Ping
        | Action::Inquire { .. }
        | Action::Nudge { .. }
        | Action::Interrupt { .. }
        | Action::RequestHandoff { .. }
        | Action::Stop { .. }
        | Action::Spawn(_)
        | Action::Deliver { .. }
        | Action::RemindOfMessage { .. }
        | Action::Probe(_)
        | Action::AskAdvice(_) => false,
    }
}

/// Whether what was told or ordered must be on disk before it is answered.
///
/// Who asks a breaker waits with its call. Permits of an earlier life of the monitor are told apart by their numbers,
/// so none needs to be written down before it is given. What a probe found is a vital sign: it comes every few seconds,
/// and the next one makes the last one worthless.
pub(crate) fn lasts(notice: &Notice) -> bool {
    !matches!(
        notice,
        Notice::Probed { .. }
            | Notice::Breaker { what: BreakerNotice::Acquire | BreakerNotice::Report { .. }, .. }
    )
}

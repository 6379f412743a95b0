//! Signals that outlive the body that they came in, for whoever queues them.

use super::{
    Exit, Failure, Message, ModelRequest, Reason, Signal, SignalBody, Spawn, StatusReport, Subagent, ToolCall,
};
use crate::AnyJson;
use crate::heartbeat::owned;

impl Signal<'_> {
    /// The same, independent of the body that it came in.
    pub fn into_owned(self) -> Signal<'static> {
        Signal {
            agent_id: owned(self.agent_id),
            task_id: self.task_id.map(owned),
            at: self.at,
            incarnation: self.incarnation,
            body: self.body.into_owned(),
        }
    }
}

impl SignalBody<'_> {
    /// The same, independent of the body that it came in.
    pub fn into_owned(self) -> SignalBody<'static> {
        match self {
            Self::Heartbeat(vitals) => SignalBody::Heartbeat(Box::new(vitals.into_owned())),
            Self::Activity => SignalBody::Activity,
            Self::ToolCall(call) => SignalBody::ToolCall(Box::new(call.into_owned())),
            Self::Message(Message { role, text }) => {
                SignalBody::Message(Message { role: owned(role), text: owned(text) })
            }
            Self::ModelRequest(ModelRequest { phase, model, tokens }) => {
                SignalBody::ModelRequest(ModelRequest { phase, model: model.map(owned), tokens })
            }
            Self::Subagent(Subagent { phase, id }) => SignalBody::Subagent(Subagent { phase, id: owned(id) }),
            Self::Compaction => SignalBody::Compaction,
            Self::Tokens(tokens) => SignalBody::Tokens(tokens),
            Self::Output(output) => SignalBody::Output(output),
            Self::Error(Failure { message, unrecoverable, provider, retry_after }) => {
                let (message, provider) = (owned(message), provider.map(owned));
                SignalBody::Error(Failure { message, unrecoverable, provider, retry_after })
            }
            Self::Status(StatusReport { status, waiting_on, until, reason }) => {
                SignalBody::Status(StatusReport { status, waiting_on, until, reason: reason.map(owned) })
            }
            Self::Handoff(Reason { reason }) => SignalBody::Handoff(Reason { reason: owned(reason) }),
            Self::Blocker(Reason { reason }) => SignalBody::Blocker(Reason { reason: owned(reason) }),
            Self::Pong(pong) => SignalBody::Pong(pong),
            Self::Spawn(spawn) => SignalBody::Spawn(spawn.into_owned()),
            Self::Exit(Exit { code, signal, reason }) => {
                SignalBody::Exit(Exit { code, signal, reason: reason.map(owned) })
            }
        }
    }
}

impl ToolCall<'_> {
    fn into_owned(self) -> ToolCall<'static> {
        ToolCall {
            call_id: owned(self.call_id),
            tool: owned(self.tool),
            phase: self.phase,
            args: self.args.map(AnyJson::into_owned),
            result: self.result.map(AnyJson::into_owned),
            error: self.error.map(owned),
            duration_ms: self.duration_ms,
        }
    }
}

impl Spawn<'_> {
    fn into_owned(self) -> Spawn<'static> {
        Spawn {
            pid: self.pid,
            host: self.host.map(owned),
            command: self.command.map(owned),
            role: self.role.map(owned),
            provider: self.provider.map(owned),
        }
    }
}

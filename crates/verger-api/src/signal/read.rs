//! A signal out of the fields of an item: which are needed for which kind.

use super::{
    Exit, Failure, Message, ModelRequest, Output, Pong, Reason, Signal, SignalBody, SignalKind, Spawn,
    StatusReport, Subagent, Tokens, ToolCall,
};
use crate::heartbeat::Vitals;
use crate::ingest::{Field, Fields, Limits, Reader, required};

impl<'a> Signal<'a> {
    pub(crate) fn from_fields(fields: &mut Fields<'a>, limits: &Limits) -> Result<Self, String> {
        let mut reader = Reader::new(fields, limits);
        let kind = required(Field::Kind, reader.word(Field::Kind)?)?;
        let agent_id = required(Field::AgentId, reader.name(Field::AgentId)?)?;
        let at = reader.time(Field::At)?;
        Ok(Self {
            agent_id,
            task_id: reader.name(Field::TaskId)?,
            at: if at.is_some() { at } else { reader.time(Field::Timestamp)? },
            incarnation: reader.small(Field::Incarnation)?,
            body: SignalBody::read(kind, &mut reader)?,
        })
    }
}

impl<'a> SignalBody<'a> {
    fn read(kind: SignalKind, reader: &mut Reader<'_, 'a>) -> Result<Self, String> {
        Ok(match kind {
            SignalKind::Heartbeat => Self::Heartbeat(Box::new(Vitals::read(reader)?)),
            SignalKind::Activity => Self::Activity,
            SignalKind::ToolCall => Self::ToolCall(Box::new(ToolCall::read(reader)?)),
            SignalKind::Message => Self::Message(Message {
                role: required(Field::Role, reader.name(Field::Role)?)?,
                text: required(Field::Text, reader.text(Field::Text)?)?,
            }),
            SignalKind::ModelRequest => Self::ModelRequest(ModelRequest {
                phase: required(Field::Phase, reader.word(Field::Phase)?)?,
                model: reader.name(Field::Model)?,
                tokens: reader.count(Field::Tokens)?,
            }),
            SignalKind::Subagent => Self::Subagent(Subagent {
                phase: required(Field::Phase, reader.word(Field::Phase)?)?,
                id: required(Field::Id, reader.name(Field::Id)?)?,
            }),
            SignalKind::Compaction => Self::Compaction,
            SignalKind::Tokens => Self::Tokens(Tokens {
                input: required(Field::Input, reader.count(Field::Input)?)?,
                output: required(Field::Output, reader.count(Field::Output)?)?,
                cost_usd: reader.amount(Field::CostUsd)?,
            }),
            SignalKind::Output => Self::Output(Output {
                files_changed: reader.small(Field::FilesChanged)?,
                tests_passed: reader.small(Field::TestsPassed)?,
                tests_failed: reader.small(Field::TestsFailed)?,
            }),
            SignalKind::Error => Self::Error(Failure::read(reader)?),
            SignalKind::Status => Self::Status(StatusReport {
                status: required(Field::Status, reader.word(Field::Status)?)?,
                waiting_on: reader.word(Field::WaitingOn)?,
                until: reader.time(Field::Until)?,
                reason: reader.text(Field::Reason)?,
            }),
            SignalKind::Handoff => Self::Handoff(Reason::read(reader)?),
            SignalKind::Blocker => Self::Blocker(Reason::read(reader)?),
            SignalKind::Pong => Self::Pong(Pong {
                seq: required(Field::Seq, reader.small(Field::Seq)?)?,
                status: reader.word(Field::Status)?,
            }),
            SignalKind::Spawn => Self::Spawn(Spawn::read(reader)?),
            SignalKind::Exit => Self::Exit(Exit {
                code: reader.signed(Field::Code)?,
                signal: reader.signed(Field::Signal)?,
                reason: reader.text(Field::Reason)?,
            }),
        })
    }
}

impl<'a> ToolCall<'a> {
    fn read(reader: &mut Reader<'_, 'a>) -> Result<Self, String> {
        Ok(Self {
            call_id: required(Field::CallId, reader.name(Field::CallId)?)?,
            tool: required(Field::Tool, reader.name(Field::Tool)?)?,
            phase: required(Field::Phase, reader.word(Field::Phase)?)?,
            args: reader.any(Field::Args)?,
            result: reader.any(Field::Result)?,
            error: reader.text(Field::Error)?,
            duration_ms: reader.count(Field::DurationMs)?,
        })
    }
}

impl<'a> Failure<'a> {
    fn read(reader: &mut Reader<'_, 'a>) -> Result<Self, String> {
        Ok(Self {
            message: required(Field::Message, reader.text(Field::Message)?)?,
            unrecoverable: reader.flag(Field::Unrecoverable)?.unwrap_or(false),
            provider: reader.name_or_flag(Field::Provider)?,
            retry_after: reader.duration(Field::RetryAfter)?,
        })
    }
}

impl<'a> Reason<'a> {
    fn read(reader: &mut Reader<'_, 'a>) -> Result<Self, String> {
        Ok(Self { reason: required(Field::Reason, reader.text(Field::Reason)?)? })
    }
}

impl<'a> Spawn<'a> {
    fn read(reader: &mut Reader<'_, 'a>) -> Result<Self, String> {
        Ok(Self {
            pid: reader.small(Field::Pid)?,
            host: reader.name(Field::Host)?,
            command: reader.text(Field::Command)?,
            role: reader.name(Field::Role)?,
            provider: reader.name(Field::Provider)?,
        })
    }
}

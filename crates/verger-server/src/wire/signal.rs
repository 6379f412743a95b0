//! Any signal, as the core hears it: text becomes fingerprints here.

use verger_api as api;
use verger_api::signal::{Phase, SignalBody};
use verger_core::fingerprint::{CallPrint, ResultPrint, TextPrint};
use verger_core::id::{AgentId, Incarnation};
use verger_core::signal::{Author, Body, Content, Exit, Failure, Output, Signal, Spawn, StatusReport, Trust};
use verger_core::time::{AgentTime, Span, WallTime};

use super::calls::{Begun, Calls};
use super::heartbeat::{digest, lasting, micros, vitals};
use super::{states, step};

/// What a signal says, read from the socket at this time: one thing, or several that it holds together.
///
/// What an agent works on it says by a heartbeat or when it begins. That is written down; a task with every call would
/// have every call wait for the disk.
///
/// Calls that it begins are put among those under way. One that it ends is to be forgotten there when that was taken.
pub fn signal(said: &api::Signal<'_>, received_at: WallTime, trust: Trust, calls: &Calls) -> Vec<Signal> {
    let sent_at = said.at.map(|at| AgentTime(at.as_millis()));
    let incarnation = said.incarnation.map(Incarnation);
    let agent = AgentId::from(said.agent_id.as_ref());
    let of = |body| {
        let content = Content { incarnation, sent_at, received_at, trust, body };
        Signal { agent: agent.clone(), content }
    };
    if let SignalBody::ToolCall(call) = &said.body {
        return vec![of(tool_call(call, &agent, sent_at, trust, calls))];
    }
    bodies(said, sent_at, received_at).into_iter().map(of).collect()
}

fn bodies(said: &api::Signal<'_>, sent_at: Option<AgentTime>, received_at: WallTime) -> Vec<Body> {
    let task = || said.task_id.as_deref().map(Into::into);
    vec![match &said.body {
        SignalBody::Heartbeat(beat) => {
            let mut beat = vitals(beat, sent_at, received_at);
            beat.task = task();
            Body::Heartbeat(beat)
        }
        // A call needs to know of others; see above.
        SignalBody::Activity | SignalBody::ToolCall(_) => Body::Activity,
        SignalBody::Message(message) => {
            let author = author(&message.role);
            let step = step::of_words(author, &message.text);
            Body::Message { author, text: TextPrint::of(&message.text), step }
        }
        SignalBody::ModelRequest(request) => match request.phase {
            Phase::Started => Body::ModelStarted,
            Phase::Finished => match request.tokens {
                Some(output) => return vec![Body::ModelFinished, tokens(0, output, None)],
                None => Body::ModelFinished,
            },
        },
        SignalBody::Subagent(subagent) => {
            let id = digest(&[&subagent.id]);
            match subagent.phase {
                Phase::Started => Body::SubagentStarted { id },
                Phase::Finished => Body::SubagentFinished { id },
            }
        }
        SignalBody::Compaction => Body::Compaction,
        SignalBody::Tokens(used) => tokens(used.input, used.output, used.cost_usd),
        SignalBody::Output(seen) => Body::Output(Output {
            files_changed: seen.files_changed,
            tests_passed: seen.tests_passed,
            tests_failed: seen.tests_failed,
        }),
        SignalBody::Error(failure) => Body::Error(Failure {
            text: TextPrint::of(&failure.message),
            unrecoverable: failure.unrecoverable,
            provider: failure.provider.is_some(),
            retry_after: failure.retry_after.map(|wait| Span::millis(wait.as_millis())),
        }),
        SignalBody::Status(report) => Body::Status(StatusReport {
            status: states::status_in(report.status),
            waiting_on: report.waiting_on.map(states::awaited_in),
            lasting: report.until.map(|until| lasting(until, sent_at, received_at)),
        }),
        SignalBody::Handoff(why) => Body::Handoff { reason: why.reason.as_ref().into() },
        SignalBody::Blocker(why) => Body::Blocker { reason: why.reason.as_ref().into() },
        SignalBody::Pong(pong) => Body::Pong { seq: pong.seq, status: pong.status.map(states::status_in) },
        SignalBody::Spawn(spawn) => Body::Spawn(Spawn {
            host: spawn.host.as_deref().map(Into::into),
            provider: spawn.provider.as_deref().map(Into::into),
            role: spawn.role.as_deref().map(Into::into),
            task: task(),
        }),
        SignalBody::Exit(exit) => Body::Exit(Exit { code: exit.code, signal: exit.signal }),
    }]
}

fn tool_call(
    call: &api::signal::ToolCall<'_>,
    agent: &AgentId,
    sent_at: Option<AgentTime>,
    trust: Trust,
    calls: &Calls,
) -> Body {
    let args = call.args.as_ref().map_or("", |args| args.get());
    let print = CallPrint::of(&call.tool, args);
    let id = digest(&[&call.call_id]);
    match call.phase {
        Phase::Started => {
            if call.args.is_some() {
                calls.begin(agent, trust, id, Begun { print, args: step::arguments(args), at: sent_at });
            }
            Body::ToolStarted { call: id, print, limit: None }
        }
        Phase::Finished => {
            let begun = calls.begun(agent, trust, id);
            let started = begun.as_ref().and_then(|begun| begun.at);
            // What an end says itself counts.
            let begun = begun.filter(|_| call.args.is_none());
            let print = begun.as_ref().map_or(print, |begun| begun.print);
            let told = call.args.as_ref().map(|args| step::arguments(args.get()));
            let args = told.or(begun.map(|begun| begun.args));
            let text = call.error.as_deref().or(call.result.as_ref().map(api::AnyJson::get)).unwrap_or("");
            let took = call.duration_ms.map(Span::millis);
            let result = ResultPrint::of(text, call.error.is_some(), took);
            let step = step::of_call(call, args.as_deref(), sent_at, started);
            Body::ToolFinished { call: id, print, result, tool: Some(call.tool.as_ref().into()), step }
        }
    }
}

fn tokens(input: u64, output: u64, cost: Option<f64>) -> Body {
    Body::Tokens { input, output, cost_micros: cost.map_or(0, micros) }
}

/// Who said something, by what agents' programs call them.
fn author(role: &str) -> Author {
    match role {
        "user" | "human" | "person" => Author::Person,
        "system" | "developer" | "tool" => Author::System,
        _ => Author::Agent,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use verger_api::ingest::{Ingest, Limits, signals};

    fn heard(json: &str) -> Vec<Body> {
        heard_among(json, &Calls::default())
    }

    fn heard_among(json: &str, calls: &Calls) -> Vec<Body> {
        let Ingest::One(Ok(said)) = signals(json.as_bytes(), &Limits::default()) else { panic!("{json}") };
        let heard = signal(&said, WallTime(0), Trust::Verified, calls);
        heard.into_iter().map(|signal| signal.content.body).collect()
    }

    #[test]
    fn l06_a_call_that_ends_without_its_arguments_is_the_one_that_began_with_them() {
        let calls = Calls::default();
        let told = |id: &str, rest: &str| {
            let json = format!(r#"{{"kind":"toolCall","agentId":"a","callId":"{id}","tool":"edit",{rest}}}"#);
            heard_among(&json, &calls).remove(0)
        };
        let print = |body: &Body| match body {
            Body::ToolStarted { print, .. } | Body::ToolFinished { print, .. } => *print,
            other => panic!("{other:?}"),
        };
        let one = told("1", r#""phase":"started","args":{"file":"a.rs"}"#);
        let two = told("2", r#""phase":"started","args":{"file":"b.rs"}"#);
        let ends = [told("1", r#""phase":"finished""#), told("2", r#""phase":"finished""#)];
        assert_eq!([print(&ends[0]), print(&ends[1])], [print(&one), print(&two)]);
        assert_ne!(print(&ends[0]), print(&ends[1]), "two files are two calls");
        let again = told("1", r#""phase":"started","args":{"file":"c.rs"}"#);
        let end = told("1", r#""phase":"finished","args":{"file":"d.rs"}"#);
        assert_ne!(print(&again), print(&end), "what an end says itself counts");
    }

    #[test]
    fn l06_a_call_and_its_end_are_told_by_their_id_and_their_arguments() {
        let call = |phase: &str, args: &str| {
            let json = format!(
                r#"{{"kind":"toolCall","agentId":"a","callId":"c1","tool":"bash","phase":"{phase}","args":{args}}}"#
            );
            heard(&json).remove(0)
        };
        let (
            Body::ToolStarted { call: begun, print, .. },
            Body::ToolFinished { call: ended, print: same, .. },
        ) = (call("started", r#"{"cmd":"ls"}"#), call("finished", r#"{ "cmd": "ls" }"#))
        else {
            panic!("calls")
        };
        assert_eq!((begun, print), (ended, same), "spaces make no other call");
        let Body::ToolStarted { print: other, .. } = call("started", r#"{"cmd":"pwd"}"#) else {
            panic!("a call")
        };
        assert_ne!(print, other);
    }

    #[test]
    fn a_call_with_an_error_has_failed() {
        let json =
            r#"{"kind":"toolCall","agentId":"a","callId":"1","tool":"t","phase":"finished","error":"boom"}"#;
        let bodies = heard(json);
        assert!(matches!(bodies[..], [Body::ToolFinished { result, .. }] if result.failed), "{bodies:?}");
    }

    #[test]
    fn what_a_request_used_is_heard_with_its_end() {
        let json = r#"{"kind":"modelRequest","agentId":"a","phase":"finished","tokens":90}"#;
        let bodies = heard(json);
        assert!(matches!(bodies[..], [Body::ModelFinished, Body::Tokens { output: 90, .. }]), "{bodies:?}");
    }
}

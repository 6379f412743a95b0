//! Bodies of requests, saved states, and events as clients and other monitors read them.

use std::fmt::Debug;

use serde::{Deserialize, Serialize};
use verger_api::{
    AgentSettings, CallReport, Checkpoint, CloudEvent, DecisionRequest, EscalateRequest, NewCheckpoint,
    NewToken, NudgeRequest, Problem, RecoverRequest, TaskUpdate, TerminateRequest, WrongRequest, codes,
    read_body,
};
use verger_server::wire::{checkpoint_content, checkpoint_state};

use crate::{assert_alike, assert_told};

/// Every body that people and programs send, but for reports and checkpoints. The first byte says which.
pub fn bodies(bytes: &[u8]) {
    let Some((which, body)) = bytes.split_first() else { return };
    match which % 10 {
        0 => body_of::<AgentSettings>(body),
        1 => body_of::<CallReport>(body),
        2 => body_of::<DecisionRequest>(body),
        3 => body_of::<EscalateRequest>(body),
        4 => body_of::<NewToken>(body),
        5 => body_of::<NudgeRequest>(body),
        6 => body_of::<RecoverRequest>(body),
        7 => body_of::<TaskUpdate>(body),
        8 => body_of::<TerminateRequest>(body),
        _ => body_of::<WrongRequest>(body),
    }
}

fn body_of<T: Serialize + for<'a> Deserialize<'a> + PartialEq + Debug>(body: &[u8]) {
    let read = read_body::<T>(body);
    assert_eq!(read, read_body(body), "the same bytes, another answer");
    match read {
        Ok(asked) => {
            let text = serde_json::to_vec(&asked).expect("what came as JSON can be written as JSON");
            let again: T = read_body(&text).unwrap_or_else(|error| panic!("{error}: {asked:?}"));
            assert_alike(&again, &asked);
        }
        Err(error) => assert_problem(&error.into()),
    }
}

/// A refusal has a code with a page in the book, the status of that code, and a sentence.
fn assert_problem(problem: &Problem) {
    let code = codes::find(&problem.code).expect("a code that is known");
    assert_eq!((code.status, code.status / 100), (problem.status, 4));
    assert_told(&problem.detail);
    problem.errors.iter().for_each(|error| assert_told(&error.detail));
}

/// `POST /v1/checkpoints`, and what is kept of it; `GET /v1/checkpoints/{id}` as a client reads it.
pub fn checkpoints(bytes: &[u8]) {
    match read_body::<NewCheckpoint<'_>>(bytes) {
        Ok(mut asked) => {
            let text = serde_json::to_vec(&asked).expect("what came as JSON can be written as JSON");
            assert_eq!(read_body(&text).as_ref(), Ok(&asked));
            match asked.take_state() {
                Ok(state) => kept(&state),
                Err(error) => assert_told(&error.to_string()),
            }
        }
        Err(error) => assert_problem(&error.into()),
    }
    if let Ok(checkpoint) = Checkpoint::decode(bytes) {
        let text = serde_json::to_vec(&checkpoint).expect("what came as JSON can be written as JSON");
        assert_eq!(Checkpoint::decode(&text).expect("it was written here"), checkpoint);
    }
}

/// What comes back of a state is what was saved, and no state can pass for a place or the reverse.
fn kept(state: &verger_api::State<'_>) {
    match checkpoint_content(state) {
        Ok(content) => {
            let (json, place) = checkpoint_state(&content);
            match state {
                verger_api::State::Body(body) => {
                    assert_eq!((json.as_deref(), place), (Some(body.get()), None));
                }
                verger_api::State::Reference(at) => assert_eq!((json, place.as_ref()), (None, Some(at))),
            }
        }
        Err(error) => assert_told(&error.to_string()),
    }
}

/// One event as it is written into the journal, streamed and sent by webhook.
pub fn events(bytes: &[u8]) {
    match CloudEvent::decode(bytes) {
        Ok(event) => {
            let text = event.to_json();
            assert!(!text.contains(['\n', '\r']), "an event is one line: {text}");
            let again = CloudEvent::decode(text.as_bytes());
            assert_alike(&again.unwrap_or_else(|error| panic!("{error:?}: {text}")), &event);
        }
        Err(error) => assert_told(&error.to_string()),
    }
}

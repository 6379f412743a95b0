//! Saved states: what is kept of them, and what is told.
//!
//! A state is kept as the JSON that it came as. Where it lies elsewhere the place is kept, behind a mark that no JSON
//! begins with.

use verger_api::{CheckpointInfo, State, Time};
use verger_core::recovery::ContentHash;
use verger_store::NewCheckpoint;

/// How a reference begins.
const REFERENCE: &[u8] = b"ref:";
/// The longest reference: more is a state.
const REFERENCE_MAX: usize = 1_000;

/// A place that is longer than a place should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("stateRef has more than {REFERENCE_MAX} bytes")]
pub struct ReferenceTooLong;

/// What is kept of a state.
pub fn checkpoint_content(state: &State<'_>) -> Result<Vec<u8>, ReferenceTooLong> {
    match state {
        State::Body(body) => Ok(body.get().as_bytes().to_vec()),
        State::Reference(place) if place.len() > REFERENCE_MAX => Err(ReferenceTooLong),
        State::Reference(place) => Ok([REFERENCE, place.as_bytes()].concat()),
    }
}

/// The state that was kept, or where it is.
pub fn checkpoint_state(content: &[u8]) -> (Option<String>, Option<String>) {
    match reference(content) {
        Some(place) => (None, Some(place)),
        None => (Some(String::from_utf8_lossy(content).into_owned()), None),
    }
}

fn reference(content: &[u8]) -> Option<String> {
    content.strip_prefix(REFERENCE).map(|place| String::from_utf8_lossy(place).into_owned())
}

/// A checkpoint that was just taken in, under its name.
pub fn checkpoint_info(new: &NewCheckpoint, queued: bool) -> CheckpointInfo {
    CheckpointInfo {
        id: new.id.as_ref().map(ToString::to_string).unwrap_or_default(),
        parent_id: new.parent.as_ref().map(ToString::to_string),
        hash: hex(&ContentHash(*blake3::hash(&new.body).as_bytes())),
        created_at: Time::from_millis(new.at.wall.0),
        task_id: new.task.to_string(),
        agent_id: new.agent.to_string(),
        phase: new.phase.clone(),
        state_ref: reference(&new.body),
        size: new.body.len() as u64,
        queued,
    }
}

/// A checkpoint out of the store.
pub fn stored_checkpoint(info: &verger_store::CheckpointInfo) -> CheckpointInfo {
    CheckpointInfo {
        id: info.id.to_string(),
        parent_id: info.parent.as_ref().map(ToString::to_string),
        hash: hex(&info.hash),
        created_at: Time::from_millis(info.at.wall.0),
        task_id: info.task.to_string(),
        agent_id: info.agent.to_string(),
        phase: info.phase.clone(),
        state_ref: info.small.as_deref().and_then(reference),
        size: info.size.unwrap_or(0),
        queued: false,
    }
}

fn hex(hash: &ContentHash) -> String {
    blake3::Hash::from_bytes(hash.0).to_hex().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use verger_api::AnyJson;

    #[test]
    fn a_state_and_a_place_are_told_apart_whatever_they_say() {
        for text in [r#""ref:main""#, r#"{"stateRef":"x"}"#, "null", "1"] {
            let state = State::Body(AnyJson::from_text(text.to_owned()).expect("JSON"));
            let content = checkpoint_content(&state).expect("it is kept");
            assert_eq!(checkpoint_state(&content), (Some(text.to_owned()), None));
        }
        let place = State::Reference("ref:refs/heads/main".to_owned());
        let content = checkpoint_content(&place).expect("it is kept");
        assert_eq!(checkpoint_state(&content), (None, Some("ref:refs/heads/main".to_owned())));
        let long = State::Reference("x".repeat(REFERENCE_MAX + 1));
        assert_eq!(checkpoint_content(&long), Err(ReferenceTooLong));
    }
}

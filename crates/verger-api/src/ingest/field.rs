//! The fields of an item: their names, and what was given for them.
//!
//! Heartbeats and signals share one table of names, so that each spelling is decided once. A name is found by a
//! hash that the compiler computed; one that is not in the table is skipped without being looked at.

use std::fmt;

use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::given::Given;

macro_rules! fields {
    ($($field:ident: $name:literal $(, $other:literal)*;)+) => {
        /// A field that is known.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub(crate) enum Field {
            $($field,)+
        }

        const ALL: &[Field] = &[$(Field::$field),+];

        /// Every name with its field.
        const NAMES: &[(&str, Field)] = &[$(($name, Field::$field), $(($other, Field::$field),)*)+];

        impl Field {
            /// What it is called when it is spoken of.
            pub(crate) const fn name(self) -> &'static str {
                match self {
                    $(Self::$field => $name,)+
                }
            }
        }
    };
}

fields! {
    Kind: "kind";
    AgentId: "agentId", "agent_id";
    TaskId: "taskId", "task_id";
    At: "at";
    Timestamp: "timestamp";
    Incarnation: "incarnation";
    Phase: "phase", "currentPhase", "current_phase";
    LastToolCall: "lastToolCall", "last_tool_call", "lastToolCallTimestamp", "last_tool_call_timestamp";
    TokenCount: "tokenCount", "token_count";
    ErrorCount: "errorCount", "error_count";
    ProgressIndicator: "progressIndicator", "progress_indicator";
    Status: "status";
    BusyUntil: "busyUntil", "busy_until";
    Role: "role";
    ContextUsed: "contextUsed", "context_used";
    ContextLimit: "contextLimit", "context_limit";
    CostUsd: "costUsd", "cost_usd";
    CallId: "callId", "call_id";
    Tool: "tool";
    Args: "args";
    Result: "result";
    Error: "error";
    DurationMs: "durationMs", "duration_ms";
    Text: "text";
    Model: "model";
    Tokens: "tokens";
    Id: "id";
    Input: "input";
    Output: "output";
    FilesChanged: "filesChanged", "files_changed";
    TestsPassed: "testsPassed", "tests_passed";
    TestsFailed: "testsFailed", "tests_failed";
    Message: "message";
    Unrecoverable: "unrecoverable";
    Provider: "provider";
    RetryAfter: "retryAfter", "retry_after";
    WaitingOn: "waitingOn", "waiting_on";
    Until: "until";
    Reason: "reason";
    Seq: "seq";
    Pid: "pid";
    Host: "host";
    Command: "command";
    Code: "code";
    Signal: "signal";
}

const COUNT: usize = ALL.len();
const SLOTS: usize = 256;
const NONE: u8 = u8::MAX;

/// Where each name stands in [`NAMES`], by its hash; the next free slot if that one is taken.
const TABLE: [u8; SLOTS] = {
    let mut table = [NONE; SLOTS];
    let mut name = 0;
    while name < NAMES.len() {
        let mut slot = hash(NAMES[name].0.as_bytes());
        while table[slot] != NONE {
            slot = (slot + 1) % SLOTS;
        }
        table[slot] = name as u8;
        name += 1;
    }
    table
};

const fn hash(name: &[u8]) -> usize {
    let length = name.len();
    if length == 0 {
        return 0;
    }
    let (first, middle, last) = (name[0] as usize, name[length / 2] as usize, name[length - 1] as usize);
    (length.wrapping_mul(31) ^ first.wrapping_mul(7) ^ middle.wrapping_mul(13) ^ last.wrapping_mul(3)) % SLOTS
}

impl Field {
    /// The field of this name, in whichever spelling.
    fn find(name: &str) -> Option<Self> {
        let mut slot = hash(name.as_bytes());
        while TABLE[slot] != NONE {
            let (known, field) = NAMES[usize::from(TABLE[slot])];
            if known == name {
                return Some(field);
            }
            slot = (slot + 1) % SLOTS;
        }
        None
    }

    /// Whether any JSON may stand there, to be passed on as it is.
    fn is_raw(self) -> bool {
        matches!(self, Self::Args | Self::Result)
    }
}

/// What was given for each field of one item.
#[derive(Debug)]
pub(crate) struct Fields<'a> {
    /// Where in `given` a field's value is, one higher; 0 if it was not given.
    places: [u8; COUNT],
    given: Vec<Given<'a>>,
}

impl<'a> Fields<'a> {
    pub(crate) fn new() -> Self {
        Self { places: [0; COUNT], given: Vec::with_capacity(12) }
    }

    /// Takes what was given for a field. `null` is the same as nothing.
    pub(crate) fn take(&mut self, field: Field) -> Option<Given<'a>> {
        let place = usize::from(self.places[field as usize]).checked_sub(1)?;
        match std::mem::take(&mut self.given[place]) {
            Given::Null => None,
            given => Some(given),
        }
    }

    /// What was given for a field.
    pub(crate) fn peek(&self, field: Field) -> Option<&Given<'a>> {
        self.given.get(usize::from(self.places[field as usize]).checked_sub(1)?)
    }

    /// Reads one item into what the last one has left.
    pub(crate) fn refill<D: Deserializer<'a>>(&mut self, item: D) -> Result<(), D::Error> {
        self.places = [0; COUNT];
        self.given.clear();
        item.deserialize_any(ItemVisitor(self))
    }

    fn put(&mut self, field: Field, given: Given<'a>) -> bool {
        let place = &mut self.places[field as usize];
        let first = *place == 0;
        self.given.push(given);
        *place = self.given.len() as u8;
        first
    }
}

impl<'de> Deserialize<'de> for Fields<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut fields = Self::new();
        fields.refill(deserializer).map(|()| fields)
    }
}

struct ItemVisitor<'s, 'a>(&'s mut Fields<'a>);

impl<'de> Visitor<'de> for ItemVisitor<'_, 'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        while let Some(name) = entries.next_key_seed(NameSeed)? {
            let Some(field) = name else {
                entries.next_value::<IgnoredAny>()?;
                continue;
            };
            let given = if field.is_raw() {
                entries.next_value::<&RawValue>().map(passed_on)
            } else {
                entries.next_value::<Given<'de>>()
            };
            let given = given.map_err(|error| A::Error::custom(format_args!("{}: {error}", field.name())))?;
            // Two values for one name: whichever were taken, somebody would have meant the other.
            if !self.0.put(field, given) {
                return Err(A::Error::custom(format_args!("{} is given twice", field.name())));
            }
        }
        Ok(())
    }
}

fn passed_on(raw: &RawValue) -> Given<'_> {
    if raw.get() == "null" { Given::Null } else { Given::Raw(raw) }
}

/// Reads a name without keeping it.
struct NameSeed;

impl<'de> DeserializeSeed<'de> for NameSeed {
    type Value = Option<Field>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for NameSeed {
    type Value = Option<Field>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Self::Value, E> {
        Ok(Field::find(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_found_and_no_other() {
        for (name, field) in NAMES {
            assert_eq!(Field::find(name), Some(*field), "{name}");
            assert_eq!(Field::find(&format!("{name}x")), None);
        }
        for none in ["", "a", "agentid", "AGENT_ID", "💥"] {
            assert_eq!(Field::find(none), None);
        }
        assert!(ALL.iter().enumerate().all(|(at, field)| *field as usize == at));
    }
}

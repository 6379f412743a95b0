//! What breakers are called: `{agent}/{kind}/{target}`, or `shared/{target}`.
//!
//! The parts are kept apart by slashes, so a slash inside a part is written `~1` and a tilde `~0`, as in a JSON
//! pointer. A percent sign would not do: names are parts of addresses, whose own percent signs are taken away on
//! the way. Written out, a shared name has exactly one slash and an agent's exactly two; that tells
//! `shared/tool/x`, a tool of an agent called `shared`, from `shared/tool~1x`. Reading is more forgiving: slashes
//! in the last part may be left as they are wherever that is not ambiguous.

use std::borrow::{Borrow, Cow};
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use crate::id::AgentId;

/// The longest name of an agent that a breaker is made for, in bytes.
const AGENT_BYTES_MAX: usize = 256;
/// The longest target, in bytes: a host with a path is far below it.
const TARGET_BYTES_MAX: usize = 256;
/// How names of shared breakers begin.
const SHARED: &str = "shared";

/// What an agent depends on (000 §2.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// One of its tools.
    Tool,
    /// Where its checkpoints are written.
    Checkpoint,
    /// An endpoint outside.
    Api,
    /// Its own recovery.
    Recovery,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Self; 4] = [Self::Tool, Self::Checkpoint, Self::Api, Self::Recovery];

    /// As it stands in names.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Tool => "tool",
            Self::Checkpoint => "checkpoint",
            Self::Api => "api",
            Self::Recovery => "recovery",
        }
    }

    fn read(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The name of one breaker. Names of one agent stand together in their order.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BreakerName(Arc<str>);

/// Why something cannot be the name of a breaker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NameError {
    /// It has too few parts, or the second is not a kind.
    #[error("not `{{agent}}/{{tool|checkpoint|api|recovery}}/{{target}}` or `shared/{{target}}`")]
    Form,
    /// A part is empty.
    #[error("a part of the name is empty")]
    Empty,
    /// A part is longer than it may be.
    #[error("a part of the name has more than 256 bytes")]
    Long,
    /// A part holds a control character.
    #[error("a part of the name holds a control character")]
    Control,
    /// A tilde that stands neither for a slash nor for itself.
    #[error("`~` stands only in `~0` (a tilde) and `~1` (a slash)")]
    Escape,
}

impl BreakerName {
    /// The breaker before what one agent depends on.
    pub fn of_agent(agent: &AgentId, kind: Kind, target: &str) -> Result<Self, NameError> {
        check(agent.as_str(), AGENT_BYTES_MAX)?;
        check(target, TARGET_BYTES_MAX)?;
        let (agent, target) = (escaped(agent.as_str()), escaped(target));
        Ok(Self(format!("{agent}/{kind}/{target}").into()))
    }

    /// The breaker before what many agents depend on.
    pub fn shared(target: &str) -> Result<Self, NameError> {
        check(target, TARGET_BYTES_MAX)?;
        Ok(Self(format!("{SHARED}/{}", escaped(target)).into()))
    }

    /// The name as it is written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The agent it belongs to; nobody's if it is shared.
    pub fn agent(&self) -> Option<AgentId> {
        let (agent, _, _) = self.parts()?;
        Some(AgentId::from(unescaped(agent).as_ref()))
    }

    /// What it stands before; not said of shared ones, which all stand before something outside.
    pub fn kind(&self) -> Option<Kind> {
        self.parts().map(|(_, kind, _)| kind)
    }

    /// The tool, endpoint, store or task.
    pub fn target(&self) -> Cow<'_, str> {
        let last = self.0.rsplit('/').next().unwrap_or_default();
        unescaped(last)
    }

    /// Whether many agents share it.
    pub fn is_shared(&self) -> bool {
        self.parts().is_none()
    }

    /// Names of this agent are at or after this text, and begin with it. Those that are shared may be among them.
    pub(crate) fn prefix_of(agent: &AgentId) -> String {
        format!("{}/", escaped(agent.as_str()))
    }

    fn parts(&self) -> Option<(&str, Kind, &str)> {
        let (agent, rest) = self.0.split_once('/')?;
        let (kind, target) = rest.split_once('/')?;
        Some((agent, Kind::read(kind)?, target))
    }
}

impl FromStr for BreakerName {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        let (first, rest) = text.split_once('/').ok_or(NameError::Form)?;
        let agents = rest.split_once('/').and_then(|(kind, target)| Some((Kind::read(kind)?, target)));
        match agents {
            Some((kind, target)) => {
                Self::of_agent(&AgentId::from(read(first)?.as_ref()), kind, &read(target)?)
            }
            None if first == SHARED => Self::shared(&read(rest)?),
            None => Err(NameError::Form),
        }
    }
}

impl fmt::Display for BreakerName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Borrow<str> for BreakerName {
    fn borrow(&self) -> &str {
        &self.0
    }
}

fn check(part: &str, bytes_max: usize) -> Result<(), NameError> {
    if part.is_empty() {
        return Err(NameError::Empty);
    }
    if bytes_max < part.len() {
        return Err(NameError::Long);
    }
    if part.chars().any(char::is_control) {
        return Err(NameError::Control);
    }
    Ok(())
}

fn escaped(part: &str) -> Cow<'_, str> {
    if part.contains(['~', '/']) { part.replace('~', "~0").replace('/', "~1").into() } else { part.into() }
}

fn unescaped(part: &str) -> Cow<'_, str> {
    if part.contains('~') { part.replace("~1", "/").replace("~0", "~").into() } else { part.into() }
}

/// What a part stands for, if its tildes make sense.
fn read(part: &str) -> Result<Cow<'_, str>, NameError> {
    let mut after_tildes = part.split('~').skip(1);
    if after_tildes.all(|after| after.starts_with(['0', '1'])) {
        Ok(unescaped(part))
    } else {
        Err(NameError::Escape)
    }
}

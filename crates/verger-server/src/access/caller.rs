//! Who asks, and whether they may.

use verger_core::id::{Actor, AgentId};
use verger_core::signal::Trust;

/// Who asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Caller {
    /// Somebody on this machine who showed no token.
    Nobody,
    /// An agent.
    Agent(AgentId),
    /// Somebody who may read, under this name.
    Reader(Actor),
    /// Somebody who may do everything, under this name.
    Admin(Actor),
    /// Somebody with the admin's token who runs inside the process tree of this watched agent.
    Watched(AgentId),
}

/// What is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Right<'a> {
    /// Send a vital sign of this agent, which needs no proof.
    Vital(&'a AgentId),
    /// Say something of this agent that others rely on, or take what is for it.
    Own(&'a AgentId),
    /// See how this agent is doing.
    See(&'a AgentId),
    /// See everything.
    Read,
    /// Decide.
    Order,
}

/// Why it may not be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Denied {
    /// Nobody said who asks.
    #[error("this needs a token: send `Authorization: Bearer …`")]
    NoToken,
    /// The token reaches less far.
    #[error("this token may not do that; `verger token create` makes one that may")]
    NotAllowed,
    /// The token is another agent's.
    #[error("this token speaks for another agent")]
    AnotherAgent,
    /// The token would do, and whoever shows it is watched.
    #[error("an agent must not decide about itself or others: this comes from inside a watched process tree")]
    Watched,
}

impl Caller {
    /// Whether this may be done by them.
    pub fn may(&self, right: Right<'_>) -> Result<(), Denied> {
        match (self, right) {
            (Self::Admin(_), _)
            | (Self::Nobody, Right::Vital(_))
            | (Self::Reader(_) | Self::Watched(_), Right::See(_) | Right::Read) => Ok(()),
            (Self::Nobody, _) => Err(Denied::NoToken),
            (Self::Agent(own), Right::Vital(agent) | Right::Own(agent) | Right::See(agent)) => {
                if own == agent { Ok(()) } else { Err(Denied::AnotherAgent) }
            }
            (Self::Watched(own), Right::Vital(agent) | Right::Own(agent)) if own == agent => Ok(()),
            (Self::Watched(_), Right::Vital(_) | Right::Own(_) | Right::Order) => Err(Denied::Watched),
            (Self::Agent(_), Right::Read | Right::Order)
            | (Self::Reader(_), Right::Vital(_) | Right::Own(_) | Right::Order) => Err(Denied::NotAllowed),
        }
    }

    /// Whether a token was shown. Without one nobody learns even whether a request could be understood.
    pub fn is_somebody(&self) -> Result<(), Denied> {
        if *self == Self::Nobody { Err(Denied::NoToken) } else { Ok(()) }
    }

    /// How far their word about this agent is to be trusted.
    pub fn trust(&self, agent: &AgentId) -> Trust {
        match self {
            Self::Admin(_) => Trust::Verified,
            Self::Agent(own) | Self::Watched(own) if own == agent => Trust::Verified,
            Self::Agent(_) | Self::Watched(_) | Self::Reader(_) | Self::Nobody => Trust::Unverified,
        }
    }

    /// Under which name what they order is recorded.
    pub fn actor(&self) -> Option<Actor> {
        match self {
            Self::Reader(name) | Self::Admin(name) => Some(name.clone()),
            Self::Agent(agent) | Self::Watched(agent) => Some(Actor::from(format!("agent:{agent}"))),
            Self::Nobody => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_scope_may_do_what_the_table_says_and_nothing_else() {
        let (own, other) = (AgentId::from("a"), AgentId::from("b"));
        let rights = [
            Right::Vital(&own),
            Right::Vital(&other),
            Right::Own(&own),
            Right::Own(&other),
            Right::See(&own),
            Right::See(&other),
            Right::Read,
            Right::Order,
        ];
        let table = [
            (Caller::Nobody, "11......"),
            (Caller::Agent(own.clone()), "1.1.1..."),
            (Caller::Reader("ray".into()), "....111."),
            (Caller::Admin("ada".into()), "11111111"),
            (Caller::Watched(own.clone()), "1.1.111."),
        ];
        for (caller, expected) in table {
            let may: String =
                rights.iter().map(|right| if caller.may(*right).is_ok() { '1' } else { '.' }).collect();
            assert_eq!(may, expected, "{caller:?}");
        }
    }

    #[test]
    fn only_its_own_token_and_the_admins_make_a_word_of_an_agent_proven() {
        let agent = AgentId::from("a");
        assert_eq!(Caller::Agent(agent.clone()).trust(&agent), Trust::Verified);
        assert_eq!(Caller::Admin("ada".into()).trust(&agent), Trust::Verified);
        for caller in [Caller::Nobody, Caller::Agent("b".into()), Caller::Reader("ray".into())] {
            assert_eq!(caller.trust(&agent), Trust::Unverified, "{caller:?}");
        }
    }
}

//! What a probe is held to: how often, how long, how many times (004 §4.4).

use std::fmt;

use crate::id::ProbeName;
use crate::time::Span;

/// Probes of one agent, the first being the primary one.
pub const PROBES_MAX: usize = 16;
/// Characters of a probe's name, as in 004 §6.1.
pub(super) const NAME_MAX: usize = 50;

/// One probe of an agent. What it looks at is known outside; here it is a number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProbeSpec {
    /// Its name: lowercase letters and digits, unique for the agent. By default its type.
    pub name: ProbeName,
    /// Time between two checks. Default 5 s, from 1 s to 5 min (004 §4.4).
    pub interval: Span,
    /// Time one check may take. Default 3 s, from 100 ms to less than the interval (004 §4.4).
    pub timeout: Span,
    /// Failures in a row that make it unhealthy. Default 3, from 1 to 10 (004 §4.4).
    pub failure_threshold: u8,
    /// Passes in a row that make it healthy again. Default 2, from 1 to 5 (004 §4.4).
    pub success_threshold: u8,
    /// Whether it counts for the agent's state (`includeInAggregate`). Default true; false makes it advisory.
    pub included: bool,
    /// A digest of what is looked at: another one makes it another probe, which knows nothing yet.
    pub target: u64,
}

impl ProbeSpec {
    /// A probe with the defaults of 004.
    pub fn new(name: &str, target: u64) -> Self {
        Self {
            name: name.into(),
            interval: Span::secs(5),
            timeout: Span::secs(3),
            failure_threshold: 3,
            success_threshold: 2,
            included: true,
            target,
        }
    }

    fn flaws(&self, flaws: &mut Vec<SpecFlaw>) {
        let name = &self.name;
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
        let (ok_name, length) = (name.as_str().chars().all(plain), name.as_str().chars().count());
        let rules = [
            (ok_name && (1..=NAME_MAX).contains(&length), What::Name),
            ((Span::secs(1)..=Span::minutes(5)).contains(&self.interval), What::Interval),
            ((Span::millis(100)..self.interval).contains(&self.timeout), What::Timeout),
            ((1..=10).contains(&self.failure_threshold), What::FailureThreshold),
            ((1..=5).contains(&self.success_threshold), What::SuccessThreshold),
        ];
        let broken = rules.into_iter().filter(|(kept, _)| !kept);
        flaws.extend(broken.map(|(_, what)| SpecFlaw { probe: name.clone(), what }));
    }
}

/// What is wrong with one probe.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("probe `{probe}`: {what}")]
pub struct SpecFlaw {
    /// Which.
    pub probe: ProbeName,
    /// What.
    pub(super) what: What,
}

/// The rules of 004 §4.1 and §4.4, and two of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum What {
    #[error("a name must be 1 - 50 lowercase letters and digits")]
    Name,
    #[error("Interval must be 1 second - 5 minutes")]
    Interval,
    #[error("Timeout must be 100ms - Interval")]
    Timeout,
    #[error("FailureThreshold must be 1-10")]
    FailureThreshold,
    #[error("SuccessThreshold must be 1-5")]
    SuccessThreshold,
    #[error("another probe of this agent has this name")]
    Duplicate,
    #[error("an agent has at most {PROBES_MAX} probes")]
    TooMany,
}

/// Probes that were refused, and everything that is wrong with them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpecRefusal {
    /// In the order of the probes.
    pub flaws: Vec<SpecFlaw>,
}

impl fmt::Display for SpecRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, flaw) in self.flaws.iter().enumerate() {
            write!(f, "{}{flaw}", if n == 0 { "" } else { "; " })?;
        }
        Ok(())
    }
}

impl std::error::Error for SpecRefusal {}

/// Checks the probes of one agent; every error is listed.
pub fn check(specs: &[ProbeSpec]) -> Result<(), SpecRefusal> {
    let mut flaws = Vec::new();
    for (n, spec) in specs.iter().enumerate().take(PROBES_MAX) {
        spec.flaws(&mut flaws);
        if specs.iter().take(n).any(|other| other.name == spec.name) {
            flaws.push(SpecFlaw { probe: spec.name.clone(), what: What::Duplicate });
        }
    }
    if let Some(spec) = specs.get(PROBES_MAX) {
        flaws.push(SpecFlaw { probe: spec.name.clone(), what: What::TooMany });
    }
    if flaws.is_empty() { Ok(()) } else { Err(SpecRefusal { flaws }) }
}

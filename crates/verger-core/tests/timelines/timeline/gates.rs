//! The words of a script that concern breakers and checkpoints.
//!
//! `acquire NAME`, `report NAME ok|failed|outage` (with the last permit), `reset NAME`, `breaker NAME MODE`,
//! `submit NAME ID`, `retry NAME`, `discard NAME ID`.

use verger_core::breaker::{BreakerName, CallResult, Mode};
use verger_core::effect::{EffectKey, Outcome};
use verger_core::notice::{BreakerNotice, CheckpointNotice, Notice, Reply};
use verger_core::signal::Body;

use super::Timeline;
use super::script::Words;

impl Timeline {
    /// Tells what became of an effect.
    pub(crate) fn tell_outcome(&mut self, key: EffectKey, outcome: Outcome) {
        let signal = self.signal(key.agent.clone().as_str(), Body::Outcome { key, outcome });
        self.observe(&signal);
    }

    /// Does what a word says; tells whether it is one of these.
    pub(super) fn do_gate_words(&mut self, verb: &str, words: &Words<'_>) -> bool {
        let by = || "ada".into();
        let second = || *words.0.get(1).expect("a second word");
        let breaker = match verb {
            "acquire" => BreakerNotice::Acquire,
            "report" => {
                let result = match second() {
                    "ok" => CallResult::Ok,
                    "failed" => CallResult::Failed,
                    "outage" => CallResult::Outage,
                    other => panic!("no call ends `{other}`"),
                };
                let permit = *self.permits.get(words.first()).expect("a permit was given");
                BreakerNotice::Report { permit, outcome: result.into() }
            }
            "reset" => BreakerNotice::Reset { by: by() },
            "breaker" => BreakerNotice::SetMode { by: by(), mode: breaker_mode(second()) },
            _ => return self.do_checkpoint_words(verb, words),
        };
        self.tell_breaker(words.first(), breaker);
        true
    }

    fn do_checkpoint_words(&mut self, verb: &str, words: &Words<'_>) -> bool {
        let id = || (*words.0.get(1).expect("a checkpoint")).into();
        let what = match verb {
            "submit" => CheckpointNotice::Submit { id: id() },
            "retry" => CheckpointNotice::Retry { by: "ada".into() },
            "discard" => CheckpointNotice::Discard { by: "ada".into(), id: id() },
            _ => return false,
        };
        self.answered(&Notice::Checkpoint { breaker: name(words.first()), what }, words.first());
        true
    }

    fn tell_breaker(&mut self, text: &str, what: BreakerNotice) {
        self.answered(&Notice::Breaker { name: name(text), what }, text);
    }

    fn answered(&mut self, notice: &Notice, name: &str) {
        match self.notice(notice) {
            Ok(Reply::Permit(permit)) => {
                self.permits.insert(name.to_owned(), permit);
                self.note("may call");
            }
            Ok(Reply::Reported(reported)) => self.note(&format!("report: {reported:?}")),
            Ok(_) => {}
            Err(error) => self.note(&format!("{} {error}", error.code())),
        }
    }
}

fn name(text: &str) -> BreakerName {
    text.parse().unwrap_or_else(|error| panic!("`{text}`: {error}"))
}

fn breaker_mode(word: &str) -> Mode {
    match word {
        "normal" => Mode::Normal,
        "forced-open" => Mode::ForcedOpen,
        "disabled" => Mode::Disabled,
        "metrics-only" => Mode::MetricsOnly,
        other => panic!("no breaker works `{other}`"),
    }
}

//! Steps whose text is heard, as the edge would hand them over.
//!
//! `run TOOL ARGS… -> RESULT…` is a call that ended at once, with `!` at its end one that failed; `talks …` and
//! `person-talks …` are words.

use verger_core::fingerprint::{CallPrint, ResultPrint, TextPrint};
use verger_core::signal::{Author, Body};
use verger_core::stuck::{Role, StepPrint, ToolStep};

use super::{Timeline, Words};

impl Timeline {
    pub(super) fn told(&mut self, agent: &str, verb: &str, words: &Words<'_>) -> bool {
        let text = || words.0.join(" ");
        match verb {
            "run" => self.run_told(agent, words),
            "talks" => self.talk(agent, Author::Agent, Role::Agent, &text()),
            "person-talks" => self.talk(agent, Author::Person, Role::User, &text()),
            _ => return false,
        }
        true
    }

    fn run_told(&mut self, agent: &str, words: &Words<'_>) {
        let (tool, rest) = words.0.split_first().expect("a tool is named");
        let failed = rest.last() == Some(&"!");
        let rest = rest.join(" ");
        let (args, result) = rest.trim_end_matches(" !").split_once("->").unwrap_or((&rest, ""));
        let (args, result) = (args.trim(), result.trim());
        let call = self.new_call(agent, args);
        let print = CallPrint::of(tool, args);
        self.tell(agent, Body::ToolStarted { call, print, limit: None });
        let step = ToolStep { tool, args, result, error: Some(failed), ..ToolStep::default() };
        let body = Body::ToolFinished {
            call,
            print,
            result: ResultPrint::of(result, failed, None),
            tool: Some((*tool).into()),
            step: Some(Box::new(StepPrint::of_call(&step))),
        };
        self.tell(agent, body);
    }

    fn talk(&mut self, agent: &str, author: Author, role: Role, text: &str) {
        let step = Some(Box::new(StepPrint::of_message(role, text)));
        self.tell(agent, Body::Message { author, text: TextPrint::of(text), step });
    }
}

//! `swe-agent`: `.traj` files of SWE-agent: one document, whose `trajectory` holds an action and its observation a step.

use super::{Reader, Steps};
use crate::run::Call;
use crate::values::{self, Object};

/// What a step is called in which the model gave no command.
const NO_ACTION: &str = "no_action";

pub(super) struct SweAgent;

impl Reader for SweAgent {
    fn line(&mut self, step: Object, steps: &mut Steps<'_>) -> Result<(), String> {
        let (Some(action), Some(observation)) = (step.get("action"), step.get("observation")) else {
            return Err("a step without action and observation".to_owned());
        };
        let args = values::text(action);
        let tool = args.split_whitespace().next().unwrap_or(NO_ACTION).to_owned();
        let run = steps.default_id();
        steps.call(&run, Call { tool, args, result: values::text(observation), ..Call::default() });
        Ok(())
    }

    fn fields(&self) -> &'static [&'static str] {
        &["trajectory"]
    }
}

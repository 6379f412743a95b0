//! By which way something is done: a program or a webhook, as it was configured.

use std::time::Duration;

use serde_json::Value;
use verger_act::{Program, Secret, Target, Work};
use verger_config::{Command, Means, MeansBook, MeansPair, Webhook};

use crate::serve::ServeError;

/// The time that a program or webhook has that is merely told something.
pub(super) const TELL_WITHIN: Duration = Duration::from_mins(1);

/// A way.
#[derive(Clone, Debug)]
pub(crate) enum Way {
    /// By running a program.
    Program(Command),
    /// By calling an address.
    Hook(Target),
}

impl Way {
    pub(crate) fn of(means: &Means, place: &'static str) -> Result<Self, ServeError> {
        match means {
            Means::Command(command) => Ok(Self::Program(command.clone())),
            Means::Webhook(webhook) => Self::hook(webhook, place),
        }
    }

    pub(crate) fn hook(webhook: &Webhook, place: &'static str) -> Result<Self, ServeError> {
        let secret = webhook.secret_file.as_deref().map(Secret::read).transpose()?;
        let target = Target::new(&webhook.url, secret);
        target.map(Self::Hook).map_err(|source| ServeError::Target { place, source })
    }

    /// What is to be done by this way: the document goes to both, the variables to a program alone.
    pub(super) fn work(&self, document: Value, variables: Vec<(String, String)>) -> Work {
        match self {
            Self::Program(command) => Work::Run(program(command, document, variables)),
            Self::Hook(target) => Work::Post(verger_act::Post { target: target.clone(), document }),
        }
    }
}

/// What was configured comes last: it may overrule what is said of the event.
fn program(command: &Command, document: Value, variables: Vec<(String, String)>) -> Program {
    let (program, args) = command
        .argv
        .split_first()
        .map_or((String::new(), Vec::new()), |(name, args)| (name.clone(), args.to_vec()));
    let configured = command.env.iter().map(|(name, value)| (name.clone(), value.reveal().to_owned()));
    let env = variables.into_iter().chain(configured).collect();
    Program { program, args, cwd: command.cwd.clone(), env, document }
}

/// Says before anything is watched what is wrong with an address or the file of a secret.
pub(crate) fn check_means(book: &MeansBook) -> Result<(), ServeError> {
    for MeansPair { termination, spawn } in
        std::iter::once(&book.all).chain(book.roles.values()).chain(book.agents.values())
    {
        for (means, place) in [(termination, "termination.webhook"), (spawn, "spawn.webhook")] {
            if let Some(means) = means {
                Way::of(means, place)?;
            }
        }
    }
    Ok(())
}

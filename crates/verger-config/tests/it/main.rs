//! The crate as its users see it: text in, a configuration or a list of problems out.

mod behaviour;
mod checked;
mod classic;
mod documents;
mod hostile;
mod means;
mod precedence;
mod roles;
mod telemetry;
mod told;

/// The scripts by which the core is tested.
#[path = "../../../verger-core/tests/timelines/timeline/mod.rs"]
#[expect(dead_code, reason = "the core's own tests need more of it")]
mod timeline;

use std::path::Path;

use verger_config::{Configuration, Problems, Source, Surroundings, load};
use verger_core::id::RoleName;
use verger_core::policy::Role;

/// Loads a text as the file `verger.yaml`, with nothing around it but a home.
fn loaded(text: &str) -> Result<Configuration, Problems> {
    let source = Source::from_bytes(Path::new("verger.yaml"), text.as_bytes())?;
    load(Some(&source), &at_home())
}

#[track_caller]
fn right(text: &str) -> Configuration {
    loaded(text).unwrap_or_else(|problems| panic!("{problems}"))
}

/// What is wrong, one line each: place, message, hint.
#[track_caller]
fn wrong(text: &str) -> String {
    let Err(problems) = loaded(text) else { panic!("this is right:\n{text}") };
    let line = |problem: &verger_config::Problem| {
        let place =
            problem.place.map(|place| format!("{}:{} ", place.line, place.column)).unwrap_or_default();
        let hint = problem.hint.as_ref().map(|hint| format!(" ({hint})")).unwrap_or_default();
        format!("{place}{}{hint}", problem.message)
    };
    problems.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn at_home() -> Surroundings {
    let environment = [("HOME".to_owned(), "/home/a".to_owned())].into();
    Surroundings { environment, ..Surroundings::default() }
}

fn role<'a>(configuration: &'a Configuration, name: &str) -> &'a Role {
    configuration.policies.role(Some(&RoleName::from(name)))
}

//! `verger config check|show`.

use std::io::Write;

use verger_config::{Detail, check, read_and_load};

use crate::cli::{Config, Place};
use crate::exit::Exit;
use crate::surroundings;

pub(crate) fn run(what: &Config, out: &mut dyn Write) -> anyhow::Result<Exit> {
    match what {
        Config::Check { file, place } => {
            let place = Place { config: file.clone().or_else(|| place.config.clone()), ..place.clone() };
            let report = check(&surroundings::of(&place));
            out.write_all(report.text.as_bytes())?;
            Ok(if report.passed { Exit::Done } else { Exit::Failed })
        }
        Config::Show { place, changed, json } => {
            let configuration = match read_and_load(&surroundings::of(place)) {
                Ok(configuration) => configuration,
                Err(problems) => {
                    anyhow::bail!("the configuration is wrong, so nothing can be shown of it\n{problems}")
                }
            };
            if *json {
                writeln!(out, "{:#}", configuration.show_json())?;
            } else {
                let detail = if *changed { Detail::Changed } else { Detail::All };
                out.write_all(configuration.show(detail).as_bytes())?;
            }
            Ok(Exit::Done)
        }
    }
}

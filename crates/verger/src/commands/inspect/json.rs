//! What programs read: one line per run.

use std::io::{self, Write};

use serde::Serialize;
use verger_ingest::{Finding, Kind};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Line<'a> {
    run_id: &'a str,
    state: &'static str,
    stuck_at_step: Option<u32>,
    kind: Option<&'static str>,
    evidence: Vec<Evidence<'a>>,
    steps: u32,
}

#[derive(Serialize)]
struct Evidence<'a> {
    text: &'a str,
    steps: &'a [u32],
}

impl<'a> Line<'a> {
    pub(super) fn of(finding: &'a Finding) -> Self {
        Self {
            run_id: &finding.run_id,
            state: finding.state.name(),
            stuck_at_step: finding.stuck_at,
            kind: finding.kind.map(Kind::name),
            evidence: finding
                .evidence
                .iter()
                .map(|it| Evidence { text: &it.text, steps: &it.steps })
                .collect(),
            steps: finding.steps,
        }
    }
}

pub(super) fn line(out: &mut dyn Write, finding: &Finding) -> io::Result<()> {
    writeln!(out, "{}", serde_json::to_string(&Line::of(finding))?)?;
    out.flush()
}

//! One file per format of the outside, and what they have in common.

mod claude_code;
mod codex;
mod gemini_cli;
mod hive;
mod mini_swe_agent;
pub(crate) mod opencode;
mod openhands;
mod otlp;
mod runs;
mod steps;
mod swe_agent;

use std::path::Path;

use serde_json::Value;

use crate::format::Format;
use crate::values::Object;
pub(crate) use steps::Steps;

/// Reads one format. It is given the lines of a file, or the elements of a document.
pub(crate) trait Reader {
    /// A line of a file of lines. An error names what is wrong with it.
    fn line(&mut self, line: Object, steps: &mut Steps<'_>) -> Result<(), String>;

    /// The fields of a document whose elements are wanted; all if there are none.
    fn fields(&self) -> &'static [&'static str] {
        &[]
    }

    /// An element of an array of a document, or a field that is an object.
    fn element(&mut self, name: &str, element: Object, steps: &mut Steps<'_>) -> Result<(), String> {
        let _ = name;
        self.line(element, steps)
    }

    /// A field of a document that is neither.
    fn field(&mut self, name: &str, value: &Value) -> Result<(), String> {
        let _ = (name, value);
        Ok(())
    }

    /// There is nothing more in this file.
    fn finish(&mut self, steps: &mut Steps<'_>) {
        let _ = steps;
    }
}

/// What reads a format.
pub(crate) fn reader(format: Format, path: &Path) -> Box<dyn Reader> {
    match format {
        Format::Runs => Box::new(runs::Runs),
        Format::ClaudeCode => Box::new(claude_code::ClaudeCode),
        Format::Codex => Box::new(codex::Codex::default()),
        Format::GeminiCli => Box::new(gemini_cli::GeminiCli::default()),
        Format::Opencode => Box::new(opencode::Opencode::default()),
        Format::MiniSweAgent => Box::new(mini_swe_agent::MiniSweAgent::default()),
        Format::SweAgent => Box::new(swe_agent::SweAgent),
        Format::OpenHands => Box::new(openhands::OpenHands),
        Format::Hive => Box::new(hive::Hive::of(path)),
        Format::Otlp => Box::new(otlp::Otlp),
    }
}

/// What one element of a document tells of its format: the array that it stands in, and its own fields.
pub(crate) fn of_element(name: &str, element: &Object) -> Option<Format> {
    let has = |name: &str| element.contains_key(name);
    match name {
        "trajectory" if has("action") || has("observation") => Some(Format::SweAgent),
        "messages" if has("parts") && has("info") => Some(Format::Opencode),
        "messages" if has("role") => Some(Format::MiniSweAgent),
        "messages" if has("type") && has("content") => Some(Format::GeminiCli),
        "resourceLogs" | "resourceSpans" | "resourceMetrics" => Some(Format::Otlp),
        "steps" if has("kind") => Some(Format::Runs),
        _ => None,
    }
}

/// Whether a file that holds nothing but this object is a document of a known format.
pub(crate) fn is_document(object: &Object) -> bool {
    ["trajectory", "messages"].iter().any(|name| object.get(*name).is_some_and(Value::is_array))
}

//! The formats that are known, and how a recording's format is found out from its content.

use std::fmt;
use std::str::FromStr;

use serde_json::{Map, Value};

/// Who wrote a recording, and so how it is to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Format {
    /// One run per line, with its steps.
    Runs,
    /// A transcript of Claude Code, or what `claude -p --output-format stream-json` prints.
    ClaudeCode,
    /// A rollout of Codex.
    Codex,
    /// A chat of Gemini CLI.
    GeminiCli,
    /// The database of opencode, its rows as JSON lines, or what `opencode export` prints.
    Opencode,
    /// A trajectory of mini-swe-agent.
    MiniSweAgent,
    /// A `.traj` file of SWE-agent.
    SweAgent,
    /// The events of an `OpenHands` conversation: an array, a file of lines, or a folder of files.
    OpenHands,
    /// `tool_logs.jsonl` of Hive.
    Hive,
    /// OTLP in JSON, one export a line.
    Otlp,
}

impl Format {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::Runs,
        Self::ClaudeCode,
        Self::Codex,
        Self::GeminiCli,
        Self::Opencode,
        Self::MiniSweAgent,
        Self::SweAgent,
        Self::OpenHands,
        Self::Hive,
        Self::Otlp,
    ];

    /// As it is typed.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Runs => "runs",
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::GeminiCli => "gemini-cli",
            Self::Opencode => "opencode",
            Self::MiniSweAgent => "mini-swe-agent",
            Self::SweAgent => "swe-agent",
            Self::OpenHands => "openhands",
            Self::Hive => "hive",
            Self::Otlp => "otlp",
        }
    }

    /// Whether a line of it stands for itself, so that a file of one line can be read as lines too.
    pub(crate) const fn is_of_lines(self) -> bool {
        matches!(self, Self::Runs | Self::Otlp)
    }

    /// All names, for a message.
    pub(crate) fn names() -> String {
        Self::ALL.map(Self::name).join(", ")
    }

    /// What a line of JSON tells of the format of its file, if it tells anything. The more particular shapes come
    /// first: a chat of Gemini also has a `sessionId`, and many things have a `type`.
    pub(crate) fn of_line(line: &Map<String, Value>) -> Option<Self> {
        let has = |name: &str| line.contains_key(name);
        let is = |name: &str, values: &[&str]| {
            line.get(name).and_then(Value::as_str).is_some_and(|value| values.contains(&value))
        };
        if has("steps") && (has("run_id") || has("runId") || has("id")) {
            Some(Self::Runs)
        } else if has("resourceLogs")
            || has("resourceSpans")
            || has("resourceMetrics")
            || has("sig") && has("attrs")
        {
            Some(Self::Otlp)
        } else if has("table") && has("row") || has("part") && has("sessionID") {
            Some(Self::Opencode)
        } else if has("payload") && is("type", &CODEX_LINES) {
            Some(Self::Codex)
        } else if has("node_id") && (has("tool_calls") || has("step_index")) {
            Some(Self::Hive)
        } else if is_openhands_event(line) {
            Some(Self::OpenHands)
        } else if has("projectHash") || has("$set") || is("type", &["gemini"]) {
            Some(Self::GeminiCli)
        } else if is("type", &["user", "assistant"]) && has("message")
            || is("type", &["system"]) && has("session_id")
        {
            Some(Self::ClaudeCode)
        } else {
            // Everything else that Claude Code writes names the session and nothing telling.
            (has("sessionId") && has("type")).then_some(Self::ClaudeCode)
        }
    }
}

const CODEX_LINES: [&str; 4] = ["session_meta", "turn_context", "response_item", "event_msg"];

/// Whether this is an event of `OpenHands`, of the old kind (`action`, `observation`) or of the new (`kind`).
pub(crate) fn is_openhands_event(event: &Map<String, Value>) -> bool {
    let is_kind = |kind: &str| kind.ends_with("Event") || kind.ends_with("Observation");
    let new = event.get("kind").and_then(Value::as_str).is_some_and(is_kind);
    let old = ["action", "observation"].iter().any(|name| event.get(*name).is_some_and(Value::is_string));
    event.contains_key("source") && (new || old)
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Format {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|format| format.name() == text)
            .ok_or_else(|| format!("no format is called `{text}`; there are {}", Self::names()))
    }
}

//! Whether a call waits, or looks whether something is done: repeating it is its purpose, for a while.
//!
//! Judged by words, and only where words mean what is done: in the tool's name, and where a command's words
//! begin. The text of an edit that speaks of sleep does not wait.

/// Bytes of a command that are read: what it does stands at its beginning.
const COMMAND_MAX: usize = 1024;

/// Commands that wait, or show what goes on.
const WAITING: [&str; 16] = [
    "sleep",
    "wait",
    "watch",
    "tail",
    "poll",
    "scroll",
    "scroll_down",
    "scroll_up",
    "page_down",
    "page_up",
    "inotifywait",
    "pgrep",
    "ps",
    "jobs",
    "squeue",
    "sacct",
];

/// Commands that talk to something that works by itself …
const CONTROL: [&str; 16] = [
    "kubectl",
    "docker",
    "podman",
    "systemctl",
    "service",
    "gh",
    "glab",
    "aws",
    "gcloud",
    "az",
    "helm",
    "argocd",
    "pm2",
    "supervisorctl",
    "heroku",
    "flyctl",
];

/// … and what they are told when one only looks.
const LOOKING: [&str; 10] =
    ["status", "wait", "watch", "logs", "ps", "get", "describe", "inspect", "view", "checks"];

/// Words before the command proper.
const PREFIXES: [&str; 9] = ["do", "then", "else", "sudo", "time", "nohup", "exec", "timeout", "command"];

pub(super) fn is_command_key(key: &[u8]) -> bool {
    matches!(key, b"command" | b"cmd" | b"chars" | b"keystrokes")
}

pub(super) fn waits(tool: &str, args: &str) -> bool {
    let name = Name::of(tool);
    if name.waits() {
        return true;
    }
    match command(args) {
        Some(command) => command_waits(command),
        None if name.is_shell() && !args.trim_start().starts_with('{') => command_waits(args.trim()),
        None => false,
    }
}

/// The value of a member named like a command, as it is written. Only the beginning is searched, and a key
/// within a text may be taken for one: the price of not reading all of it twice.
fn command(args: &str) -> Option<&str> {
    let args = cut(args.trim_start(), COMMAND_MAX);
    let members = args.strip_prefix('{')?;
    ["\"command\"", "\"cmd\"", "\"chars\"", "\"keystrokes\""].iter().find_map(|key| {
        let value = members[members.find(key)? + key.len()..].trim_start().strip_prefix(':')?.trim_start();
        match value.strip_prefix('"') {
            Some(text) => Some(&text[..closing_quote(text)]),
            None => Some(value.split_once(']').map_or(value, |(list, _)| list)),
        }
    })
}

fn closing_quote(text: &str) -> usize {
    let mut escaped = false;
    let end = text.bytes().position(|byte| {
        let ends = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        ends
    });
    end.unwrap_or(text.len())
}

/// An empty command means "go on waiting" in every shell tool that knows one.
fn command_waits(command: &str) -> bool {
    let command = cut(command, COMMAND_MAX);
    if command.trim().is_empty() {
        return true;
    }
    let list = command.starts_with('[');
    let ends = |c: char| matches!(c, ';' | '&' | '|' | '(' | '\n') || (list && matches!(c, '"' | '['));
    command.split(ends).flat_map(|line| line.split("\\n")).any(simple_command_waits)
}

fn simple_command_waits(command: &str) -> bool {
    let mut words = command
        .split([' ', '\t', '"', '\'', ','])
        .filter(|word| !word.is_empty() && !word.starts_with('-'))
        .skip_while(|word| PREFIXES.contains(word) || word.starts_with(|c: char| c.is_ascii_digit()));
    let Some(first) = words.next() else { return false };
    WAITING.contains(&first)
        || (CONTROL.contains(&first) && words.take(3).any(|word| LOOKING.contains(&word)))
}

/// The words of a tool's name, in lower case: `BashOutput`, `read_output` and `read-output` all have two.
struct Name {
    bytes: [u8; 64],
    length: usize,
}

impl Name {
    fn of(tool: &str) -> Self {
        let mut name = Self { bytes: [0; 64], length: 0 };
        let mut lower_before = false;
        for byte in tool.bytes().take(32) {
            if byte.is_ascii_uppercase() && lower_before {
                name.push(b' ');
            }
            name.push(if byte.is_ascii_alphanumeric() { byte.to_ascii_lowercase() } else { b' ' });
            lower_before = byte.is_ascii_lowercase() || byte.is_ascii_digit();
        }
        name
    }

    fn push(&mut self, byte: u8) {
        self.bytes[self.length] = byte;
        self.length += 1;
    }

    fn words(&self) -> impl Iterator<Item = &[u8]> {
        self.bytes[..self.length].split(|byte| *byte == b' ').filter(|word| !word.is_empty())
    }

    fn has(&self, word: &[u8]) -> bool {
        self.words().any(|own| own == word)
    }

    fn waits(&self) -> bool {
        let acts =
            [&b"set"[..], b"update", b"write", b"create", b"post", b"git"].iter().any(|word| self.has(word));
        let reads =
            [&b"read"[..], b"get", b"check", b"bash", b"task", b"shell"].iter().any(|word| self.has(word));
        let turns = [&b"next"[..], b"down", b"up", b"previous"].iter().any(|word| self.has(word));
        self.words().any(|word| match word {
            b"sleep" | b"wait" | b"await" | b"poll" | b"tail" | b"watch" | b"scroll" | b"heartbeat"
            | b"inbox" => true,
            b"status" | b"progress" => !acts,
            b"output" => reads,
            b"page" => turns,
            _ => false,
        })
    }

    fn is_shell(&self) -> bool {
        self.words()
            .any(|word| matches!(word, b"bash" | b"shell" | b"sh" | b"zsh" | b"terminal" | b"exec" | b"cmd"))
    }
}

fn cut(text: &str, length: usize) -> &str {
    &text[..text.floor_char_boundary(length)]
}

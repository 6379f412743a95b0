//! What the operator reads: a line for each thing that somebody should know, for people or for programs.
//!
//! Whatever a line holds, it stays one line and steers no terminal (X19): names, reasons and outputs come from agents
//! and from programs. What belongs to a trace or is about an agent says so, so that lines can be found together.

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Map, Value};
use verger_api::Time;
use verger_config::{LogFormat, LogLevel, LogSettings};

use crate::monitor::wall_now;

/// Takes whole lines.
type Write = dyn Fn(&str) + Send + Sync;

/// Where lines for the operator go. Clones go to the same place.
#[derive(Clone)]
pub struct Log(Arc<Shared>);

struct Shared {
    write: Box<Write>,
    is_json: AtomicBool,
    is_wordy: AtomicBool,
}

/// What a line is about: a name, and whatever it is.
pub type About<'a> = [(&'static str, &'a str)];

impl Log {
    /// Lines go to `write`, one at a time, without their end.
    pub fn new(write: impl Fn(&str) + Send + Sync + 'static) -> Self {
        let (is_json, is_wordy) = (AtomicBool::new(false), AtomicBool::new(false));
        Self(Arc::new(Shared { write: Box::new(write), is_json, is_wordy }))
    }

    /// How lines are written from now on, and which.
    pub fn set(&self, settings: LogSettings) {
        self.0.is_json.store(settings.format == LogFormat::Json, Ordering::Relaxed);
        self.0.is_wordy.store(settings.level == LogLevel::Info, Ordering::Relaxed);
    }

    /// Something that somebody should look at.
    pub fn warn(&self, text: &str) {
        self.write("warn", text, &[], &[]);
    }

    /// The same, about something.
    pub fn warn_about(&self, text: &str, about: &About<'_>) {
        self.write("warn", text, about, &[]);
    }

    /// The same, with lines that say more.
    pub fn warn_more(&self, text: &str, more: &[String]) {
        self.write("warn", text, &[], more);
    }

    /// Whether anybody wants to know what happens.
    pub fn is_wordy(&self) -> bool {
        self.0.is_wordy.load(Ordering::Relaxed)
    }

    /// Something that happens, for whoever wants to know.
    pub fn info(&self, text: &str, about: &About<'_>) {
        if self.is_wordy() {
            self.write("info", text, about, &[]);
        }
    }

    fn write(&self, level: &str, text: &str, about: &About<'_>, more: &[String]) {
        let is_json = self.0.is_json.load(Ordering::Relaxed);
        let line = if is_json { json(level, text, about, more) } else { plain(text, about, more) };
        (self.0.write)(&line);
    }
}

/// For people: the sentence, what it is about, and more below it, set off so that it cannot pass for another line.
fn plain(text: &str, about: &About<'_>, more: &[String]) -> String {
    let mut line = format!("verger: {}", safe(text));
    for (name, value) in about {
        // Text takes whatever is written to it.
        let _ = write!(line, " {name}={}", quoted(value));
    }
    for below in more {
        let _ = write!(line, "\n  {}", safe(below));
    }
    line
}

/// For programs: one object.
fn json(level: &str, text: &str, about: &About<'_>, more: &[String]) -> String {
    let mut object = Map::new();
    let mut put = |name: &str, value: Value| drop(object.insert(name.to_owned(), value));
    put("time", Time::from_millis(wall_now().0).to_string().into());
    put("level", level.into());
    put("message", text.into());
    for (name, value) in about {
        put(name, (*value).into());
    }
    if !more.is_empty() {
        put("details", more.into());
    }
    Value::Object(object).to_string().chars().fold(String::new(), |mut line, letter| {
        if steers(letter) {
            let mut units = [0; 2];
            for unit in letter.encode_utf16(&mut units) {
                let _ = write!(line, "\\u{unit:04x}");
            }
        } else {
            line.push(letter);
        }
        line
    })
}

/// A text that stays on its line and steers no terminal.
pub(crate) fn safe(text: &str) -> String {
    text.chars().fold(String::with_capacity(text.len()), |mut shown, letter| {
        if steers(letter) {
            shown.extend(letter.escape_unicode());
        } else {
            shown.push(letter);
        }
        shown
    })
}

/// A value that ends where it ends.
fn quoted(value: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._:/#@+".contains(&byte);
    if !value.is_empty() && value.bytes().all(is_plain) {
        return value.to_owned();
    }
    format!("\"{}\"", safe(&value.replace('\\', "\\\\").replace('"', "\\\"")))
}

/// What a terminal obeys, what ends a line for somebody, and what changes the order in which letters are read.
fn steers(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;
    use proptest::prelude::*;

    /// What is written of something.
    fn written(settings: LogSettings, tell: impl FnOnce(&Log)) -> String {
        let lines = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&lines);
        let log = Log::new(move |line| kept.lock().expect("one thread").push(line.to_owned()));
        log.set(settings);
        tell(&log);
        let lines = lines.lock().expect("one thread");
        lines.join("\n")
    }

    const JSON: LogSettings = LogSettings { format: LogFormat::Json, level: LogLevel::Warn };

    #[test]
    fn a_line_says_what_it_is_about() {
        let tell = |log: &Log| log.warn_about("it failed", &[("agent", "a b"), ("trace", "0af7")]);
        assert_eq!(written(LogSettings::default(), tell), "verger: it failed agent=\"a b\" trace=0af7");
        let line: Value = serde_json::from_str(&written(JSON, tell)).expect("an object");
        assert_eq!((&line["level"], &line["message"]), (&"warn".into(), &"it failed".into()));
        assert_eq!((&line["agent"], &line["trace"]), (&"a b".into(), &"0af7".into()));
        assert_eq!(written(JSON, |log| log.info("quiet", &[])), "", "nobody asked");
    }

    #[test]
    fn more_is_set_off_from_what_comes_next() {
        let more = ["one".to_owned(), "two\nverger: forged".to_owned()];
        let plain = written(LogSettings::default(), |log| log.warn_more("changed:", &more));
        assert_eq!(plain, "verger: changed:\n  one\n  two\\u{a}verger: forged");
    }

    proptest! {
        #[test]
        fn x19_no_text_forges_a_line_or_steers_a_terminal(
            text in ".*|[\u{0}-\u{20}\u{7f}-\u{9f}\u{2028}\u{2029}\u{202a}-\u{202e}\u{2066}-\u{2069}\"\\\\a-c]*",
        ) {
            let tell = |log: &Log| log.warn_about(&text, &[("agent", &text)]);
            let plain = written(LogSettings::default(), tell);
            let line = written(JSON, tell);
            for shown in [&plain, &line] {
                prop_assert!(!shown.chars().any(steers), "{shown:?}");
            }
            prop_assert!(plain.starts_with("verger: "));
            let read: Value = serde_json::from_str(&line).expect("an object");
            prop_assert_eq!(read["agent"].as_str(), Some(text.as_str()), "nothing is lost for programs");
        }
    }
}

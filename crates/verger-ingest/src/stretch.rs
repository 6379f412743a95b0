//! The repeated stretch of a run, laid out so that a person sees the repetition: what was called, what came back, and
//! what was the same as before.

use std::hash::{DefaultHasher, Hash, Hasher};

use serde_json::{Map, Value};

use crate::run::{Event, Step, Talker};
use crate::values;

/// Letters of a text that are kept to be shown.
const SHOWN_CHARS_MAX: usize = 600;

/// Arguments that are longer are shown as they came.
const PLAIN_BYTES_MAX: usize = 1 << 16;

/// How far back a step is compared: the longest lap that is looked for.
const LAP_MAX: usize = 12;

/// Words that two texts must share, in hundredths of all their words, to be called alike.
const ALIKE_MIN: usize = 60;

/// A stretch of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stretch {
    /// Its steps, the first to the last.
    pub laps: Vec<Lap>,
    /// After how many steps they come again, if most of them agree.
    pub length: Option<usize>,
}

/// A step of a stretch, and how it compares with one before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lap {
    /// The step.
    pub shown: Shown,
    /// Whether something was called, or said, that had been before.
    pub call: Sameness,
    /// Whether the same came back.
    pub result: Sameness,
    /// Where what differs begins, in letters, if it is alike and not the same.
    pub differs_at: Differs,
}

/// Where a step begins to differ from the one that it repeats, in letters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Differs {
    /// In what was called.
    pub call: usize,
    /// In what came back.
    pub result: usize,
}

/// How much one text is like another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sameness {
    /// Not at all.
    Different,
    /// Most words are the same, or all but numbers.
    Alike,
    /// To the letter.
    Same,
}

/// A step as it is shown: texts cut, in one place for all screens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    /// Its number in the run.
    pub i: u32,
    /// The tool, or who spoke.
    pub who: String,
    /// The arguments, or what was said.
    pub what: String,
    /// What came back.
    pub result: String,
    /// Whether it failed.
    pub failed: bool,
    /// Of the texts before they were cut.
    hashes: (u64, u64),
}

impl Shown {
    /// What is kept of a step.
    pub fn of(step: &Step) -> Self {
        let (who, what, result, failed) = match &step.event {
            Event::Call(call) => {
                let failed = call.error == Some(true) || call.exit_code.is_some_and(|code| code != 0);
                (call.tool.clone(), call.args.as_str(), call.result.as_str(), failed)
            }
            Event::Message { from, text } => (speaker(*from).to_owned(), text.as_str(), "", false),
            Event::Output { files_changed, tests_passed, tests_failed } => {
                let said =
                    [("files changed", files_changed), ("passed", tests_passed), ("failed", tests_failed)];
                let said = said.into_iter().filter_map(|(what, count)| Some(format!("{} {what}", (*count)?)));
                let said: Vec<_> = said.collect();
                return Self::from_texts(step.i, "output".to_owned(), &said.join(", "), "", false);
            }
        };
        Self::from_texts(step.i, who, what, result, failed)
    }

    fn from_texts(i: u32, who: String, what: &str, result: &str, failed: bool) -> Self {
        let hashes = (hash(&(&who, what)), hash(&result));
        let what = cut(&plain(&who, what));
        Self { i, who, what, result: cut(result.trim()), failed, hashes }
    }
}

/// Arguments as people write them: a command as it is, fields without quotes, no tool's name twice.
fn plain(tool: &str, args: &str) -> String {
    let fields: Option<Map<String, Value>> =
        if args.len() < PLAIN_BYTES_MAX { serde_json::from_str(args).ok() } else { None };
    match fields {
        Some(fields) if fields.len() == 1 => fields.values().map(values::text).collect(),
        Some(fields) => {
            let fields = fields.iter().map(|(name, value)| format!("{name}: {}", values::text(value)));
            fields.collect::<Vec<_>>().join(", ")
        }
        None => {
            let rest = args.trim().strip_prefix(tool).filter(|rest| rest.starts_with(char::is_whitespace));
            rest.unwrap_or(args).trim().to_owned()
        }
    }
}

fn speaker(from: Talker) -> &'static str {
    match from {
        Talker::Agent => "agent",
        Talker::User => "user",
        Talker::Other => "program",
    }
}

fn hash(it: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    it.hash(&mut hasher);
    hasher.finish()
}

fn cut(text: &str) -> String {
    text.chars().take(SHOWN_CHARS_MAX).collect()
}

impl Stretch {
    /// Lays out the steps of a stretch.
    pub fn of(steps: &[Shown]) -> Self {
        let mut laps: Vec<Lap> = Vec::with_capacity(steps.len());
        let mut lengths = [0_usize; LAP_MAX + 1];
        for (at, shown) in steps.iter().enumerate() {
            let earlier = steps[..at].iter().rev().take(LAP_MAX).enumerate();
            // The most alike, and of those the nearest.
            let best = earlier
                .map(|(back, before)| {
                    (call_sameness(before, shown), result_sameness(before, shown), back + 1, before)
                })
                .max_by_key(|(call, result, back, _)| (*call, *result, usize::MAX - back));
            let (call, result, differs_at) = match best {
                Some((call, result, back, before)) if call != Sameness::Different => {
                    lengths[back] += 1;
                    let call_at = difference(&before.what, &shown.what);
                    (
                        call,
                        result,
                        Differs { call: call_at, result: difference(&before.result, &shown.result) },
                    )
                }
                _ => (Sameness::Different, Sameness::Different, Differs::default()),
            };
            laps.push(Lap { shown: shown.clone(), call, result, differs_at });
        }
        let length = (1..=LAP_MAX).find(|length| steps.len() / 2 < lengths[*length]);
        Self { laps, length }
    }
}

fn call_sameness(one: &Shown, other: &Shown) -> Sameness {
    match one.who == other.who {
        true if one.hashes.0 == other.hashes.0 => Sameness::Same,
        true if alike(&one.what, &other.what) => Sameness::Alike,
        _ => Sameness::Different,
    }
}

fn result_sameness(one: &Shown, other: &Shown) -> Sameness {
    if one.hashes.1 == other.hashes.1 {
        Sameness::Same
    } else if alike(&one.result, &other.result) {
        Sameness::Alike
    } else {
        Sameness::Different
    }
}

/// Whether most of the words are the same, whatever the numbers.
fn alike(one: &str, other: &str) -> bool {
    let (mut one, mut other) = (words(one), words(other));
    if one.is_empty() || other.is_empty() {
        return false;
    }
    one.sort_unstable();
    other.sort_unstable();
    let mut shared = 0;
    let mut left = other.iter().peekable();
    for word in &one {
        while left.peek().is_some_and(|next| **next < *word) {
            left.next();
        }
        if left.peek() == Some(&word) {
            shared += 1;
            left.next();
        }
    }
    ALIKE_MIN * (one.len() + other.len()) <= 200 * shared
}

fn words(text: &str) -> Vec<&str> {
    let parts = text.split(|c: char| !c.is_alphabetic());
    parts.filter(|word| !word.is_empty()).collect()
}

/// The letter at which two texts part.
fn difference(one: &str, other: &str) -> usize {
    one.chars().zip(other.chars()).take_while(|(one, other)| one == other).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::Call;

    fn step(i: u32, args: &str, result: &str) -> Shown {
        let call = Call { tool: "bash".into(), args: args.into(), result: result.into(), ..Call::default() };
        Shown::of(&Step { i, event: Event::Call(call) })
    }

    #[test]
    fn a_lap_is_seen_and_what_was_the_same_in_it() {
        let steps: Vec<_> = (0..4)
            .flat_map(|lap| {
                [
                    step(lap * 2, "cat a.txt", "hello"),
                    step(lap * 2 + 1, "make test", &format!("1 of 9 tests failed in {lap} seconds")),
                ]
            })
            .collect();
        let stretch = Stretch::of(&steps);
        assert_eq!(stretch.length, Some(2));
        let last = &stretch.laps[6..];
        assert_eq!((last[0].call, last[0].result), (Sameness::Same, Sameness::Same));
        assert_eq!((last[1].call, last[1].result), (Sameness::Same, Sameness::Alike));
        assert_eq!(last[1].differs_at.result, 23);
        assert_eq!(
            (stretch.laps[0].call, stretch.laps[0].result),
            (Sameness::Different, Sameness::Different)
        );
    }

    #[test]
    fn arguments_are_shown_as_people_write_them() {
        assert_eq!(plain("Bash", r#"{"command": "ls -l"}"#), "ls -l");
        assert_eq!(plain("grep", r#"{"pattern": "x", "max": 3}"#), "max: 3, pattern: x");
        assert_eq!(plain("goto", "goto 12\n"), "12");
        assert_eq!(plain("go", "goto 12"), "goto 12");
        assert_eq!(plain("x", "{broken"), "{broken");
    }

    #[test]
    fn a_difference_beyond_what_is_shown_is_a_difference() {
        let long = "x".repeat(2 * SHOWN_CHARS_MAX);
        let stretch = Stretch::of(&[step(0, &long, ""), step(1, &format!("{long}y"), "")]);
        assert_ne!(stretch.laps[1].call, Sameness::Same);
    }
}

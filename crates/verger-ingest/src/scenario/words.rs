//! Placeholders in the texts of a scenario: counters, items of a list, ids, the time.

use std::cell::Cell;
use std::fmt::Write as _;

/// What the placeholders of one step stand for.
#[derive(Clone, Debug, Default)]
pub(super) struct Words {
    /// The rounds of the repetitions around it, the innermost last, each counted from 1.
    pub(super) rounds: Vec<u32>,
    /// The item of the innermost list around it.
    pub(super) item: Vec<String>,
    /// The number of the step.
    pub(super) step: u32,
    /// The time of day, in seconds.
    pub(super) second: u64,
    /// Bytes that may still be written: a list of long items, each in many places, would fill any memory.
    pub(super) room: Cell<usize>,
}

/// No placeholder is longer. A brace further away belongs to something else, and is not looked for.
const NAME_MAX: usize = 64;

impl Words {
    /// The text with its placeholders filled in. Braces around anything else stay as they are.
    /// Without room they all stay, and the room is nought.
    pub(super) fn fill(&self, text: &str) -> String {
        let room = self.room.get();
        let mut filled = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(open) = rest.find('{') {
            filled.push_str(&rest[..open]);
            rest = &rest[open..];
            if room <= filled.len() {
                break;
            }
            let close = rest.bytes().take(NAME_MAX).position(|byte| byte == b'}');
            if let Some((value, close)) = close.and_then(|close| Some((self.value(&rest[1..close])?, close)))
            {
                filled.push_str(&value);
                rest = &rest[close + 1..];
            } else {
                filled.push('{');
                rest = &rest[1..];
            }
        }
        filled.push_str(rest);
        self.room.set(room.saturating_sub(filled.len()));
        filled
    }

    fn value(&self, name: &str) -> Option<String> {
        match name {
            "id" => Some(self.random(4)),
            "uuid" => {
                let digits = self.random(16);
                let parts = [0..8, 8..12, 12..16, 16..20, 20..32].map(|part| &digits[part]);
                Some(parts.join("-"))
            }
            "time" => {
                let second = self.second % 86_400;
                Some(format!("{:02}:{:02}:{:02}", second / 3_600, second / 60 % 60, second % 60))
            }
            "it" => self.item.first().cloned(),
            _ => self.nth_item(name).or_else(|| self.counter(name)),
        }
    }

    /// `it2`: the second of the texts of an item.
    fn nth_item(&self, name: &str) -> Option<String> {
        let number: usize = name.strip_prefix("it")?.parse().ok()?;
        self.item.get(number.checked_sub(1)?).cloned()
    }

    /// `n`, `m`, `n+3`, `n*10`, `n*10+3`: the round of the innermost repetition, or of the one around it.
    fn counter(&self, name: &str) -> Option<String> {
        let mut letters = name.chars();
        let back = match letters.next()? {
            'n' => 1,
            'm' => 2,
            _ => return None,
        };
        let round = *self.rounds.get(self.rounds.len().checked_sub(back)?)?;
        let rest = letters.as_str();
        let (times, plus) = match rest.strip_prefix('*') {
            Some(rest) => rest.split_once('+').map_or((rest, "0"), |(times, plus)| (times, plus)),
            None if rest.is_empty() => ("1", "0"),
            None => ("1", rest.strip_prefix('+')?),
        };
        let (times, plus): (u64, u64) = (times.parse().ok()?, plus.parse().ok()?);
        Some(u64::from(round).saturating_mul(times).saturating_add(plus).to_string())
    }

    /// Hexadecimal digits that differ from step to step, and are the same in every reading.
    fn random(&self, bytes: usize) -> String {
        let mut state = u64::from(self.step).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5bf0_3635;
        let mut digits = String::new();
        for _ in 0..bytes {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            let _ = write!(digits, "{:02x}", state >> 56);
        }
        digits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_filled_in_and_other_braces_stay() {
        let (item, room) = (vec!["a.rs".into(), "b".into()], Cell::new(1_000));
        let words = Words { rounds: vec![7, 3], item, step: 9, second: 3_661, room };
        let filled = |text| words.fill(text);
        assert_eq!(filled("{n} of {m}, {n+1}, {n*10}, {m*10+5}"), "3 of 7, 4, 30, 75");
        assert_eq!(filled("{it} {it1} {it2} {it3}"), "a.rs a.rs b {it3}");
        assert_eq!(
            filled("fn main() { {n} } {} {\"n\":1} {name} {n"),
            "fn main() { 3 } {} {\"n\":1} {name} {n"
        );
        assert_eq!(filled("{time}"), "01:01:01");
        assert_eq!(filled("{id}").len(), 8);
        assert_eq!(filled("{uuid}").len(), 36);
        assert_ne!(filled("{id}"), Words { step: 10, ..words.clone() }.fill("{id}"));
    }

    #[test]
    fn x13_without_room_nothing_is_filled_in_and_no_brace_is_looked_for_far_away() {
        let words = Words { item: vec!["x".repeat(60)], room: Cell::new(100), ..Words::default() };
        assert_eq!(words.fill("{it}{it}{it}{it}").len(), 2 * 60 + 2 * "{it}".len());
        assert_eq!((words.room.get(), words.fill("{it}").as_str()), (0, "{it}"));
        let far = format!("{{it{}}}", " ".repeat(NAME_MAX));
        assert_eq!(Words { room: Cell::new(1_000), ..words }.fill(&far), far);
    }
}

//! The table of figures.

use std::time::Duration;

/// What a figure should be.
#[derive(Clone, Copy)]
pub(crate) enum Aim {
    AtMost(f64),
    AtLeast(f64),
    /// It is only told.
    None,
}

/// Prints figures as they come, and counts those that miss their aim.
pub(crate) struct Report {
    missed: u32,
}

impl Report {
    pub(crate) fn begin() -> Self {
        println!("load of the machine before: {}", load());
        println!("{:<58} {:>14}  {:<18} {:<7} others", "figure", "reached", "aim", "");
        Self { missed: 0 }
    }

    /// One figure; `others` says what another program reaches, measured before and elsewhere.
    pub(crate) fn line(&mut self, figure: &str, reached: f64, unit: &str, aim: Aim, others: &str) {
        let (aim, met) = match aim {
            Aim::AtMost(most) => (format!("<= {}{unit}", number(most)), Some(reached <= most)),
            Aim::AtLeast(least) => (format!(">= {}{unit}", number(least)), Some(reached >= least)),
            Aim::None => (String::new(), None),
        };
        self.missed += u32::from(met == Some(false));
        let word = met.map_or("", |met| if met { "met" } else { "MISSED" });
        println!("{figure:<58} {:>14}  {aim:<18} {word:<7} {others}", format!("{}{unit}", number(reached)));
    }

    pub(crate) fn end(&self) {
        println!("load of the machine after: {}; aims missed: {}", load(), self.missed);
    }
}

/// The middle, and the end that only one in a hundred exceeds, in milliseconds.
pub(crate) fn p50_p99(mut waits: Vec<Duration>) -> (f64, f64) {
    waits.sort_unstable();
    let at = |share: usize| {
        waits.get(waits.len().saturating_sub(1) * share / 100).map_or(0.0, |wait| wait.as_secs_f64() * 1e3)
    };
    (at(50), at(99))
}

/// The middle one.
pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

fn number(value: f64) -> String {
    match value {
        value if value >= 1_000.0 => thousands(value as i64),
        value if value >= 100.0 => format!("{value:.0}"),
        value if value >= 10.0 => format!("{value:.1}"),
        value => format!("{value:.2}"),
    }
}

fn thousands(value: i64) -> String {
    if value < 1_000 {
        value.to_string()
    } else {
        format!("{},{:03}", thousands(value / 1_000), value % 1_000)
    }
}

fn load() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').take(1).collect()
}

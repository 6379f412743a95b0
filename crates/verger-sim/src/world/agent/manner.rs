//! What is peculiar to one agent: its model's speed, its tools, its hours.
//!
//! Recorded agents fall into three manners. Silence between calls at p95 / p99 / longest was 44 / 187 /
//! 1,142 s for interactive sessions, 102 / 213 / 644 s with a slow reasoning model, 36 / 53 / 177 s with a
//! fast model and tools capped at 30 s; tools alone took 28 / 182 / 1,136 s, 2 / 6 / 64 s and 30 / 30 / 62 s.

use crate::rng::Rng;
use crate::world::time::{SECOND, millis};

/// When an agent is given work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hours {
    /// While people are there: from this hour on, for eleven hours.
    Day(u64),
    /// At any time, one task after another.
    Always,
}

/// What is peculiar to one agent.
#[derive(Clone, Debug)]
pub(crate) struct Manner {
    /// Seconds the model takes in the median.
    latency: f64,
    /// How much its answers vary.
    latency_sigma: f64,
    /// How often a request falls into the long tail.
    latency_slow: f64,
    /// Seconds a tool takes in the median, how much that varies, and the most it may take.
    tool: (f64, f64, f64),
    /// How often a call fails for ordinary reasons.
    pub(crate) fails: f64,
    /// Tokens read in one turn in the median.
    pub(crate) tokens: f64,
    /// Tokens that fit into the context window.
    pub(crate) window: u64,
    /// Whether long calls show lines of output.
    pub(crate) chatty: bool,
    /// Whether it says beforehand that it will be busy for long.
    pub(crate) announces: bool,
    /// When it is given work.
    pub(crate) hours: Hours,
}

impl Manner {
    /// The manner of a new agent.
    pub(crate) fn draw(rng: &mut Rng) -> Self {
        let (latency, latency_sigma, latency_slow, tool) = match rng.weighted(&[50, 25, 25]) {
            0 => (rng.between(5.0, 10.0), 0.9, 0.012, (0.7, 2.3, 1_140.0)),
            1 => (rng.between(18.0, 28.0), 0.9, 0.008, (0.3, 1.2, 65.0)),
            _ => (rng.between(6.0, 9.0), 0.8, 0.002, (0.8, 2.0, 30.0)),
        };
        // A fifth works round the clock and the rest in its people's hours, busy for two thirds of them:
        // 0.2 × 0.85 + 0.8 × 11/24 × 0.65 ≈ 0.4 of a day is work.
        let hours = if rng.chance(0.2) { Hours::Always } else { Hours::Day(rng.range(6, 12)) };
        Self {
            latency,
            latency_sigma,
            latency_slow,
            tool,
            fails: rng.between(0.02, 0.12),
            tokens: rng.log_between(1_500.0, 15_000.0),
            window: *rng.choice(&[128_000, 200_000, 200_000, 1_000_000]),
            chatty: rng.chance(0.4),
            announces: rng.chance(0.3),
            hours,
        }
    }

    /// Milliseconds the model takes for one answer: log-normal, and now and then a Pareto tail to 20 min.
    pub(crate) fn latency(&self, rng: &mut Rng) -> u64 {
        let seconds = if rng.chance(self.latency_slow) {
            rng.pareto(70.0, 1.3).min(1_150.0)
        } else {
            rng.log_normal(self.latency, self.latency_sigma).min(600.0)
        };
        millis(seconds).max(SECOND / 2)
    }

    /// Milliseconds one ordinary tool call takes.
    pub(crate) fn tool(&self, rng: &mut Rng) -> u64 {
        let (median, sigma, most) = self.tool;
        millis(rng.log_normal(median, sigma).min(most)).max(5)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The gap between two calls, in seconds, at a quantile, over many agents.
    fn gap(quantile: f64) -> f64 {
        let mut gaps = Vec::new();
        for stream in 0..200 {
            let mut rng = Rng::stream(3, stream);
            let manner = Manner::draw(&mut rng);
            gaps.extend((0..200).map(|_| manner.latency(&mut rng) + manner.tool(&mut rng)));
        }
        gaps.sort_unstable();
        gaps[millis(gaps.len() as f64 * quantile / 1_000.0) as usize] as f64 / 1_000.0
    }

    #[test]
    fn silence_between_calls_is_as_long_as_recorded() {
        assert!((36.0..110.0).contains(&gap(0.95)), "p95 {}", gap(0.95));
        assert!((53.0..260.0).contains(&gap(0.99)), "p99 {}", gap(0.99));
        assert!(gap(0.9999) > 600.0, "longest {}", gap(0.9999));
    }

    #[test]
    fn about_a_fifth_works_round_the_clock() {
        let always =
            (0..1_000).filter(|stream| Manner::draw(&mut Rng::stream(1, *stream)).hours == Hours::Always);
        assert!((150..250).contains(&always.count()));
    }
}

//! Randomness that a seed decides.
//!
//! xoshiro256++ seeded through splitmix64: 1 ns a draw, and the same bytes on every machine, which a
//! dependency would not promise across its versions. Every agent, and every other cause of chance, has a
//! stream of its own, so that one more draw in one place does not reshuffle the rest of the world.

/// A stream of random numbers.
#[derive(Clone, Debug)]
pub struct Rng {
    state: [u64; 4],
}

impl Rng {
    /// The stream of this number in the world of this seed.
    pub fn stream(seed: u64, stream: u64) -> Self {
        let mut mix = seed ^ stream.wrapping_mul(0xA24B_AED4_963E_E407);
        Self { state: std::array::from_fn(|_| splitmix(&mut mix)) }
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        let [a, b, c, d] = &mut self.state;
        let result = a.wrapping_add(*d).rotate_left(23).wrapping_add(*a);
        let shifted = *b << 17;
        *c ^= *a;
        *d ^= *b;
        *b ^= *c;
        *a ^= *d;
        *c ^= shifted;
        *d = d.rotate_left(45);
        result
    }

    /// A number in `0..1`.
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Whether something of this probability happens.
    pub fn chance(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }

    /// A whole number from `low` to below `high`; `low` if there is none.
    pub fn range(&mut self, low: u64, high: u64) -> u64 {
        let width = high.saturating_sub(low).max(1);
        low + ((u128::from(self.bits()) * u128::from(width)) >> 64) as u64
    }

    /// A number from `low` to below `high`.
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    /// A number from `low` to below `high` whose order of magnitude is uniform.
    pub fn log_between(&mut self, low: f64, high: f64) -> f64 {
        self.between(low.ln(), high.ln()).exp()
    }

    /// The wait for the next event of a process that has one every `mean`.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * (1.0 - self.unit()).ln()
    }

    /// A draw from the normal distribution with mean 0 and deviation 1 (Box–Muller).
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.unit()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.unit()).cos()
    }

    /// A draw from the log-normal distribution with this median; `sigma` is the logarithm's deviation.
    pub fn log_normal(&mut self, median: f64, sigma: f64) -> f64 {
        median * (sigma * self.normal()).exp()
    }

    /// A draw from the Pareto distribution: at least `least`, heavier tail with smaller `alpha`.
    pub fn pareto(&mut self, least: f64, alpha: f64) -> f64 {
        least / (1.0 - self.unit()).powf(1.0 / alpha)
    }

    /// One of these.
    ///
    /// # Panics
    /// If there is nothing to choose from.
    pub fn choice<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.range(0, items.len() as u64) as usize]
    }

    /// The place of one of these weights, each as likely as its weight says.
    pub fn weighted(&mut self, weights: &[u32]) -> usize {
        let total: u32 = weights.iter().sum();
        let mut left = self.range(0, u64::from(total)) as u32;
        for (place, weight) in weights.iter().enumerate() {
            if left < *weight {
                return place;
            }
            left -= weight;
        }
        weights.len().saturating_sub(1)
    }
}

fn splitmix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn percentile(mut draws: Vec<f64>, q: usize) -> f64 {
        draws.sort_by(f64::total_cmp);
        draws[draws.len() * q / 100]
    }

    fn draws(mut draw: impl FnMut(&mut Rng) -> f64) -> Vec<f64> {
        let mut rng = Rng::stream(7, 0);
        (0..20_000).map(|_| draw(&mut rng)).collect()
    }

    #[test]
    fn a_seed_and_a_stream_decide_everything() {
        let first = |seed, stream| Rng::stream(seed, stream).bits();
        assert_eq!(first(1, 2), first(1, 2));
        assert_ne!(first(1, 2), first(1, 3));
        assert_ne!(first(1, 2), first(2, 2));
    }

    #[test]
    fn ranges_reach_both_ends_and_nothing_beyond() {
        let mut rng = Rng::stream(1, 1);
        let seen: std::collections::BTreeSet<u64> = (0..200).map(|_| rng.range(3, 6)).collect();
        assert_eq!(seen.into_iter().collect::<Vec<_>>(), [3, 4, 5]);
        assert_eq!(rng.range(9, 9), 9);
    }

    #[test]
    fn distributions_have_the_quantiles_of_the_textbook() {
        let near = |value: f64, expected: f64| {
            assert!((value / expected - 1.0).abs() < 0.1, "{value} is not near {expected}");
        };
        near(percentile(draws(|rng| rng.exponential(10.0)), 50), 6.93);
        near(percentile(draws(|rng| rng.log_normal(8.0, 1.0)), 50), 8.0);
        near(percentile(draws(|rng| rng.log_normal(8.0, 1.0)), 95), 41.4);
        near(percentile(draws(|rng| rng.pareto(60.0, 1.5)), 90), 278.5);
        near(percentile(draws(|rng| rng.log_between(1.0, 100.0)), 50), 10.0);
    }

    #[test]
    fn weights_decide_how_often() {
        let mut rng = Rng::stream(1, 9);
        let mut counts = [0_u32; 3];
        for _ in 0..10_000 {
            counts[rng.weighted(&[70, 0, 30])] += 1;
        }
        assert_eq!(counts[1], 0);
        assert!((6_700..7_300).contains(&counts[0]), "{counts:?}");
    }
}

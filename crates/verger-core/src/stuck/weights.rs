//! The numbers of the judgement, in one place: what each kind of step is worth when it brings nothing.
//!
//! They follow from what a person would say of the plain cases, not from a fit: a hundred points are a verdict, so
//! the fifth identical call is one and the seventh step in a row that comes to nothing. How little the verdicts
//! depend on the exact numbers is measured by choosing them anew on a part of the recorded runs and judging the
//! rest (`held_out`, an example of `verger-ingest`).

/// Points for a step that brought nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Weights {
    /// It brings nothing: the seventh in a row is a verdict.
    pub barren: u32,
    /// It resembles two or more before it, in what is asked and in what came of it: the fifth is a verdict.
    pub alike: u32,
    /// A failure that names a thing or two not heard of before.
    pub barren_with_a_hint: u32,
    /// A failure that tells a lot not heard of before.
    pub barren_with_news: u32,
    /// A sentence where a command belongs: nothing was even tried.
    pub prose: u32,
    /// A change that was made before: it cannot help, and often harms.
    pub redone: u32,
    /// Each earlier time the same trouble came: the fifth time is a verdict.
    pub recurred: u32,
    /// The same if it is tests that fail, and something was changed since: that is what they are run for.
    pub recurred_in_tests: u32,
}

impl Weights {
    /// Those that Verger judges by.
    pub const CHOSEN: Self = Self {
        barren: 15,
        alike: 30,
        barren_with_a_hint: 7,
        barren_with_news: 4,
        prose: 20,
        redone: 35,
        recurred: 25,
        recurred_in_tests: 20,
    };
}

impl Default for &'static Weights {
    fn default() -> Self {
        &Weights::CHOSEN
    }
}

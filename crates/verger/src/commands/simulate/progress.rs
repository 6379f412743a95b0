//! The progress bar. It counts virtual days over all seeds, and exists only on a terminal.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use verger_sim::harness::Progress;

/// Steps of the bar in one virtual day.
const STEPS_PER_DAY: f64 = 1_000.0;

/// One bar for all seeds; clones move the same bar.
#[derive(Clone)]
pub(super) struct Bar(ProgressBar);

impl Bar {
    /// A bar for `fleets` times `days`. Without a terminal at standard error it draws nothing.
    pub(super) fn new(fleets: u64, days: f64) -> Self {
        let bar = ProgressBar::with_draw_target(
            Some(steps(days).saturating_mul(fleets)),
            ProgressDrawTarget::stderr_with_hz(5),
        );
        let style = ProgressStyle::with_template("{bar:40} {percent:>3} %  {elapsed} elapsed, {eta} left")
            .expect("the template is valid");
        bar.set_style(style);
        Self(bar)
    }

    /// What reports the progress of one fleet.
    pub(super) fn of_one_fleet(&self) -> FleetProgress {
        FleetProgress { bar: self.0.clone(), done: 0 }
    }

    /// Keeps the bar out of the way while something is printed.
    pub(super) fn hidden_while<T>(&self, print: impl FnOnce() -> T) -> T {
        self.0.suspend(print)
    }

    pub(super) fn finish(&self) {
        self.0.finish_and_clear();
    }
}

/// Moves the common bar by what one fleet has got on.
pub(super) struct FleetProgress {
    bar: ProgressBar,
    done: u64,
}

impl Progress for FleetProgress {
    fn advanced(&mut self, done_days: f64) {
        let done = steps(done_days).max(self.done);
        self.bar.inc(done - self.done);
        self.done = done;
    }
}

#[expect(clippy::cast_sign_loss, reason = "the command line refuses negative days")]
fn steps(days: f64) -> u64 {
    (days * STEPS_PER_DAY) as u64
}

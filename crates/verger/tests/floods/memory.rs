//! What the program may need, as the page about load states it, and what it needed.

use std::fs;

use crate::program::Program;

const MIB: usize = 1 << 20;

/// What others have brought to the program.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Brought {
    pub(crate) agents: usize,
    pub(crate) connections: usize,
    /// Bytes of bodies at one time, as far as they are let in.
    pub(crate) bodies: usize,
}

impl Brought {
    /// The bound of `docs/src/concepts/load.md`.
    fn bound(self) -> usize {
        192 * MIB + 2_048 * self.agents + 40_960 * self.connections + 2 * self.bodies
    }

    /// The most that the program ever took is under it.
    pub(crate) fn check(self, program: &Program) -> String {
        let (most, bound) = (high_water(program), self.bound());
        assert!(most < bound, "{} MiB, and {} were allowed for {self:?}", most / MIB, bound / MIB);
        format!("memory at most {} MiB (bound {} MiB)", most / MIB, bound / MIB)
    }
}

/// The most memory that it ever took, in bytes.
fn high_water(program: &Program) -> usize {
    let status = fs::read_to_string(format!("/proc/{}/status", program.child.id())).expect("it runs");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("the kernel tells");
    line.trim().trim_end_matches(" kB").trim().parse::<usize>().expect("a number") * 1_024
}

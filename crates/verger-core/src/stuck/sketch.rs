//! Small sets that stand for large ones: of the digests in a set, the smallest few are kept.
//!
//! Which are the smallest does not depend on where or how often they came, so two texts that share most of
//! their words keep mostly the same ones, and the share they have in common can be told from the sketches
//! alone. A set that fits is kept whole, and then nothing is estimated.

/// At most `N` digests in ascending order, the smallest of all that were put in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sketch<const N: usize> {
    digests: [u32; N],
    length: u8,
}

impl<const N: usize> Default for Sketch<N> {
    fn default() -> Self {
        Self { digests: [0; N], length: 0 }
    }
}

impl<const N: usize> Sketch<N> {
    pub(super) fn insert(&mut self, digest: u32) {
        let length = usize::from(self.length);
        if length == N && self.digests[N - 1] <= digest {
            return;
        }
        let place = self.digests[..length].partition_point(|&own| own < digest);
        if place < length && self.digests[place] == digest {
            return;
        }
        let kept = length.min(N - 1);
        self.digests.copy_within(place..kept, place + 1);
        self.digests[place] = digest;
        self.length = (kept + 1) as u8;
    }

    pub(super) fn digests(&self) -> &[u32] {
        &self.digests[..usize::from(self.length)]
    }

    pub(super) fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// How many of what this sketch stands for each digest in it stands for.
    pub(super) fn scale(&self) -> f32 {
        let length = usize::from(self.length);
        if length < N {
            return 1.0;
        }
        let share = (self.digests[N - 1] as f32 + 1.0) / u32::MAX as f32;
        (1.0 / share).max(1.0)
    }

    /// The digests, cut to half their width; still in ascending order.
    pub(super) fn narrow(&self) -> Narrow<N> {
        let mut narrow = Narrow { digests: [0; N], length: 0 };
        for &digest in self.digests() {
            let short = (digest >> 16) as u16;
            let length = usize::from(narrow.length);
            if length == 0 || narrow.digests[length - 1] != short {
                narrow.digests[length] = short;
                narrow.length += 1;
            }
        }
        narrow
    }
}

/// A sketch of half the width, for comparing calls with each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Narrow<const N: usize> {
    digests: [u16; N],
    length: u8,
}

impl<const N: usize> Default for Narrow<N> {
    fn default() -> Self {
        Self { digests: [0; N], length: 0 }
    }
}

impl<const N: usize> Narrow<N> {
    pub(super) fn digests(&self) -> &[u16] {
        &self.digests[..usize::from(self.length)]
    }
}

/// What two sketches have in common.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Overlap {
    shared: u32,
    left: u32,
    right: u32,
}

impl Overlap {
    /// Compares ascending lists of which at most `most` digests are kept. Beyond the end of a full list nothing is
    /// known about it, so the comparison ends with the shorter reach.
    pub(super) fn of<T: Ord + Copy>(left: &[T], right: &[T], most: usize) -> Self {
        let (mut l, mut r, mut shared) = (0, 0, 0);
        while l < left.len() && r < right.len() {
            match left[l].cmp(&right[r]) {
                std::cmp::Ordering::Less => l += 1,
                std::cmp::Ordering::Greater => r += 1,
                std::cmp::Ordering::Equal => (l, r, shared) = (l + 1, r + 1, shared + 1),
            }
        }
        let left_known = if right.len() == most { l } else { left.len() };
        let right_known = if left.len() == most { r } else { right.len() };
        Self { shared, left: left_known as u32, right: right_known as u32 }
    }

    /// The shared part of both together is at least `percent`.
    pub(super) fn alike(self, percent: u32) -> bool {
        let union = self.left + self.right - self.shared;
        union > 0 && self.shared * 100 >= union * percent
    }

    /// The smaller one is nearly a part of the larger one, and is not tiny.
    pub(super) fn contained(self) -> bool {
        let smaller = self.left.min(self.right);
        smaller >= 3 && self.shared * 100 >= smaller * 80
    }
}

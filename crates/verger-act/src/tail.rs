//! The end of an output: what a program said last is what explains how it ended.

use tokio::io::{AsyncRead, AsyncReadExt};

/// What is kept for a report.
const KEPT: usize = 8 * 1024;

/// Takes any amount of output and keeps its end, with or without lines in it.
#[derive(Clone, Debug)]
pub struct Tail {
    kept: usize,
    /// Up to twice as long as what is kept, so that little is moved.
    bytes: Vec<u8>,
    is_cut: bool,
}

impl Tail {
    /// Keeps so many bytes.
    pub fn keeping(kept: usize) -> Self {
        Self { kept, bytes: Vec::new(), is_cut: false }
    }

    /// Reads until the other side closes, however much there is, so that a writer is never held up.
    pub(crate) async fn read(&mut self, mut output: impl AsyncRead + Unpin) {
        let mut chunk = vec![0; KEPT];
        while let Ok(length @ 1..) = output.read(&mut chunk).await {
            self.push(&chunk[..length]);
        }
    }

    /// Takes more output.
    pub fn push(&mut self, chunk: &[u8]) {
        let (dropped, end) = chunk.split_at(chunk.len().saturating_sub(self.kept));
        self.is_cut |= !dropped.is_empty();
        self.bytes.extend_from_slice(end);
        self.is_cut |= self.kept < self.bytes.len();
        if self.kept.saturating_mul(2) <= self.bytes.len() {
            self.bytes.drain(..self.bytes.len() - self.kept);
        }
    }

    /// The last bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[self.bytes.len().saturating_sub(self.kept)..]
    }

    /// Whether there was more than is kept.
    pub fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// As text. What is not UTF-8, for example a character that was cut in two, is replaced.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(self.bytes()).into_owned()
    }
}

impl Default for Tail {
    /// Keeps 8 KiB.
    fn default() -> Self {
        Self::keeping(KEPT)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_last_bytes_are_kept_however_they_came(lengths in prop::collection::vec(0..2 * KEPT, 0..8)) {
            let (mut tail, mut all) = (Tail::default(), Vec::new());
            for (number, length) in lengths.into_iter().enumerate() {
                let chunk: Vec<_> = (0..length).map(|place| (number + place) as u8).collect();
                tail.push(&chunk);
                all.extend(chunk);
            }
            prop_assert_eq!(tail.bytes(), &all[all.len().saturating_sub(KEPT)..]);
            prop_assert_eq!(tail.is_cut(), KEPT < all.len());
            prop_assert!(tail.bytes.capacity() <= 8 * KEPT);
        }
    }
}

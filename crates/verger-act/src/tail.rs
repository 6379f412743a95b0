//! The end of an output: what a program said last is what explains how it ended.

use tokio::io::{AsyncRead, AsyncReadExt};

/// What is kept for a report.
const KEPT: usize = 8 * 1024;

/// Takes any amount of output and keeps its last 8 KiB.
#[derive(Debug, Default)]
pub(crate) struct Tail(Vec<u8>);

impl Tail {
    /// Reads until the other side closes, however much there is, so that a writer is never held up.
    pub(crate) async fn read(&mut self, mut output: impl AsyncRead + Unpin) {
        let mut chunk = vec![0; KEPT];
        while let Ok(length @ 1..) = output.read(&mut chunk).await {
            self.push(&chunk[..length]);
        }
    }

    fn push(&mut self, chunk: &[u8]) {
        self.0.extend_from_slice(chunk);
        self.0.drain(..self.0.len().saturating_sub(KEPT));
    }

    /// As text. What is not UTF-8, for example a character that was cut in two, is replaced.
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.0).into_owned()
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
            prop_assert_eq!(&tail.0, &all[all.len().saturating_sub(KEPT)..]);
        }
    }
}

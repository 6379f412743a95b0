//! A connection whose other side must take what it asked for.
//!
//! Who reads nothing holds a connection, a stream and what is on its way. It is cut off when it has taken next to nothing
//! for a while; half a kilobyte in a second is enough. A stream that is cut off is resumed after what was read last.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep};

use super::{Cut, Traffic};

/// Bytes in a second that are enough.
const ENOUGH_PER_SECOND: u64 = 512;

/// A connection that does not wait for its other side without end.
pub(crate) struct Patient<T> {
    io: T,
    traffic: Arc<Traffic>,
    /// Runs while something could not be sent.
    stuck: Option<Stuck>,
}

struct Stuck {
    deadline: Pin<Box<Sleep>>,
    within: Duration,
    taken: u64,
}

impl<T> Patient<T> {
    pub(crate) fn new(io: T, traffic: Arc<Traffic>) -> Self {
        Self { io, traffic, stuck: None }
    }

    /// What came of a write; whoever waits for it is woken when the time is up.
    fn on_write(
        &mut self,
        context: &mut Context<'_>,
        wrote: Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        if let Poll::Ready(Ok(bytes)) = &wrote {
            if let Some(stuck) = &mut self.stuck {
                stuck.taken += *bytes as u64;
            }
            return wrote;
        }
        if wrote.is_ready() {
            return wrote;
        }
        let stuck = self.stuck.get_or_insert_with(|| {
            let within = Duration::from_millis(self.traffic.limits().answer_timeout.as_millis());
            Stuck { deadline: Box::pin(sleep(within)), within, taken: 0 }
        });
        while stuck.deadline.as_mut().poll(context).is_ready() {
            if stuck.taken < ENOUGH_PER_SECOND * stuck.within.as_secs().max(1) {
                self.traffic.on_cut(Cut::Slow);
                return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
            }
            stuck.taken = 0;
            stuck.deadline.as_mut().reset(Instant::now() + stuck.within);
        }
        Poll::Pending
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for Patient<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_read(context, buffer)
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for Patient<T> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let wrote = Pin::new(&mut self.io).poll_write(context, bytes);
        self.on_write(context, wrote)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let wrote = Pin::new(&mut self.io).poll_write_vectored(context, parts);
        self.on_write(context, wrote)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }

    /// Everything was taken: nobody is waited for.
    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(Pin::new(&mut self.io).poll_flush(context))?;
        self.stuck = None;
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};
    use verger_config::Traffic as Limits;
    use verger_core::time::Span;

    fn patient<T>(io: T) -> (Patient<T>, Arc<Traffic>) {
        let traffic = Traffic::new(Limits { answer_timeout: Span::secs(2), ..Limits::default() });
        (Patient::new(io, Arc::clone(&traffic)), traffic)
    }

    fn cut(traffic: &Traffic) -> u64 {
        traffic.cut().map(|(_, count)| count).sum()
    }

    #[tokio::test(start_paused = true)]
    async fn x13_who_takes_nothing_is_cut_off_in_time() {
        let (ours, _theirs) = duplex(1_024);
        let (mut ours, traffic) = patient(ours);
        let began = Instant::now();
        let error = ours.write_all(&[7; 4_096]).await.expect_err("nobody reads");
        assert_eq!((error.kind(), began.elapsed().as_secs()), (io::ErrorKind::TimedOut, 2));
        assert_eq!(cut(&traffic), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn x13_who_takes_a_little_now_and_then_is_cut_off_and_who_takes_enough_is_not() {
        for (bytes, is_patient) in [(64, false), (1_024, true)] {
            let (ours, mut theirs) = duplex(2_048);
            let (mut ours, traffic) = patient(ours);
            let reader = tokio::spawn(async move {
                let mut buffer = vec![0; bytes];
                while theirs.read_exact(&mut buffer).await.is_ok() {
                    sleep(Duration::from_secs(1)).await;
                }
            });
            assert_eq!(ours.write_all(&[7; 10_240]).await.is_ok(), is_patient, "{bytes} in a second");
            assert_eq!(cut(&traffic), u64::from(!is_patient));
            reader.abort();
        }
    }
}

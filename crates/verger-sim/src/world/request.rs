//! How a world knows its requests again when the monitor answers them: by a number that says everything.

use verger_core::notice::Notice;

use super::run::Delivery;
use super::service::AskId;

const PLACE_BITS: u32 = 28;
const NTH_BITS: u32 = 32;

/// A request that was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Request {
    /// Whether a call may be made.
    Ask(AskId),
    /// How a call went.
    Report(AskId),
    /// A message is sent.
    Send(u32),
    /// A message is acknowledged.
    Acknowledge(u32),
}

impl Request {
    /// The request on its way, with what it says.
    pub(crate) fn delivery(self, notice: Notice) -> Delivery {
        Delivery::Request { number: self.number(), notice }
    }

    fn number(self) -> u64 {
        let letter = |nth| AskId { service: 0, nth };
        let (kind, AskId { service, nth }) = match self {
            Self::Ask(ask) => (0, ask),
            Self::Report(ask) => (1, ask),
            Self::Send(nth) => (2, letter(nth)),
            Self::Acknowledge(nth) => (3, letter(nth)),
        };
        kind << (PLACE_BITS + NTH_BITS) | u64::from(service) << NTH_BITS | u64::from(nth)
    }

    /// The request of this number.
    pub(crate) fn read(number: u64) -> Option<Self> {
        let service = (number >> NTH_BITS & ((1 << PLACE_BITS) - 1)) as u32;
        let ask = AskId { service, nth: number as u32 };
        match number >> (PLACE_BITS + NTH_BITS) {
            0 => Some(Self::Ask(ask)),
            1 => Some(Self::Report(ask)),
            2 => Some(Self::Send(ask.nth)),
            3 => Some(Self::Acknowledge(ask.nth)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_known_again_by_its_number() {
        let ask = AskId { service: 0x0ABC_DEF1, nth: u32::MAX };
        for request in
            [Request::Ask(ask), Request::Report(ask), Request::Send(7), Request::Acknowledge(u32::MAX)]
        {
            assert_eq!(Request::read(request.number()), Some(request));
        }
    }
}

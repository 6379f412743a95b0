//! The digest: FNV-1a over 64 bits. Stored, therefore never to be changed.

/// A digest in the making.
#[derive(Clone, Copy)]
pub(super) struct Digest(u64);

impl Digest {
    pub(super) const NEW: Self = Self(0xcbf2_9ce4_8422_2325);

    pub(super) fn of(bytes: &[u8]) -> u64 {
        let mut digest = Self::NEW;
        digest.write(bytes);
        digest.finish()
    }

    pub(super) fn byte(&mut self, byte: u8) {
        self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }

    pub(super) fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.byte(byte);
        }
    }

    pub(super) fn finish(self) -> u64 {
        self.0
    }
}

/// Digest of two digests, in this order. Every bit of both reaches every bit of the outcome, so that sums of
/// such digests stay apart.
pub(crate) fn mix(a: u64, b: u64) -> u64 {
    let mut mixed = a.rotate_left(26) ^ b.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    mixed = (mixed ^ (mixed >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    mixed ^ (mixed >> 33)
}

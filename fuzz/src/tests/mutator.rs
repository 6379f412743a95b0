//! Bytes made of seeds: cut, joined, repeated, flipped, with words of the dictionary put in.
//!
//! It is blind: it does not know which bytes reach new code, as libFuzzer does. What it has is that it needs no build of
//! its own, and that case number 4711 is the same one everywhere, for ever.

/// The longest case.
pub(super) const BYTES_MAX: usize = 16 * 1_024;

/// Makes the cases of one target.
pub(super) struct Mutator<'a> {
    seeds: &'a [Vec<u8>],
    words: &'a [Vec<u8>],
    state: u64,
}

impl<'a> Mutator<'a> {
    /// The one that makes case `number`. There must be a seed and a word.
    pub(super) fn new(seeds: &'a [Vec<u8>], words: &'a [Vec<u8>], number: u64) -> Self {
        // Numbers that follow each other are spread over all states (SplitMix64's constant).
        Self { seeds, words, state: number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15) }
    }

    /// The case.
    pub(super) fn case(mut self) -> Vec<u8> {
        let mut bytes = self.seed().to_vec();
        for _ in 0..=self.below(6) {
            self.change(&mut bytes);
            bytes.truncate(BYTES_MAX);
        }
        bytes
    }

    fn change(&mut self, bytes: &mut Vec<u8>) {
        let (from, to) = self.part(bytes.len());
        match self.below(9) {
            0 if !bytes.is_empty() => {
                let at = self.below(bytes.len());
                bytes[at] ^= 1 << self.below(8);
            }
            1 if !bytes.is_empty() => {
                let at = self.below(bytes.len());
                bytes[at] = self.next() as u8;
            }
            2 => drop(bytes.drain(from..to)),
            3 => bytes.truncate(from),
            // The same again and again: nesting, lists, names that are long.
            4 => {
                let part = bytes[from..to].repeat(1 + self.below(64));
                bytes.splice(to..to, part);
            }
            5 => {
                let other = self.seed();
                let (start, end) = self.part(other.len());
                bytes.splice(from..to, other[start..end].iter().copied());
            }
            6 => {
                let word = self.word();
                bytes.splice(from..from, word.iter().copied());
            }
            _ => {
                let word = self.word();
                let end = to.min(from + word.len());
                bytes.splice(from..end, word.iter().copied());
            }
        }
    }

    fn seed(&mut self) -> &'a [u8] {
        let at = self.below(self.seeds.len());
        &self.seeds[at]
    }

    fn word(&mut self) -> &'a [u8] {
        let at = self.below(self.words.len());
        &self.words[at]
    }

    /// Two places in order; near each other more often than not.
    fn part(&mut self, length: usize) -> (usize, usize) {
        let from = self.below(length + 1);
        let reach = if self.below(4) == 0 { length - from } else { (length - from).min(16) };
        (from, from + self.below(reach + 1))
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    /// Xorshift: quick, and nothing here asks for more.
    fn next(&mut self) -> u64 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        self.state
    }
}

/// The words of a dictionary of libFuzzer: one a line, in quotes, with `\\`, `\"` and `\xNN`.
pub(super) fn words(dictionary: &str) -> Vec<Vec<u8>> {
    let quoted = |line: &str| Some(unescaped(line.strip_prefix('"')?.strip_suffix('"')?));
    dictionary.lines().filter_map(quoted).collect()
}

fn unescaped(word: &str) -> Vec<u8> {
    let (mut bytes, mut rest) = (Vec::new(), word);
    while let Some((before, after)) = rest.split_once('\\') {
        bytes.extend_from_slice(before.as_bytes());
        let byte = after.strip_prefix('x').and_then(|hex| u8::from_str_radix(hex.get(..2)?, 16).ok());
        let length = if byte.is_some() { 3 } else { 1 };
        bytes.push(byte.unwrap_or_else(|| after.bytes().next().unwrap_or(b'\\')));
        rest = after.get(length..).unwrap_or_default();
    }
    bytes.extend_from_slice(rest.as_bytes());
    bytes
}

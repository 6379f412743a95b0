//! Closed lists of words: states, statuses, kinds. Each is a type, written one way and read leniently.
//!
//! Out go exactly the words of the specification (`HALF_OPEN`, `toolCall`). In come also other cases, and `-`, `_` or
//! nothing between the parts, because people type `?state=stuck` and `tool_call`, and a refusal would teach nothing.

use std::fmt;

/// A word that is not on the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownWord {
    given: String,
    allowed: String,
}

impl UnknownWord {
    /// What was given is shortened: it may be anything.
    pub(crate) fn new(given: &str, allowed: impl Iterator<Item = &'static str>) -> Self {
        let given = given.chars().take(40).collect();
        Self { given, allowed: allowed.collect::<Vec<_>>().join(", ") }
    }
}

impl std::error::Error for UnknownWord {}

impl fmt::Display for UnknownWord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is none of {}", self.given.escape_debug(), self.allowed)
    }
}

/// Whether two words are the same, whatever their case and however their parts are joined.
pub(crate) fn same(given: &str, word: &str) -> bool {
    fn plain(word: &str) -> impl Iterator<Item = u8> {
        word.bytes().filter(|byte| !matches!(byte, b'-' | b'_')).map(|byte| byte.to_ascii_lowercase())
    }
    plain(given).eq(plain(word))
}

/// Declares a closed list of words.
macro_rules! words {
    (
        $(#[$doc:meta])*
        pub enum $name:ident {
            $($(#[$about:meta])* $variant:ident = $text:literal,)+
        }
    ) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, utoipa::ToSchema)]
        pub enum $name {
            $($(#[$about])* #[schema(rename = $text)] $variant,)+
        }

        impl $name {
            /// All of them, in the order of their declaration.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The word as it goes out.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)+
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::words::UnknownWord;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                let found = Self::ALL.iter().copied().find(|word| $crate::words::same(text, word.as_str()));
                found.ok_or_else(|| {
                    $crate::words::UnknownWord::new(text, Self::ALL.iter().map(|word| word.as_str()))
                })
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_str($crate::words::WordVisitor(std::marker::PhantomData))
            }
        }
    };
}
pub(crate) use words;

/// Reads any of the lists.
pub(crate) struct WordVisitor<T>(pub(crate) std::marker::PhantomData<T>);

impl<T: std::str::FromStr<Err = UnknownWord>> serde::de::Visitor<'_> for WordVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a word")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<T, E> {
        text.parse().map_err(E::custom)
    }
}

#[cfg(test)]
mod tests {
    use crate::{BreakerState, HealthState};

    #[test]
    fn words_go_out_one_way_and_come_in_many() {
        assert_eq!(serde_json::to_string(&BreakerState::HalfOpen).expect("a word"), "\"HALF_OPEN\"");
        for given in ["HALF_OPEN", "half-open", "halfOpen"] {
            assert_eq!(given.parse(), Ok(BreakerState::HalfOpen));
        }
        for state in HealthState::ALL {
            assert_eq!(state.as_str().parse(), Ok(*state));
        }
    }

    #[test]
    fn a_wrong_word_is_told_with_the_right_ones() {
        let error = "half\u{7}".parse::<BreakerState>().expect_err("no such word");
        assert_eq!(error.to_string(), "`half\\u{7}` is none of CLOSED, OPEN, HALF_OPEN");
    }
}

//! Text from outside, held to a length.

/// The first `max` characters: characters, not bytes, so that nothing is cut in the middle of one.
pub(crate) fn first(text: &str, max: usize) -> &str {
    text.char_indices().nth(max).map_or(text, |(end, _)| &text[..end])
}

/// The last `max` characters: of what somebody said, the end tells where it stands.
pub(crate) fn last(text: &str, max: usize) -> &str {
    let skipped = text.chars().count().saturating_sub(max);
    text.char_indices().nth(skipped).map_or("", |(start, _)| &text[start..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_cut_between_characters() {
        assert_eq!((first("häuser", 2), last("häuser", 2)), ("hä", "er"));
        assert_eq!((first("hä", 2), last("hä", 2)), ("hä", "hä"));
        assert_eq!((first("", 2), last("", 2)), ("", ""));
        assert_eq!((first("abc", 0), last("abc", 0)), ("", ""));
    }
}

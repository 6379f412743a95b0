//! Looking through JSON without reading it: where a value ends, how deep it goes, which field an error is in.
//!
//! Used where something is wrong, or where a value is passed on unread. Nothing here recurses, so nesting costs
//! nothing but its length.

use memchr::memchr2;

/// The first byte from `at` that is no white space.
pub(crate) fn skip_space(text: &[u8], at: usize) -> usize {
    let space = |byte: &&u8| matches!(byte, b' ' | b'\t' | b'\r' | b'\n');
    at + text.get(at..).unwrap_or_default().iter().take_while(space).count()
}

/// Where the value that begins at `at` ends, as far as brackets and quotes tell. Nothing if it does not end.
pub(crate) fn skip_value(text: &[u8], at: usize) -> Option<usize> {
    let (mut at, mut depth) = (at, 0_usize);
    loop {
        match text.get(at)? {
            b'"' => {
                at = skip_string(text, at)?;
                if depth == 0 {
                    return Some(at);
                }
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                // A bracket that closes nothing ends a number or word before it.
                let Some(less) = depth.checked_sub(1) else { return Some(at) };
                depth = less;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            b',' | b' ' | b'\t' | b'\r' | b'\n' if depth == 0 => return Some(at),
            _ => {}
        }
        at += 1;
        if depth == 0 && at == text.len() {
            return Some(at);
        }
    }
}

/// Where the string that begins at `at` ends.
fn skip_string(text: &[u8], at: usize) -> Option<usize> {
    let mut at = at + 1;
    loop {
        at += memchr2(b'"', b'\\', text.get(at..)?)?;
        if text[at] == b'"' {
            return Some(at + 1);
        }
        at += 2;
    }
}

/// Whether a well-formed value is nested deeper than this.
pub(crate) fn is_deeper(text: &str, depth_max: usize) -> bool {
    let text = text.as_bytes();
    let (mut at, mut depth) = (0, 0_usize);
    while at < text.len() {
        match text[at] {
            b'"' => {
                let Some(end) = skip_string(text, at) else { return false };
                at = end;
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth_max < depth {
            return true;
        }
        at += 1;
    }
    false
}

/// The field in which the byte before `end` lies, as in `limits.tokens` or `probes[1].interval`.
pub(crate) fn field_at(text: &[u8], end: usize) -> String {
    let text = &text[..end.min(text.len())];
    let mut path: Vec<Place> = Vec::new();
    let mut at = 0;
    while at < text.len() {
        match text[at] {
            b'{' => path.push(Place::Key(String::new())),
            b'[' => path.push(Place::Index(0)),
            b'}' | b']' => drop(path.pop()),
            b',' => path.last_mut().map_or((), Place::next),
            b'"' => {
                let stop = skip_string(text, at).unwrap_or(text.len());
                let colon = skip_space(text, stop);
                if let Some(Place::Key(key)) = path.last_mut()
                    && text.get(colon) == Some(&b':')
                {
                    let shown = &text[at + 1..stop.saturating_sub(1).max(at + 1)];
                    *key = String::from_utf8_lossy(shown).chars().take(60).collect();
                }
                at = stop;
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    path.iter().fold(String::new(), Place::join)
}

/// One step on the way to a value.
enum Place {
    Key(String),
    Index(usize),
}

impl Place {
    fn next(&mut self) {
        match self {
            Self::Key(key) => key.clear(),
            Self::Index(index) => *index += 1,
        }
    }

    fn join(mut path: String, step: &Self) -> String {
        match step {
            Self::Key(key) if key.is_empty() || 200 < path.len() => {}
            Self::Key(key) => {
                let dot = if path.is_empty() { "" } else { "." };
                path.extend([dot, key]);
            }
            Self::Index(index) => path.extend(["[", &index.to_string(), "]"]),
        }
        path
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_value_ends_where_its_brackets_and_quotes_end() {
        let end = |text: &str| skip_value(text.as_bytes(), 0);
        assert_eq!(end(r#"{"a":"}\""},1"#), Some(11));
        assert_eq!((end("12,"), end("true]"), end("7")), (Some(2), Some(4), Some(1)));
        assert_eq!((end("[1,[2]"), end("\"open"), end("")), (None, None, None));
    }

    #[test]
    fn depth_is_counted_outside_of_strings() {
        assert!(is_deeper("[[1]]", 1) && !is_deeper("[[1]]", 2) && !is_deeper(r#"["[[["]"#, 1));
    }

    #[test]
    fn the_field_of_an_error_is_found() {
        let text = r#"{"role":"a","limits":{"tokens":"many"},"probes":[{},{"interval":true}]}"#;
        let at = |part: &str| field_at(text.as_bytes(), text.find(part).expect("a part") + part.len());
        assert_eq!((at("\"a\"").as_str(), at("\"many\"").as_str()), ("role", "limits.tokens"));
        assert_eq!(at("true"), "probes[1].interval");
        assert_eq!(field_at(b"", 9), "");
    }

    proptest! {
        #[test]
        fn no_text_is_too_strange(text in prop::collection::vec(prop::sample::select(b"{}[]\",:\\ a1\xff".as_slice()), 0..60), at in 0_usize..70) {
            let end = skip_value(&text, at);
            prop_assert!(end.is_none_or(|end| at <= end && end <= text.len()));
            let _ = field_at(&text, at);
        }

        #[test]
        fn what_is_valid_ends_where_it_ends(value in "[a-z\"\\\\{}\\[\\],]{0,20}", n in any::<i32>()) {
            let text = serde_json::json!({ "k": [value, n, { "x": value }] }).to_string();
            prop_assert_eq!(skip_value(format!("{text}, 1").as_bytes(), 0), Some(text.len()));
        }
    }
}

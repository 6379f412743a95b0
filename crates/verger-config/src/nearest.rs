//! The name that was probably meant.

/// The candidate nearest to `word`, if one is near enough to be a slip of the finger or a name cut short.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // Names are short; what is long is no slip, and comparing it would take a while.
    if word.is_empty() || 64 < word.len() {
        return None;
    }
    let plain = plain(word);
    candidates
        .into_iter()
        .filter_map(|candidate| Some((cost(&plain, candidate)?, candidate)))
        .min_by_key(|(cost, _)| *cost)
        .map(|(_, candidate)| candidate)
}

/// Upper case and dashes are no mistakes worth counting: `nudgeInterval` and `nudge-interval` are one step away.
fn plain(word: &str) -> String {
    let mut plain = String::new();
    for c in word.chars() {
        match c {
            '-' | ' ' => plain.push('_'),
            _ if c.is_uppercase() && !plain.is_empty() && !plain.ends_with('_') => {
                plain.push('_');
                plain.extend(c.to_lowercase());
            }
            _ => plain.extend(c.to_lowercase()),
        }
    }
    plain
}

fn cost(word: &str, candidate: &str) -> Option<usize> {
    let slips = distance(word, candidate);
    let most = (candidate.len() / 3).clamp(1, 3);
    if slips <= most {
        return Some(slips);
    }
    let cut_short = 3 <= word.len() && candidate.split('_').any(|part| part == word);
    let begun =
        3 <= word.len() && candidate.starts_with(word) || 3 <= candidate.len() && word.starts_with(candidate);
    (cut_short || begun).then_some(most + 1)
}

/// Letters inserted, left out, replaced, or swapped with their neighbour.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let replaced = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut fewest = replaced.min(last[j] + 1).min(row[j - 1] + 1);
            if 1 < i && 1 < j && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                fewest = fewest.min(before[j - 2] + 1);
            }
            row.push(fewest);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_finds_the_name_that_was_meant() {
        let names = ["interval_seconds", "timeout_seconds", "enabled", "nudge_interval"];
        let found = |word| nearest(word, names);
        assert_eq!(found("interval_second"), Some("interval_seconds"));
        assert_eq!(found("intreval_seconds"), Some("interval_seconds"));
        assert_eq!(found("timeout"), Some("timeout_seconds"));
        assert_eq!(found("enable"), Some("enabled"));
        assert_eq!(found("nudgeInterval"), Some("nudge_interval"));
        assert_eq!(found("nudge-interval"), Some("nudge_interval"));
        assert_eq!(found("colour"), None);
        assert_eq!(found(&"e".repeat(100_000)), None);
    }
}

//! Credentials that are known by how they begin.
//!
//! Each of these prefixes was chosen by its issuer so that leaks can be found. The rest must be long enough, and
//! hold a digit where words could look alike (`sk-learn…`).

use super::{Secret, bytes_of, run};

/// How the shapes begin.
pub(super) const FIRST: [bool; 256] = bytes_of("sghxanpdeyrwfklv");

/// What begins so, is at least so much longer, and is called that.
const SHAPES: &[(&str, usize, &str)] = &[
    ("sk-ant-", 20, "api-key"),
    ("sk-proj-", 20, "api-key"),
    ("sk-svcacct-", 20, "api-key"),
    ("sk-or-", 20, "api-key"),
    ("sk_live_", 16, "api-key"),
    ("sk_test_", 16, "api-key"),
    ("rk_live_", 16, "api-key"),
    ("rk_test_", 16, "api-key"),
    ("whsec_", 16, "api-key"),
    ("AIza", 30, "api-key"),
    ("gsk_", 20, "api-key"),
    ("xai-", 20, "api-key"),
    ("hf_", 20, "api-key"),
    ("r8_", 20, "api-key"),
    ("pplx-", 20, "api-key"),
    ("nvapi-", 20, "api-key"),
    ("fw_", 20, "api-key"),
    ("key-", 28, "api-key"),
    ("ghp_", 20, "github-token"),
    ("gho_", 20, "github-token"),
    ("ghu_", 20, "github-token"),
    ("ghs_", 20, "github-token"),
    ("ghr_", 20, "github-token"),
    ("github_pat_", 20, "github-token"),
    ("glpat-", 16, "gitlab-token"),
    ("gldt-", 16, "gitlab-token"),
    ("xoxb-", 10, "slack-token"),
    ("xoxp-", 10, "slack-token"),
    ("xoxa-", 10, "slack-token"),
    ("xoxr-", 10, "slack-token"),
    ("xoxs-", 10, "slack-token"),
    ("xapp-", 10, "slack-token"),
    ("npm_", 30, "npm-token"),
    ("pypi-", 30, "pypi-token"),
    ("dop_v1_", 30, "api-key"),
    ("dapi", 32, "api-key"),
    ("lin_api_", 20, "api-key"),
    ("shpat_", 20, "api-key"),
    ("AGE-SECRET-KEY-1", 30, "private-key"),
    ("vgt_", 32, "verger-token"),
];

/// The credential that this word is, or begins.
pub(super) fn token(text: &str, start: usize, end: usize) -> Option<Secret> {
    let word = &text[start..end];
    // No shape is shorter, but for two that go on behind a dot. Most words are over here.
    if word.len() < 10 && word != "SG" && word != "ya29" {
        return None;
    }
    let secret = |kind| Some(Secret { from: start, to: whole(text.as_bytes(), end), kind });
    if is_aws_key(word) {
        return secret("aws-key");
    }
    for (prefix, more, kind) in SHAPES {
        if let Some(rest) = word.strip_prefix(prefix)
            && *more <= rest.len()
            && rest.bytes().any(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase())
        {
            return secret(kind);
        }
    }
    if let Some(rest) = word.strip_prefix("sk-") {
        let random = |part: &str| 20 <= part.len() && part.bytes().any(|byte| byte.is_ascii_digit());
        return if rest.split(['-', '_']).any(random) { secret("api-key") } else { None };
    }
    dotted(text, start, end)
}

/// Access key ids of AWS: four letters that say what it is, and sixteen more.
fn is_aws_key(word: &str) -> bool {
    const KINDS: [&str; 6] = ["AKIA", "ASIA", "ABIA", "ACCA", "AROA", "AIDA"];
    word.len() == 20
        && KINDS.iter().any(|kind| word.starts_with(kind))
        && word.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())
}

/// Credentials with dots in them: JSON Web Tokens, and those of Google and `SendGrid`.
fn dotted(text: &str, start: usize, end: usize) -> Option<Secret> {
    let bytes = text.as_bytes();
    let (kind, parts_min) = match &text[start..end] {
        word if word.starts_with("eyJ") && 10 <= word.len() => ("jwt", 2),
        "ya29" | "SG" => ("api-key", 2),
        _ => return None,
    };
    let mut to = end;
    let mut parts = 1;
    while bytes.get(to) == Some(&b'.') {
        let next = run(bytes, to + 1, |byte| super::WORD[usize::from(byte)]);
        if next < to + 5 {
            break;
        }
        (to, parts) = (next, parts + 1);
    }
    (parts_min <= parts).then_some(Secret { from: start, to, kind })
}

/// Some credentials go on with signs that no word has; a full stop at their end is the sentence's.
fn whole(bytes: &[u8], end: usize) -> usize {
    let more = run(bytes, end, |byte| super::WORD[usize::from(byte)] || b"+/=.~".contains(&byte));
    more - bytes[end..more].iter().rev().take_while(|byte| b"./=".contains(byte)).count()
}

//! Credentials are taken out, and nothing else is.

use proptest::prelude::*;
use verger_api::redact;

/// Invented credentials in the shapes of real ones, each in a text as agents have them, with what is left of it.
const TABLE: &[(&str, &str)] = &[
    ("key sk-ant-api03-Zm9vYmFyYmF6cXV4MTIzNDU2Nzg5MA-AAAA.", "key [redacted:api-key]."),
    ("export OPENAI=sk-proj-Ab3dEf6hIj9kLm2nOp5qRs8tUv1wXy4z", "export OPENAI=[redacted:api-key]"),
    ("using sk-4f9a8b7c6d5e4f3a2b1c0d9e8f7a6b5c now", "using [redacted:api-key] now"),
    ("AIzaSyA1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q", "[redacted:api-key]"),
    ("sk_live_4eC39HqLyjWDarjtT1zdp7dc", "[redacted:api-key]"),
    ("remote: ghp_16C7e42F292c6912E7710c838347Ae178B4a", "remote: [redacted:github-token]"),
    ("github_pat_11ABCDEFG0abcdefghijkl_mnopqrstuvwxyz0123456789", "[redacted:github-token]"),
    ("glpat-x1y2z3A4B5C6D7E8F9G0", "[redacted:gitlab-token]"),
    (
        "cat admin.token prints vgt_0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a69788796a5b4c3d2e1f0",
        "cat admin.token prints [redacted:verger-token]",
    ),
    ("xoxb-123456789012-abcdefGHIJKL", "[redacted:slack-token]"),
    ("id AKIAIOSFODNN7EXAMPLE in eu-west-1", "id [redacted:aws-key] in eu-west-1"),
    (
        "AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        "AWS_SECRET_ACCESS_KEY=[redacted:password]",
    ),
    ("Authorization: Bearer abcdef0123456789abcdef", "Authorization: [redacted:header]"),
    ("curl -H 'Authorization: Basic dXNlcjpwYXNzd29yZA==' x", "curl -H 'Authorization: [redacted:header]' x"),
    ("sent Basic dXNlcjpwYXNzd29yZA== along", "sent Basic [redacted:basic-auth] along"),
    ("bearer 0a1b2c3d4e5f6071", "bearer [redacted:bearer]"),
    (
        "{\"headers\":{\"Authorization\":\"Bearer abcdef0123456789\"}}",
        "{\"headers\":{\"Authorization\":\"[redacted:header]\"}}",
    ),
    ("Cookie: session=8f14e45fceea167a; theme=dark\nHost: x", "Cookie: [redacted:header]\nHost: x"),
    (
        "jwt eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U end",
        "jwt [redacted:jwt] end",
    ),
    (
        "a\n-----BEGIN RSA PRIVATE KEY-----\nMIIBOgIBAAJBAK\nabc==\n-----END RSA PRIVATE KEY-----\nb",
        "a\n[redacted:private-key]\nb",
    ),
    (
        "{\"key\":\"x\\n-----BEGIN OPENSSH PRIVATE KEY-----\\nb3BlbnNzaC1rZXkt\\n-----END OPENSSH PRIVATE KEY-----\\n\"}",
        "{\"key\":\"x\\n[redacted:private-key]\\n\"}",
    ),
    ("-----BEGIN PRIVATE KEY-----\nMIIEvQ", "[redacted:private-key]"),
    (
        "postgres://app:hunter2@db.internal:5432/app?x=1",
        "postgres://app:[redacted:password]@db.internal:5432/app?x=1",
    ),
    ("redis://:p%40ss@localhost", "redis://:[redacted:password]@localhost"),
    (
        "https://hooks.slack.com/services/T0001/B0001/XXXXyyyyZZZZ",
        "https://hooks.slack.com/services/[redacted:webhook]",
    ),
    (
        "PATH=/bin\nDB_PASSWORD=correct,horse\nHOME=/root",
        "PATH=/bin\nDB_PASSWORD=[redacted:password],horse\nHOME=/root",
    ),
    ("STRIPE_KEY=abcd1234efgh5678", "STRIPE_KEY=[redacted:token]"),
    (
        "{\"password\":\"sword fish 1\",\"user\":\"a\"}",
        "{\"password\":\"[redacted:password]\",\"user\":\"a\"}",
    ),
    ("{\\\"apiKey\\\": \\\"swordfish\\\"}", "{\\\"apiKey\\\": \\\"[redacted:password]\\\"}"),
    ("client_secret=s3cr3t&grant=x", "client_secret=[redacted:password]&grant=x"),
    ("db:\n  password: swordfish\n  port: 1", "db:\n  password: [redacted:password]\n  port: 1"),
    ("mysql --password hunter22 -u root", "mysql --password [redacted:password] -u root"),
    ("deploy --api-key=abc123def456", "deploy --api-key=[redacted:password]"),
    ("accessToken: 'a1b2c3d4e5f6'", "accessToken: '[redacted:token]'"),
    (
        "{\"line\":\"x\\nghp_16C7e42F292c6912E7710c838347Ae178B4a\"}",
        "{\"line\":\"x\\n[redacted:github-token]\"}",
    ),
];

/// What looks a little like credentials and is none.
const CLEAN: &[&str] = &[
    "",
    "The password must be at least 8 characters long.",
    "password: must contain a digit",
    "wrong password: try again later",
    "token: identifier",
    "unexpected token: `}` at line 12",
    "max_tokens=4096, token_count: 12345678",
    "{\"tokenCount\":1234567,\"tokens\":99,\"primary_key\":\"user_id\"}",
    "import sk-learn-contrib-extras from scikit-learn",
    "a basic understanding of basic JavaScript",
    "Bearer authentication is not supported",
    "let password = std::env::var(\"DB_PASSWORD\")?;",
    "password=os.environ[\"PGPASSWORD\"]",
    "login(user, password=config.password)",
    "API_KEY=$OPENAI_API_KEY ./run",
    "Authorization: <your token here>",
    "secret: null, \"password\": true, \"token\": 123",
    "see https://example.com:8080/a@b and git@github.com:x/y.git",
    "http://localhost:8374/v1/agents?cursor=0a1b2c",
    "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
    "commit 4f9a8b7c6d5e4f3a2b1c0d9e8f7a6b5c4d3e2f1a",
    "550e8400-e29b-41d4-a716-446655440000",
    "key-value store, sort key: name, KEY_UP pressed",
    "übergrößen — naïve façade 漢字 💥",
    "assert key == \"agent-7\"; pass",
];

#[test]
fn credentials_are_taken_out_and_the_rest_stays() {
    for (text, left) in TABLE {
        assert_eq!(redact(text), *left, "{text}");
    }
}

#[test]
fn what_was_redacted_stays_as_it_is() {
    for (_, left) in TABLE {
        assert_eq!(redact(left), *left);
    }
}

#[test]
fn what_is_no_credential_is_not_even_copied() {
    for text in CLEAN {
        assert_eq!(redact(text), *text);
        assert!(matches!(redact(text), std::borrow::Cow::Borrowed(_)), "{text}");
    }
}

#[test]
fn json_stays_json() {
    let text = serde_json::json!({
        "password": "a\"b\\c", "token": 12_345_678, "env": "A=1\nAPI_KEY=abc123def\nB=2",
        "nested": { "secret": ["x", { "apiKey": "k1" }], "credentials": { "user": "u" } },
    });
    let redacted = redact(&text.to_string()).into_owned();
    serde_json::from_str::<serde_json::Value>(&redacted).expect(&redacted);
    assert!(
        !redacted.contains("b\\\\c") && !redacted.contains("abc123def") && !redacted.contains("k1"),
        "{redacted}"
    );
}

#[test]
fn a_long_secret_goes_as_a_whole() {
    let long = "a1b2".repeat(5_000);
    for text in [format!("Cookie: a={long}"), format!("API_KEY={long}"), format!("{{\"apiKey\":\"{long}\"}}")]
    {
        assert!(redact(&text).len() < 60, "{}", &text[..20]);
    }
}

/// Secrets of each shape, with what stands right before them.
fn secrets() -> impl Strategy<Value = (String, String)> {
    let of = |before: &'static str, shape: &'static str| {
        prop::string::string_regex(shape)
            .expect("a shape")
            .prop_map(move |secret| (before.to_owned(), secret))
    };
    prop_oneof![
        of("", "sk-ant-api03-[A-Za-z0-9_-]{20,90}[A-Z0-9]"),
        of("", "gh[pousr]_[A-Za-z0-9]{35}[0-9]"),
        of("", "AKIA[A-Z0-9]{16}"),
        of("", "xox[bp]-[0-9]{10,12}-[A-Za-z0-9]{12,24}"),
        of("", "eyJ[A-Za-z0-9_-]{10,30}\\.[A-Za-z0-9_-]{10,60}\\.[A-Za-z0-9_-]{20,43}"),
        of("Authorization: Bearer ", "[A-Za-z0-9]{20,40}[0-9]"),
        of("API_KEY=", "[A-Za-z0-9]{12,40}[0-9]"),
        of("\"password\": \"", "[a-z0-9!#]{8,20}[0-9]"),
        of("https://user:", "[A-Za-z0-9!.~-]{6,20}[0-9]@"),
        of("--token ", "[A-Za-z0-9]{12,40}[0-9]"),
    ]
}

proptest! {
    #[test]
    fn a_secret_never_stays(before in "([a-z]{1,8} ){0,5}", (sign, secret) in secrets(), after in "( [a-z]{1,8}){0,5}", quote in "[\"']?") {
        let text = format!("{before}\n{sign}{secret}{quote}{after}");
        let redacted = redact(&text);
        prop_assert!(!redacted.contains(secret.trim_end_matches('@')), "{}", redacted);
        prop_assert!(redacted.starts_with(&before) && redacted.ends_with(&after), "{}", redacted);
    }

    #[test]
    fn clean_text_is_unchanged(words in prop::collection::vec("[A-Za-z]{1,12}|[0-9]{1,8}|[.,;:!?()\\[\\]{}<>/=+*&%$#@'\"\\\\-]{1,2}", 0..40)) {
        // No names of secrets among the words; they have tests of their own.
        let text = words.join(" ");
        prop_assert_eq!(redact(&text), text.as_str());
    }

    #[test]
    fn no_text_is_too_strange(parts in prop::collection::vec("password|=|: |\"|\\\\|://|@|-----BEGIN| PRIVATE KEY-----|eyJabcdefghij|\\.|Bearer |ü|💥|sk-|[a-z0-9]{1,9}| |\n|--token|Cookie", 0..30)) {
        let text = parts.concat();
        let once = redact(&text).into_owned();
        let _ = redact(&once);
    }
}

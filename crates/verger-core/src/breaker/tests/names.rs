//! Names: what can be written, what is read, and that both agree.

use proptest::prelude::*;

use crate::breaker::{BreakerName, Kind, NameError};
use crate::id::AgentId;

#[test]
fn names_are_read_as_they_are_written() {
    let rows = [
        ("a1/tool/Bash", Some(("a1", Kind::Tool)), "Bash", "a1/tool/Bash"),
        (
            "claude:7f/checkpoint/store",
            Some(("claude:7f", Kind::Checkpoint)),
            "store",
            "claude:7f/checkpoint/store",
        ),
        (
            "a/api/api.example.org/v1",
            Some(("a", Kind::Api)),
            "api.example.org/v1",
            "a/api/api.example.org~1v1",
        ),
        ("team~1a/recovery/t~0x", Some(("team/a", Kind::Recovery)), "t~x", "team~1a/recovery/t~0x"),
        ("shared/api.example.org", None, "api.example.org", "shared/api.example.org"),
        ("shared/db/eu", None, "db/eu", "shared/db~1eu"),
        ("shared/tool/x", Some(("shared", Kind::Tool)), "x", "shared/tool/x"),
        ("shared/tool~1x", None, "tool/x", "shared/tool~1x"),
        ("shared/tool", None, "tool", "shared/tool"),
    ];
    for (text, owner, target, written) in rows {
        let name: BreakerName = text.parse().expect(text);
        assert_eq!(
            name.agent().zip(name.kind()),
            owner.map(|(agent, kind)| (AgentId::from(agent), kind)),
            "{text}"
        );
        assert_eq!(name.target(), target, "{text}");
        assert_eq!(name.to_string(), written);
        assert_eq!(name.is_shared(), owner.is_none(), "{text}");
    }
}

#[test]
fn what_cannot_be_a_name_is_refused() {
    let long = "x".repeat(257);
    let rows = [
        ("", NameError::Form),
        ("a", NameError::Form),
        ("a/tool", NameError::Form),
        ("a/engine/x", NameError::Form),
        ("a/Tool/x", NameError::Form),
        ("shared/", NameError::Empty),
        ("/tool/x", NameError::Empty),
        ("a/tool/", NameError::Empty),
        ("a/tool/x~2", NameError::Escape),
        ("a/tool/x~", NameError::Escape),
        ("a~/tool/x", NameError::Escape),
        ("a/tool/x\ny", NameError::Control),
    ];
    for (text, error) in rows {
        assert_eq!(text.parse::<BreakerName>(), Err(error), "{text:?}");
    }
    assert_eq!(BreakerName::shared(&long), Err(NameError::Long));
    assert_eq!(BreakerName::of_agent(&AgentId::from(long), Kind::Api, "x"), Err(NameError::Long));
}

proptest! {
    #[test]
    fn every_agent_and_target_has_a_name_of_its_own(
        agent in "[a-c~/0-1]{1,6}|shared",
        kind in 0..4_usize,
        target in "[a-c~/0-1]{1,6}|tool",
    ) {
        let agent = AgentId::from(agent);
        let name = BreakerName::of_agent(&agent, Kind::ALL[kind], &target).expect("short");
        prop_assert_eq!(&name.to_string().parse::<BreakerName>().expect("written by us"), &name);
        prop_assert_eq!((name.agent(), name.kind()), (Some(agent.clone()), Some(Kind::ALL[kind])));
        prop_assert_eq!(name.target(), target.as_str());
        prop_assert!(name.as_str().starts_with(&BreakerName::prefix_of(&agent)));
        let shared = BreakerName::shared(&target).expect("short");
        prop_assert_eq!(&shared.to_string().parse::<BreakerName>().expect("written by us"), &shared);
        prop_assert!(shared.is_shared());
        prop_assert_eq!(shared.target(), target.as_str());
        prop_assert_ne!(shared, name);
    }

    #[test]
    fn any_text_is_read_or_refused(text in ".{0,40}") {
        if let Ok(name) = text.parse::<BreakerName>() {
            prop_assert_eq!(name.to_string().parse::<BreakerName>(), Ok(name));
        }
    }
}

#[test]
fn x13_a_part_of_a_name_is_as_long_as_allowed_and_not_longer() {
    let named = |agent: usize, target: usize| {
        BreakerName::of_agent(&AgentId::from("a".repeat(agent)), Kind::Tool, &"t".repeat(target)).is_ok()
    };
    assert!(named(256, 256));
    assert!(!named(257, 1) && !named(1, 257));
}

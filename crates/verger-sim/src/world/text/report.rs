//! What a sub-agent is told to do, and what it comes back with.

use super::talk::sentence;
use super::told::json;
use super::voice::Voice;

/// The work that is given to a sub-agent.
pub(crate) fn brief(voice: &mut Voice) -> String {
    let (subject, prompt) = (voice.name(), sentence(voice));
    json(&[
        ("description", &format!("Explore {subject}")),
        ("prompt", &format!("Find out how {subject} works. {prompt}")),
        ("subagent_type", "general-purpose"),
    ])
}

/// What it found.
pub(crate) fn report(voice: &mut Voice) -> String {
    let mut out = String::from("## Findings\n");
    for _ in 0..voice.number(2, 5) {
        out.push_str("- ");
        out.push_str(&sentence(voice));
        out.push('\n');
    }
    out.push_str("See ");
    out.push_str(&voice.file());
    out
}

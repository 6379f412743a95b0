//! What is said in a conversation: by the agent, and by people.

use super::voice::Voice;

/// A sentence about the project.
pub(super) fn sentence(voice: &mut Voice) -> String {
    let (name, noun) = (voice.name(), voice.noun());
    match voice.number(0, 8) {
        0 => format!(
            "The {noun} is {} when `{name}` runs before the {} is set.",
            voice.adjective(),
            voice.noun()
        ),
        1 => format!("`{name}` in {} keeps a {} {noun} that nobody uses.", voice.file(), voice.adjective()),
        2 => format!(
            "We {} every {noun} twice, once in `{name}` and once in `{}`.",
            voice.verb(),
            voice.name()
        ),
        3 => format!("{} calls `{name}` with a {} {noun}.", voice.file(), voice.adjective()),
        4 => format!(
            "Each {noun} has {} {}s, and `{name}` takes only the first.",
            voice.number(2, 40),
            voice.noun()
        ),
        5 => format!(
            "The {} {noun} comes from {}, line {}.",
            voice.adjective(),
            voice.file(),
            voice.number(3, 700)
        ),
        6 => format!(
            "Since `{name}` may {} the {noun}, the {} has to wait for it.",
            voice.verb(),
            voice.noun()
        ),
        _ => format!("There is no {} {noun} in `{name}`, only a {}.", voice.adjective(), voice.noun()),
    }
}

/// What the agent is about to do.
pub(crate) fn next(voice: &mut Voice) -> String {
    let fact = sentence(voice);
    match voice.number(0, 5) {
        0 => format!("Next I look at {}. {fact}", voice.file()),
        1 => format!("{fact} I will {} the {} first.", voice.verb(), voice.noun()),
        2 => format!("That explains it: {fact}"),
        3 => format!("{fact} Let me check `{}` as well.", voice.name()),
        _ => format!("Now `{}`. {fact}", voice.name()),
    }
}

/// What a person wants done.
pub(crate) fn request(voice: &mut Voice) -> String {
    let fact = sentence(voice);
    match voice.number(0, 4) {
        0 => format!("Please {} the {} {}. {fact}", voice.verb(), voice.adjective(), voice.noun()),
        1 => format!("{fact} Can you mend that, and add a test to {}?", voice.file()),
        2 => format!("Customers say that the {} does not {}. {fact}", voice.noun(), voice.verb()),
        _ => format!("We need a {} {} in the {}. {fact}", voice.adjective(), voice.noun(), voice.noun()),
    }
}

/// What the agent asks a person.
pub(crate) fn question(voice: &mut Voice) -> String {
    let fact = sentence(voice);
    match voice.number(0, 3) {
        0 => format!("{fact} May I {} it, or is it used by the {}?", voice.verb(), voice.noun()),
        1 => format!("Shall the {} {} every {}? {fact}", voice.noun(), voice.verb(), voice.noun()),
        _ => format!(
            "I can {} `{}` or leave it {}. {fact} Which do you want?",
            voice.verb(),
            voice.name(),
            voice.adjective()
        ),
    }
}

/// What a person answers.
pub(crate) fn answer(voice: &mut Voice) -> String {
    let fact = sentence(voice);
    match voice.number(0, 3) {
        0 => format!("Yes, and mind the {}. {fact}", voice.noun()),
        1 => format!("No, keep the {} {}. {fact}", voice.adjective(), voice.noun()),
        _ => format!("Do as you think, but {} the {} first.", voice.verb(), voice.noun()),
    }
}

/// What the agent says when it is asked how it is, or reminded of something.
pub(crate) fn reply(voice: &mut Voice) -> String {
    let fact = sentence(voice);
    match voice.number(0, 3) {
        0 => format!("I am at the {}. {fact}", voice.noun()),
        1 => format!("Still on `{}`; {fact}", voice.name()),
        _ => format!("You are right, I should {} the {} instead. {fact}", voice.verb(), voice.noun()),
    }
}

/// A person takes the agent in hand.
pub(crate) fn stop(voice: &mut Voice) -> String {
    format!("Stop. Do this instead: {} the {} in {}.", voice.verb(), voice.noun(), voice.file())
}

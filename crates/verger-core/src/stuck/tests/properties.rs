//! What must not matter does not, and what must does, whatever the run.

use proptest::prelude::*;

use super::*;

/// The vocabulary of made-up runs. Words with a meaning of their own are not among them.
const WORDS: [&str; 12] = [
    "kestrel", "lantern", "marigold", "nutmeg", "orchard", "pebble", "quarry", "ripple", "saffron",
    "thicket", "umbra", "velvet",
];
/// The same under other names.
const RENAMED: [&str; 12] = [
    "alder",
    "birchen",
    "cedarwood",
    "dogwood",
    "elmtree",
    "firtree",
    "gorse",
    "hazelnut",
    "ivyleaf",
    "juniper",
    "kelpweed",
    "larch",
];

/// One step of a made-up run, before words, moments and counters are filled in.
#[derive(Clone, Debug)]
enum Shape {
    Read(usize, usize),
    Missing(usize),
    Fails(usize, usize),
    Writes(usize, usize),
    Silent(usize),
    Refused(usize),
    Polls(usize),
    Says(usize),
}

fn shape() -> impl Strategy<Value = Shape> {
    prop_oneof![
        6 => deed(),
        1 => (0..2usize).prop_map(Shape::Polls),
        1 => (0..3usize).prop_map(Shape::Says),
    ]
}

/// Neither waiting nor talk.
fn deed() -> impl Strategy<Value = Shape> {
    prop_oneof![
        (0..4usize, 0..6usize).prop_map(|(file, page)| Shape::Read(file, page)),
        (0..8usize).prop_map(Shape::Missing),
        (0..3usize, 0..3usize).prop_map(|(what, why)| Shape::Fails(what, why)),
        (0..3usize, 0..3usize).prop_map(|(file, text)| Shape::Writes(file, text)),
        (0..4usize).prop_map(Shape::Silent),
        (0..2usize).prop_map(Shape::Refused),
    ]
}

/// Fills in words, and numbers that mean nothing: `salt` decides which.
fn fill(shape: &Shape, words: &[&str; 12], salt: usize) -> Step {
    let word = |at: usize| words[at % 12];
    let stamp = format!("2024-05-{:02}T10:{:02}:{:02}Z", 1 + salt % 28, salt % 60, (salt * 7) % 60);
    let id = format!("7f3a{:04x}9c{:02x}", salt % 65_536, salt % 256);
    match *shape {
        Shape::Read(file, page) => {
            let text = joined(
                (0..6).map(|line| format!("{} {} of page", word(page + line), word(2 * page + 3 * line))),
            );
            shell(
                &format!("cat src/{}.rs | head -{}", word(file), page),
                format!("{stamp} request {id}\n{text}"),
            )
        }
        Shape::Missing(file) => shell(
            &format!("find . -name {}", word(file)),
            format!("find: line {}: '{}' not found, pid {salt}", salt % 1_000, word(file)),
        ),
        Shape::Fails(what, why) => {
            let command = format!("{{\"command\":\"run {}\"}}", word(what));
            failed(
                "bash",
                command,
                format!("error {id} at {stamp}: {} is broken, line {salt}", word(why + 4)),
            )
        }
        Shape::Writes(file, text) => {
            let body =
                joined((0..5).map(|line| format!("{} = {}", word(text + line), word(text + 2 * line))));
            write(&format!("/src/{}.rs", word(file)), &body)
        }
        Shape::Silent(what) => shell(&format!("touch {}", word(what)), ""),
        Shape::Refused(what) => call(
            "sync",
            format!("{{\"of\":\"{}\",\"nonce\":\"{id}\"}}", word(what)),
            format!(
                "{{\"ok\": false, \"reason\": \"not registered\", \"nonce\": \"{id}\", \"at\": \"{stamp}\"}}"
            ),
        ),
        Shape::Polls(what) => call(
            "get_status",
            format!("{{\"of\":\"{}\"}}", word(what)),
            format!(
                "{stamp} {} is queued, {}.{}s so far, see /tmp/run_{id}/log",
                word(what),
                salt % 100,
                salt % 10
            ),
        ),
        Shape::Says(what) => Step::Said(
            Role::Agent,
            format!(
                "Now I look after {} and {} once more, and after {} too.",
                word(what),
                word(what + 3),
                word(what + 5)
            ),
        ),
    }
}

fn levels(shapes: &[Shape], words: &[&str; 12], salt: usize) -> Vec<(Level, Option<Kind>, Option<u32>)> {
    let steps: Vec<Step> = shapes
        .iter()
        .enumerate()
        .map(|(at, shape)| fill(shape, words, salt.wrapping_mul(at + 1) % 1_000_000))
        .collect();
    judgements(&steps).iter().map(|judged| (judged.level, judged.kind, judged.since_step)).collect()
}

proptest! {
    #[test]
    fn l06_renaming_files_and_things_never_changes_the_verdict(shapes in prop::collection::vec(shape(), 1..40)) {
        prop_assert_eq!(levels(&shapes, &WORDS, 3), levels(&shapes, &RENAMED, 3));
    }

    #[test]
    fn l06_moments_ids_and_counters_never_change_the_verdict(
        shapes in prop::collection::vec(shape(), 1..40),
        salt in 1..100_000usize,
    ) {
        prop_assert_eq!(levels(&shapes, &WORDS, 3), levels(&shapes, &WORDS, salt));
    }

    #[test]
    fn l06_when_it_was_never_changes_the_verdict(
        shapes in prop::collection::vec((shape(), 0..700i64, 0..90i64), 1..40),
        shift in -1_000_000..1_000_000i64,
    ) {
        let timed = |shift: i64| {
            let mut now = shift;
            let step = |(shape, pause, took): &(Shape, i64, i64)| {
                let started = now + pause;
                now = started + took;
                fill(shape, &WORDS, 3).at(started, now)
            };
            let steps: Vec<Step> = shapes.iter().map(step).collect();
            judgements(&steps)
        };
        prop_assert_eq!(timed(0), timed(shift));
    }

    /// The standstill is over at once. A trouble that comes back whatever is learned in between is remembered for a
    /// few steps more, and then it is over as well.
    #[test]
    fn l06_a_genuinely_new_result_always_resets(
        shapes in prop::collection::vec(shape(), 1..40),
        page in 1_000..9_999usize,
    ) {
        let steps: Vec<Step> = shapes.iter().map(|shape| fill(shape, &WORDS, 3)).collect();
        let mut detector = Detector::default();
        for (at, step) in steps.iter().enumerate() {
            detector.observe(at as u32, &step.print());
        }
        for n in 0..9 {
            let new = shell(&format!("cat notes_{n}.txt"), prose(page + n, 12));
            let judged = detector.observe((steps.len() + n) as u32, &new.print());
            prop_assert_eq!(detector.standing(), 0);
            let recurs = [Kind::SameError, Kind::ReappliedEdit, Kind::DialogueLoop].map(Some);
            prop_assert!(judged.kind.is_none() || (n < 8 && recurs.contains(&judged.kind)), "{judged}");
        }
    }

    /// Whatever was looked at in vain, a number that was never so low is progress once something was tried.
    #[test]
    fn l10_a_count_that_falls_always_resets(from in 20..400u32, rounds in 5..20u32) {
        let mut steps = Vec::new();
        for n in 0..rounds {
            steps.push(shell(&format!("mend {}", prose(n as usize, 1).trim()), ""));
            steps.push(failed("bash", "{\"command\":\"run-all\"}", format!("{} of 400 failed", from - n)));
        }
        prop_assert!(judgements(&steps).iter().all(|judged| judged.level < Level::Stuck));
    }

    #[test]
    fn l06_a_verdict_depends_on_nothing_that_comes_after(
        shapes in prop::collection::vec(shape(), 2..40),
        cut in 1..40usize,
    ) {
        let all = levels(&shapes, &WORDS, 3);
        let cut = cut.min(shapes.len());
        prop_assert_eq!(&levels(&shapes[..cut], &WORDS, 3)[..], &all[..cut]);
    }

    /// Patience with something that is waited for begins anew.
    #[test]
    fn l06_the_last_sixty_four_fingerprints_are_enough_to_go_on(
        before in prop::collection::vec(deed(), 0..80),
        round in prop::collection::vec(deed(), 1..4),
    ) {
        let mut shapes = before;
        for _ in 0..16 {
            shapes.extend(round.iter().cloned());
        }
        let steps: Vec<Step> = shapes.iter().map(|shape| fill(shape, &WORDS, 3)).collect();
        let from = steps.len().saturating_sub(64);
        let (mut whole, mut refolded) = (Detector::default(), Detector::default());
        let mut last = (Level::Undecided, Level::Undecided);
        for (at, step) in steps.iter().enumerate() {
            last.0 = whole.observe(at as u32, &step.print()).level;
            if at >= from {
                last.1 = refolded.observe(at as u32, &step.print()).level;
            }
        }
        prop_assert_eq!(last.0 >= Level::Stuck, last.1 >= Level::Stuck);
    }
}

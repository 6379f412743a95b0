//! Whatever an agent says, calls or is answered, as fingerprints, and what the detectors make of them.

use verger_core::fingerprint::{CallPrint, ResultPrint, TextPrint};
use verger_core::stuck::{Detector, Level, Role, STEPS_MAX, StepPrint, ToolStep};
use verger_core::time::Span;

/// What separates the texts of a case: a byte that no UTF-8 has.
const SEPARATOR: u8 = 0xff;

/// How often the steps of a case are made, one after another.
const ROUNDS: u32 = 12;

/// Steps of an agent: the first ten bytes tell times and codes, then come tool, arguments and results in turn.
pub fn steps(bytes: &[u8]) {
    let Some((numbers, texts)) = bytes.split_first_chunk::<10>() else { return };
    let texts: Vec<_> = texts.split(|byte| *byte == SEPARATOR).map(String::from_utf8_lossy).collect();
    let prints: Vec<_> = texts.chunks(3).flat_map(|texts| printed(numbers, texts)).collect();
    let again: Vec<_> = texts.chunks(3).flat_map(|texts| printed(numbers, texts)).collect();
    assert_eq!(prints, again, "the same text, another fingerprint");
    let mut detector = Detector::default();
    let mut step = 0_u32;
    for _ in 0..ROUNDS {
        for print in &prints {
            let judgement = detector.observe(step, print);
            assert!(judgement.evidence.steps().len() <= STEPS_MAX);
            assert!(judgement.since_step.is_none_or(|since| since <= step), "{judgement:?} at {step}");
            let is_raised = matches!(judgement.level, Level::Nudge | Level::Stuck | Level::Refuse);
            assert!(!is_raised || !judgement.to_string().is_empty(), "{judgement:?}");
            step += 1;
        }
    }
}

fn printed(numbers: &[u8; 10], texts: &[std::borrow::Cow<'_, str>]) -> Vec<StepPrint> {
    let text = |at: usize| texts.get(at).map_or("", |text| text.as_ref());
    let [flags, exit, time @ ..] = numbers;
    let at = i64::from_le_bytes(*time);
    let call = ToolStep {
        tool: text(0),
        args: text(1),
        result: text(2),
        error: (flags & 1 != 0).then_some(flags & 2 != 0),
        exit_code: (flags & 4 != 0).then_some(i32::from(*exit)),
        started_ms: (flags & 8 != 0).then_some(at),
        // The end of all time, the other way round, or the same.
        ended_ms: (flags & 16 != 0).then_some(if flags & 32 != 0 { at.wrapping_neg() } else { i64::MAX }),
    };
    let _ = (CallPrint::of(text(0), text(1)), TextPrint::of(text(2)));
    let _ = ResultPrint::of(text(2), flags & 2 != 0, (flags & 8 != 0).then_some(Span::FOREVER));
    vec![
        StepPrint::of_call(&call),
        StepPrint::of_message(Role::Agent, text(2)),
        StepPrint::of_message(Role::User, text(0)),
        StepPrint::of_output((flags & 64 != 0).then_some(u32::MAX), Some(u32::from(*exit)), None),
    ]
}

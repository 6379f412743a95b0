//! Seeds that nobody writes by hand: the rows of a fleet in which much has happened, and what it wanted done.

use verger_core::command::{Command, Order};
use verger_core::effect::Effect;
use verger_core::fingerprint::{CallPrint, ResultPrint, TextPrint};
use verger_core::messages::{NewMessage, Priority};
use verger_core::notice::Notice;
use verger_core::record::effect_to_bytes;
use verger_core::resources::Load;
use verger_core::signal::{
    Body, Channel, Content, Context, Exit, Failure, Heartbeat, Signal, Spawn, Status, TaskChange, Trust,
};
use verger_core::stuck::{StepPrint, ToolStep};
use verger_core::time::WallTime;
use verger_core::{Collector, Fleet, Row, RowKey, Span, Timestamp};

use crate::state::{NAMES, NOW, key, policies};

/// Each seed with its place among the seeds.
pub(super) fn all() -> Vec<(String, Vec<u8>)> {
    let (rows, effects) = eventful();
    let packed: Vec<_> =
        rows.iter().filter_map(|(key, bytes)| Some((number(key)?, content(bytes)))).collect();
    let mut all =
        vec![("rows/all".to_owned(), packed.iter().flat_map(|(key, row)| pack(*key, row)).collect())];
    let mut kinds: Vec<u8> = packed.iter().map(|((kind, _), _)| *kind).collect();
    kinds.dedup();
    for kind in kinds {
        let of_kind = packed.iter().find(|((of, _), _)| *of == kind).expect("it is there");
        all.push((format!("rows/kind-{kind:02}"), pack(of_kind.0, of_kind.1)));
    }
    let mut seen = Vec::new();
    for effect in effects {
        let kind = std::mem::discriminant(&effect.action);
        if !seen.contains(&kind) {
            seen.push(kind);
            let bytes = effect_to_bytes(&effect);
            all.push((format!("effects/{:02}", seen.len()), content(&bytes).to_vec()));
        }
    }
    all
}

/// What lies between the layout and the checksum.
fn content(sealed: &[u8]) -> &[u8] {
    &sealed[1..sealed.len() - 4]
}

fn pack((kind, name): (u8, u8), content: &[u8]) -> Vec<u8> {
    let length = u16::try_from(content.len()).expect("a row of moderate size");
    [&[kind, name], length.to_le_bytes().as_slice(), content].concat()
}

/// The two numbers of a row's name; none if it has a name that no case may use.
fn number(wanted: &RowKey) -> Option<(u8, u8)> {
    (0..16)
        .flat_map(|kind| (0..=255).map(move |name| (kind, name)))
        .find(|(kind, name)| key(*kind, *name) == *wanted)
}

fn signal(agent: &str, body: Body) -> Signal {
    let content =
        Content { incarnation: None, sent_at: None, received_at: WallTime(0), trust: Trust::Verified, body };
    Signal { agent: agent.into(), content }
}

fn finished(call: u64, failed: bool) -> Body {
    let (args, result) = (r#"{"cmd":"make test"}"#, "make: *** no rule to make target `test'");
    let step = ToolStep { tool: "bash", args, result, error: Some(failed), ..ToolStep::default() };
    Body::ToolFinished {
        call,
        print: CallPrint::of("bash", args),
        result: ResultPrint::of(result, failed, Some(Span::secs(1))),
        tool: Some("bash".into()),
        step: Some(Box::new(StepPrint::of_call(&step))),
    }
}

/// What an agent says once: one of each kind.
fn sayings() -> Vec<Body> {
    let beat = Heartbeat {
        task: Some("t".into()),
        tokens: Some(1 << 40),
        errors: Some(3),
        progress: Some(9),
        status: Some(Status::Busy),
        busy_for: Some(Span::minutes(5)),
        context: Some(Context { used: 99, limit: 100 }),
        cost_micros: Some(1),
        ..Heartbeat::default()
    };
    let failure = Failure {
        text: TextPrint::of("429"),
        unrecoverable: false,
        provider: true,
        retry_after: Some(Span::secs(9)),
    };
    vec![
        Body::Task(TaskChange::Assigned("t".into())),
        Body::Heartbeat(beat),
        Body::Error(failure),
        Body::SubagentStarted { id: 4 },
        Body::ModelStarted,
        Body::Blocker { reason: "no access".into() },
        Body::Load(Load { memory_bytes: 1 << 33, cpu_millis: 900 }),
        Body::Checkpoint { id: "c".into() },
    ]
}

/// A fleet in which one agent loops, one is silent, one says much and one has ended.
fn eventful() -> (Vec<(RowKey, Vec<u8>)>, Vec<Effect>) {
    let mut fleet = Fleet::new(policies(), 3);
    let mut out = Collector::default();
    for name in &NAMES[..4] {
        for body in [Body::Spawn(Spawn::default()), Body::Channel(Channel::Opened)] {
            let _ = fleet.observe(Timestamp::ZERO, &signal(name, body), &mut out);
        }
    }
    let mut now = Timestamp::ZERO;
    for second in (0..3_900).step_by(10) {
        now = Timestamp::from_millis(second * 1_000);
        let _ = fleet.observe(now, &signal("b", finished(second, second % 20 == 0)), &mut out);
        let tokens = Body::Tokens { input: second, output: 900, cost_micros: 5 };
        let _ = fleet.observe(now, &signal("c", tokens), &mut out);
        fleet.wake(now, &mut out);
    }
    for body in sayings() {
        let _ = fleet.observe(now, &signal("c", body), &mut out);
    }
    let _ = fleet.observe(now, &signal("d", Body::Task(TaskChange::Assigned("t".into()))), &mut out);
    let _ = fleet.observe(now, &signal("d", Body::Exit(Exit { code: Some(1), signal: None })), &mut out);
    ordered(&mut fleet, now, &mut out);
    for later in [Span::secs(10), Span::secs(60)] {
        fleet.wake(now + later, &mut out);
    }
    assert!(now < NOW, "the monitor is started after all of it");
    let mut rows = Vec::new();
    fleet.take_all_rows(&mut |Row { key, bytes }| rows.extend(bytes.map(|bytes| (key, bytes))));
    rows.sort();
    (rows, out.effects)
}

/// What people and other agents ask of it.
fn ordered(fleet: &mut Fleet, now: Timestamp, out: &mut Collector) {
    for order in [Order::Escalate { reason: "look".into() }, Order::Nudge { text: Some("go on".into()) }] {
        let command = Command { agent: "c".into(), incarnation: None, by: "ada".into(), order };
        let _ = fleet.command(now, &command, out);
    }
    let message = NewMessage {
        id: "m".into(),
        from: "c".into(),
        to: "a".into(),
        priority: Priority::Urgent,
        reply_to: None,
        task: Some("t".into()),
    };
    fleet.notice(now, &Notice::Send(Box::new(message)), out).expect("it is taken");
}

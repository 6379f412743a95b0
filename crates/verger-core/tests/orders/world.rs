//! Random worlds: every kind of signal, with huge numbers, wrong lives, unproven senders, copies and orders.

use proptest::prelude::*;
use verger_core::command::{Command, Decision, Order};
use verger_core::effect::{EffectKey, Outcome};
use verger_core::fingerprint::{CallClass, CallPrint, ResultPrint, TextPrint};
use verger_core::notice::Notice;
use verger_core::policy::{Mode, Policies, RestartPolicy};
use verger_core::resources::Load;
use verger_core::signal::{
    Author, Awaited, Body, Channel, Content, Context, Exit, Failure, Heartbeat, Output, Signal, Spawn,
    Status, StatusReport, TaskChange, Trust,
};
use verger_core::time::{AgentTime, WallTime};
use verger_core::{AgentId, Incarnation, Span};

/// One step of a world.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    Signal(Signal),
    Command(Command),
    Notice(Notice),
    /// What became of the effect that many back, if there is one.
    Outcome(usize, Outcome),
    /// Nothing but time.
    Wait,
}

pub(crate) fn number() -> impl Strategy<Value = u64> {
    prop_oneof![4 => 0..6_u64, 2 => 0..100_000_u64, 1 => Just(u64::MAX), 1 => any::<u64>()]
}

pub(crate) fn span() -> impl Strategy<Value = Span> {
    prop_oneof![
        3 => (0..7_200_u64).prop_map(Span::secs),
        1 => Just(Span::ZERO),
        1 => Just(Span::FOREVER),
        1 => any::<u64>().prop_map(Span::millis),
    ]
}

fn name() -> impl Strategy<Value = &'static str> {
    prop_oneof![Just("t1"), Just("t2"), Just(""), Just("täsk\u{202e}🦀")]
}

fn status() -> impl Strategy<Value = Status> {
    prop_oneof![
        Just(Status::Healthy),
        Just(Status::Busy),
        Just(Status::Degraded),
        Just(Status::Idle),
        Just(Status::Waiting)
    ]
}

fn awaited() -> impl Strategy<Value = Awaited> {
    prop_oneof![
        Just(Awaited::Tool),
        Just(Awaited::Model),
        Just(Awaited::Subagent),
        Just(Awaited::Person),
        Just(Awaited::Provider),
        Just(Awaited::Timer)
    ]
}

fn role() -> impl Strategy<Value = Option<&'static str>> {
    prop_oneof![6 => Just(None), 1 => Just(Some("critical")), 1 => Just(Some("active")), 1 => Just(Some("nobody"))]
}

fn heartbeat() -> impl Strategy<Value = Body> {
    let counts = (prop::option::of(number()), prop::option::of(number()), prop::option::of(0..4_u64));
    let said = (prop::option::of(status()), prop::option::of(span()), prop::option::of(name()), role());
    let context = prop::option::of((number(), number()));
    (counts, said, context, prop::option::of(number())).prop_map(
        |((tokens, errors, progress), (status, busy_for, task, role), context, cost_micros)| {
            Body::Heartbeat(Heartbeat {
                task: task.map(Into::into),
                role: role.map(Into::into),
                tokens,
                errors,
                progress,
                status,
                busy_for,
                context: context.map(|(used, limit)| Context { used, limit }),
                cost_micros,
            })
        },
    )
}

fn call() -> impl Strategy<Value = (u64, CallPrint)> {
    (prop_oneof![0..4_u64, any::<u64>()], 0..3_u64, any::<bool>()).prop_map(|(call, digest, waits)| {
        let class = if waits { CallClass::Waiting } else { CallClass::Plain };
        (call, CallPrint { digest, class })
    })
}

fn result() -> impl Strategy<Value = ResultPrint> {
    (0..3_u64, any::<bool>(), prop::bool::weighted(0.1), prop::option::of(span()))
        .prop_map(|(digest, failed, outage, took)| ResultPrint { digest, failed, outage, took })
}

fn failure() -> impl Strategy<Value = Body> {
    (0..3_u64, prop::bool::weighted(0.2), any::<bool>(), prop::option::of(span())).prop_map(
        |(text, unrecoverable, provider, retry_after)| {
            Body::Error(Failure { text: TextPrint(text), unrecoverable, provider, retry_after })
        },
    )
}

fn body() -> impl Strategy<Value = Body> {
    let words = prop_oneof![
        2 => heartbeat(),
        1 => Just(Body::Activity),
        3 => (call(), prop::option::of(span()))
            .prop_map(|((call, print), limit)| Body::ToolStarted { call, print, limit }),
        6 => (call(), result()).prop_map(|((call, print), result)| Body::ToolFinished { call, print, result, tool: Some("bash".into()), step: None }),
        2 => prop_oneof![Just(Author::Agent), Just(Author::Person), Just(Author::System)]
            .prop_map(|author| Body::Message { author, text: TextPrint(1), step: None }),
        1 => Just(Body::ModelStarted),
        1 => (any::<u64>(), any::<u64>())
            .prop_map(|(memory_bytes, cpu_millis)| Body::Load(Load { memory_bytes, cpu_millis })),
        1 => Just(Body::ModelFinished),
        1 => (0..40_u64).prop_map(|id| Body::SubagentStarted { id }),
        1 => (0..40_u64).prop_map(|id| Body::SubagentFinished { id }),
        1 => Just(Body::Compaction),
        2 => (number(), number(), number())
            .prop_map(|(input, output, cost_micros)| Body::Tokens { input, output, cost_micros }),
    ];
    let deeds = prop_oneof![
        2 => (prop::option::of(any::<u32>()), prop::option::of(0..9_u32), prop::option::of(any::<u32>())).prop_map(
            |(files_changed, tests_passed, tests_failed)| Body::Output(Output { files_changed, tests_passed, tests_failed })
        ),
        2 => failure(),
        3 => (status(), prop::option::of(awaited()), prop::option::of(span())).prop_map(
            |(status, waiting_on, lasting)| Body::Status(StatusReport { status, waiting_on, lasting })
        ),
        1 => Just(Body::Handoff { reason: "full".into() }),
        1 => Just(Body::Blocker { reason: "no key".into() }),
        2 => (any::<u32>(), prop::option::of(status())).prop_map(|(seq, status)| Body::Pong { seq, status }),
        2 => (role(), prop::option::of(name())).prop_map(|(role, task)| {
            Body::Spawn(Spawn {
                host: Some("h".into()),
                provider: Some("p".into()),
                role: role.map(Into::into),
                task: task.map(Into::into),
            })
        }),
        1 => (any::<Option<i32>>(), any::<Option<i32>>()).prop_map(|(code, signal)| Body::Exit(Exit { code, signal })),
        1 => name().prop_map(|id| Body::Checkpoint { id: id.into() }),
        1 => name().prop_map(|task| Body::Task(TaskChange::Assigned(task.into()))),
        1 => name().prop_map(|task| Body::Task(TaskChange::Ended(task.into()))),
        2 => Just(Body::Channel(Channel::Opened)),
        1 => Just(Body::Channel(Channel::Closed)),
        1 => (any::<u32>(), outcome()).prop_map(|(seq, outcome)| {
            let key = EffectKey { agent: "a".into(), incarnation: Incarnation(seq % 4), seq };
            Body::Outcome { key, outcome }
        }),
    ];
    prop_oneof![words, deeds]
}

fn outcome() -> impl Strategy<Value = Outcome> {
    prop_oneof![
        4 => Just(Outcome::Delivered),
        1 => Just(Outcome::Refused),
        1 => Just(Outcome::Unreachable),
        1 => Just(Outcome::Stopped),
        1 => Just(Outcome::Failed),
    ]
}

pub(crate) fn agent() -> impl Strategy<Value = AgentId> {
    prop_oneof![4 => Just("a"), 2 => Just("b"), 1 => Just("c")].prop_map(AgentId::from)
}

fn life() -> impl Strategy<Value = Option<Incarnation>> {
    prop_oneof![8 => Just(None), 2 => (0..4_u32).prop_map(|n| Some(Incarnation(n))), 1 => Just(Some(Incarnation(u32::MAX)))]
}

fn signal() -> impl Strategy<Value = Step> {
    let clock = prop_oneof![
        3 => Just(None),
        2 => (-100_000..100_000_i64).prop_map(Some),
        1 => any::<i64>().prop_map(Some),
        1 => Just(Some(i64::MIN)),
    ];
    let wall = prop_oneof![8 => 0..1_000_000_i64, 1 => any::<i64>()];
    (agent(), life(), clock, wall, prop::bool::weighted(0.15), body()).prop_map(
        |(agent, incarnation, clock, wall, unverified, body)| {
            let trust = if unverified { Trust::Unverified } else { Trust::Verified };
            let content = Content {
                incarnation,
                sent_at: clock.map(AgentTime),
                received_at: WallTime(wall),
                trust,
                body,
            };
            Step::Signal(Signal { agent, content })
        },
    )
}

fn command() -> impl Strategy<Value = Step> {
    let decision = prop_oneof![
        prop::option::of(span()).prop_map(Decision::AllowMoreTime),
        Just(Decision::ForceHandoff),
        Just(Decision::TerminateAndRecover),
    ];
    let mode = prop_oneof![Just(Mode::Observe), Just(Mode::Nudge), Just(Mode::Escalate), Just(Mode::Full)];
    let order = prop_oneof![
        Just(Order::Nudge { text: None }),
        Just(Order::Escalate { reason: "asked".into() }),
        decision.prop_map(|decision| Order::Decide { decision, reason: "so".into() }),
        Just(Order::Terminate { reason: "told".into() }),
        role().prop_map(|role| Order::SetRole(role.unwrap_or("default").into())),
        prop::option::of(mode).prop_map(Order::SetMode),
        Just(Order::Unregister),
    ];
    (agent(), life(), order).prop_map(|(agent, incarnation, order)| {
        Step::Command(Command { agent, incarnation, by: "ada".into(), order })
    })
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        20 => signal(),
        2 => command(),
        3 => crate::desk::notice().prop_map(Step::Notice),
        6 => crate::watch::notice().prop_map(Step::Notice),
        4 => (0..6_usize, outcome()).prop_map(|(back, outcome)| Step::Outcome(back, outcome)),
        2 => Just(Step::Wait),
    ]
}

/// How long until the next step, in tenths of a second.
fn pause() -> impl Strategy<Value = u64> {
    prop_oneof![4 => 0..20_u64, 4 => 0..3_000_u64, 2 => 0..20_000_u64, 1 => 0..1_000_000_u64]
}

pub(crate) type World = Vec<(u64, Step)>;

pub(crate) fn world() -> impl Strategy<Value = World> {
    // Copies and changes of order: some steps come again later.
    (
        prop::collection::vec((pause(), step()), 1..90),
        prop::collection::vec((any::<u16>(), any::<u16>()), 0..12),
    )
        .prop_map(|(mut steps, copies)| {
            for (from, to) in copies {
                let copy = steps[usize::from(from) % steps.len()].clone();
                steps.insert(usize::from(to) % steps.len(), copy);
            }
            steps
        })
}

pub(crate) fn policies() -> impl Strategy<Value = Policies> {
    let mode = prop_oneof![1 => Just(Mode::Observe), 1 => Just(Mode::Nudge), 2 => Just(Mode::Escalate), 4 => Just(Mode::Full)];
    let restart = prop_oneof![1 => Just(RestartPolicy::None), 1 => Just(RestartPolicy::Escalate), 2 => Just(RestartPolicy::Recover)];
    (mode, restart, any::<bool>()).prop_map(|(mode, restart, requires_heartbeats)| {
        let mut policies = Policies::default();
        policies.each(|role| {
            role.mode = mode;
            role.restart = restart;
            role.requires_heartbeats = requires_heartbeats;
        });
        policies
    })
}

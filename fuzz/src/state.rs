//! What a restart reads: state rows, and effects whose outcome is not known.
//!
//! Both are sealed by a checksum against accidents. A case comes without it and is given the right one here, so that
//! what lies behind the seal is reached: whoever can write the disk can write a checksum.

use std::collections::BTreeMap;

use verger_core::breaker::BreakerName;
use verger_core::policy::{Mode, Policies, RestartPolicy};
use verger_core::record::{effect_from_bytes, effect_to_bytes};
use verger_core::{Collector, Fleet, Row, RowKey, Span, Timestamp, messages, recovery};

use crate::assert_told;

/// The layout that rows and effects have at present.
const LAYOUT: u8 = 1;

/// When the monitor is started.
pub(crate) const NOW: Timestamp = Timestamp::from_millis(4_000_000);

/// Names that a case may use, by number.
pub(crate) const NAMES: [&str; 8] = ["a", "b", "c", "d", "t", "m", "a/tool/bash", ""];

/// Rows of a fleet, as many as the bytes hold: what it is about (two bytes), its length (two bytes), its content.
pub fn rows(bytes: &[u8]) {
    let rows = unpacked(bytes);
    let bare: Vec<_> = rows.iter().map(|(key, content)| (key.clone(), content.clone())).collect();
    if let Err(error) = Fleet::restore(policies(), 3, bare, NOW) {
        assert_told(&error.to_string());
        assert!(error.code().starts_with("VG02"));
    }
    let sealed = rows.into_iter().map(|(key, content)| (key, sealed(&content)));
    let Ok(mut fleet) = Fleet::restore(policies(), 3, sealed, NOW) else { return };
    let written = all_rows(&mut fleet);
    let mut again = Fleet::restore(policies(), 3, written.clone(), NOW)
        .unwrap_or_else(|error| panic!("what was restored cannot be restored again: {error}"));
    assert_eq!(all_rows(&mut again), written, "what was restored is written another way");
    lived(&mut fleet);
}

/// It goes on with what it got.
fn lived(fleet: &mut Fleet) {
    let mut out = Collector::default();
    for later in [Span::ZERO, Span::millis(100), Span::minutes(1), Span::hours(1)] {
        let now = NOW + later;
        fleet.wake(now, &mut out);
        for name in &NAMES[..4] {
            let _ = fleet.view(now, &(*name).into());
        }
        let next = fleet.next_wake();
        assert!(next.is_none_or(|next| now < next), "woken at {now:?}, and wants to be at {next:?}");
    }
}

fn all_rows(fleet: &mut Fleet) -> BTreeMap<RowKey, Vec<u8>> {
    let mut rows = BTreeMap::new();
    fleet.take_all_rows(&mut |Row { key, bytes }| {
        // Steps are given once, to whoever keeps them.
        if let Some(bytes) = bytes.filter(|_| !matches!(key, RowKey::Step(..))) {
            rows.insert(key, bytes);
        }
    });
    rows
}

pub(crate) fn policies() -> Policies {
    let mut policies = Policies::default();
    policies.each(|role| {
        role.mode = Mode::Full;
        role.restart = RestartPolicy::Recover;
    });
    // So that what is used is counted, and rows of it are written.
    policies.resources.task.tokens = Some(u64::MAX);
    policies.resources.fleet.memory_bytes = Some(u64::MAX);
    policies
}

fn unpacked(mut bytes: &[u8]) -> Vec<(RowKey, Vec<u8>)> {
    let mut rows = Vec::new();
    while let Some(([kind, name, low, high], rest)) = bytes.split_first_chunk() {
        let length = usize::from(u16::from_le_bytes([*low, *high])).min(rest.len());
        let (content, rest) = rest.split_at(length);
        rows.push((key(*kind, *name), content.to_vec()));
        bytes = rest;
    }
    rows
}

/// What a row is about, by two numbers.
pub(crate) fn key(kind: u8, name: u8) -> RowKey {
    let text = NAMES[usize::from(name) % NAMES.len()];
    let breaker = || BreakerName::shared(text).unwrap_or_else(|_| "a/tool/bash".parse().expect("a name"));
    match kind % 16 {
        0 => RowKey::Agent(text.into()),
        1 => RowKey::Fleet,
        2 => RowKey::Correlation,
        3 => RowKey::Recovery(recovery::RowKey::Task(text.into())),
        4 => RowKey::Recovery(recovery::RowKey::Books),
        5 => RowKey::Errands,
        6 => RowKey::Task(text.into()),
        7 => RowKey::Message(messages::RowKey::Message(text.into())),
        8 => RowKey::Message(messages::RowKey::Inbox(text.into())),
        9 => RowKey::Message(messages::RowKey::Books),
        10 => RowKey::Breaker(text.parse().unwrap_or_else(|_| breaker())),
        11 => RowKey::Checkpoints(text.parse().unwrap_or_else(|_| breaker())),
        12 => RowKey::Usage,
        13 => RowKey::Worker(text.into()),
        14 => RowKey::Ticket(text.into()),
        _ => RowKey::Step(NAMES[usize::from(name >> 6)].into(), name & 63),
    }
}

/// One effect out of the outbox.
pub fn effects(bytes: &[u8]) {
    if let Err(error) = effect_from_bytes(bytes) {
        assert_told(&error.to_string());
    }
    match effect_from_bytes(&sealed(bytes)) {
        Ok(effect) => {
            assert_eq!(effect_from_bytes(&effect_to_bytes(&effect)), Ok(effect), "written another way");
        }
        Err(error) => assert_told(&error.to_string()),
    }
}

/// The layout before it and the checksum behind it (FNV-1a), as rows and effects are written.
fn sealed(content: &[u8]) -> Vec<u8> {
    let mut bytes = vec![LAYOUT];
    bytes.extend_from_slice(content);
    let sum =
        bytes.iter().fold(0x811c_9dc5, |sum: u32, byte| (sum ^ u32::from(*byte)).wrapping_mul(0x0100_0193));
    bytes.extend(sum.to_le_bytes());
    bytes
}

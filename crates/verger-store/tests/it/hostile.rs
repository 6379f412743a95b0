//! Whatever names, bodies and orders of events come in: the store keeps them as they are, or says no.

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;
use verger_core::fleet::{Row, RowKey};
use verger_engine::Store;
use verger_store::CheckpointBody;

use crate::desk::{Desk, batch, checkpoint, nudge, save};

/// Names that break programs: empty, with quotes, zero bytes, wildcards and text of other scripts.
fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(String::new()),
        Just("'; DROP TABLE events; --".to_owned()),
        Just("../../etc/passwd".to_owned()),
        Just("%_\0\n".to_owned()),
        "\\PC{0,40}",
        "[a-c]",
    ]
}

#[derive(Clone, Debug)]
struct Step {
    id: u8,
    task: u8,
    parent: Option<u8>,
    body: Vec<u8>,
}

fn step() -> impl Strategy<Value = Step> {
    let body = prop_oneof![
        prop::collection::vec(any::<u8>(), 0..8),
        (0..3_u8).prop_map(|byte| vec![byte; verger_store::INLINE_MAX + 1]),
    ];
    (0..6_u8, 0..2_u8, prop::option::of(0..6_u8), body).prop_map(|(id, task, parent, body)| Step {
        id,
        task,
        parent,
        body,
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn any_name_and_any_bytes_come_back_as_they_were(
        names in prop::collection::btree_set(name(), 1..8),
        content in prop::collection::vec(any::<u8>(), 0..64),
    ) {
        let desk = Desk::new();
        let (mut store, archive) = desk.open();
        let mut all = batch(1, 10);
        for (seq, name) in (1..).zip(&names) {
            Arc::make_mut(&mut all.rows).push(Row { key: RowKey::Agent(name.as_str().into()), bytes: Some(content.clone()) });
            all.effects.push(nudge(name, seq));
            save(&archive, checkpoint(name, name, None, &content)).expect("saved");
        }
        store.commit(&all).expect("committed");
        drop((store, archive));
        let (mut store, archive) = desk.open();
        let loaded = store.load().expect("loaded");
        let found: Vec<_> = loaded.unfinished.iter().map(|left| left.effect.key.agent.to_string()).collect();
        prop_assert_eq!(found, names.iter().cloned().collect::<Vec<_>>(), "in the order of their keys");
        prop_assert_eq!(loaded.rows.len(), names.len());
        for name in &names {
            prop_assert!(loaded.rows.contains(&(RowKey::Agent(name.as_str().into()), content.clone())));
            let (info, body) = archive.checkpoint(&name.as_str().into()).expect("read").expect("there");
            prop_assert_eq!(info.task.as_str(), name);
            prop_assert_eq!(body, CheckpointBody::Intact(content.clone()));
        }
    }

    /// Against a model that fits in ten lines: the first of a name wins, and a parent must be of the same task.
    #[test]
    fn any_order_of_saves_leaves_the_chain_that_the_rules_say(steps in prop::collection::vec(step(), 1..20)) {
        let desk = Desk::new();
        let (_store, archive) = desk.open();
        let mut model = BTreeMap::<u8, Step>::new();
        for step in steps {
            let known = model.get(&step.id);
            let parent_fits = step.parent.is_none_or(|parent| {
                model.get(&parent).is_some_and(|parent| parent.task == step.task)
            });
            let expected = known.map_or(parent_fits, |known| {
                (known.task, known.parent, &known.body) == (step.task, step.parent, &step.body)
            });
            let [id, task] = [step.id, step.task].map(|number| number.to_string());
            let parent = step.parent.map(|parent| parent.to_string());
            let saved = save(&archive, checkpoint(&id, &task, parent.as_deref(), &step.body));
            prop_assert_eq!(saved.is_ok(), expected, "{:?}", saved);
            if expected {
                model.entry(step.id).or_insert(step);
            }
        }
        for id in 0..6 {
            let found = archive.checkpoint(&id.to_string().into()).expect("read");
            let bodies = found.map(|(_, body)| body);
            prop_assert_eq!(bodies, model.get(&id).map(|step| CheckpointBody::Intact(step.body.clone())));
        }
    }
}

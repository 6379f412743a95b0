//! The walk to the newest valid checkpoint (L27).

use proptest::prelude::*;

use super::world::{at, line};
use crate::id::{CheckpointId, TaskId};
use crate::recovery::*;

fn walked(checkpoints: &[Checkpoint]) -> Chain {
    walk(&TaskId::from("t"), checkpoints, 10_000)
}

fn newest(checkpoints: &[Checkpoint]) -> Option<String> {
    walked(checkpoints).newest().map(|candidate| candidate.id.to_string())
}

/// Checkpoints `id<parent` in the order in which they were stored; `!` damaged, `?` missing, `-` no parent.
fn drawn(picture: &str) -> Vec<Checkpoint> {
    let one = |(order, text): (usize, &str)| {
        let content = match text.chars().last() {
            Some('!') => Content::Damaged,
            Some('?') => Content::Missing,
            _ => Content::Intact,
        };
        let (id, parent) = text.trim_end_matches(['!', '?']).split_once('<').expect("id<parent");
        Checkpoint {
            id: id.into(),
            task: "t".into(),
            parent: (parent != "-").then(|| parent.into()),
            hash: ContentHash([order as u8; 32]),
            content,
            order: order as u64,
            made_at: at(order as u64),
        }
    };
    picture.split_whitespace().enumerate().map(one).collect()
}

#[test]
fn l27_the_newest_checkpoint_is_taken_when_it_is_valid() {
    let chain = walked(&line("t", &["c1", "c2", "c3"]));
    assert_eq!(chain.newest().map(|newest| newest.id.as_str()), Some("c3"));
    assert_eq!(chain.newest().map(|newest| newest.ahead), Some(0), "nothing is lost");
    assert!(chain.skipped().is_empty() && chain.breaks().is_empty());
    let order: Vec<_> = chain.candidates().iter().map(|candidate| candidate.id.as_str()).collect();
    assert_eq!(order, ["c3", "c2", "c1"]);
}

#[test]
fn l27_damaged_and_missing_ones_are_passed_over_and_named() {
    let chain = walked(&drawn("a<- b<a c<b! d<c?"));
    assert_eq!(chain.newest().map(|newest| (newest.id.as_str(), newest.ahead)), Some(("b", 2)));
    let skipped: Vec<_> =
        chain.skipped().iter().map(|skipped| (skipped.id.as_str(), skipped.content)).collect();
    assert_eq!(skipped, [("d", Content::Missing), ("c", Content::Damaged)]);
}

#[test]
fn l27_no_valid_checkpoint_is_left() {
    assert_eq!(walked(&[]).newest(), None);
    let chain = walked(&drawn("a<-! b<a?"));
    assert_eq!((chain.newest(), chain.skipped_count()), (None, 2));
}

#[test]
fn l27_a_broken_chain_is_reported_and_gone_around() {
    let chain = walked(&drawn("a<- b<a d<gone!"));
    assert_eq!(chain.newest().map(|newest| newest.id.as_str()), Some("b"));
    assert_eq!(chain.breaks(), [BrokenLink { child: "d".into(), why: Break::ParentUnknown }]);

    let mut checkpoints = drawn("a<- x<- c<x!");
    checkpoints[1].task = "another".into();
    let chain = walked(&checkpoints);
    assert_eq!(chain.newest().map(|newest| newest.id.as_str()), Some("a"), "never another task's state");
    assert_eq!(chain.breaks(), [BrokenLink { child: "c".into(), why: Break::ParentOfAnotherTask }]);
}

#[test]
fn l27_what_is_broken_behind_the_chosen_one_is_nobodys_concern() {
    assert!(walked(&drawn("b<pruned c<b")).breaks().is_empty());
}

#[test]
fn l27_cycles_end() {
    let chain = walked(&drawn("a<b! b<a!"));
    assert_eq!(chain.newest(), None);
    assert_eq!(chain.breaks(), [BrokenLink { child: "a".into(), why: Break::Cycle }]);
    assert_eq!(newest(&drawn("z<- a<c b<a c<b!")), Some("b".to_owned()));
    assert_eq!(newest(&drawn("z<- a<a!")), Some("z".to_owned()), "one that names itself");
}

#[test]
fn l27_the_newest_branch_of_a_fork_wins_with_its_ancestors() {
    assert_eq!(newest(&drawn("a<- b<a c<a d<c")), Some("d".to_owned()));
    assert_eq!(newest(&drawn("a<- b<a c<a! d<c!")), Some("a".to_owned()), "not the branch that was left");
    assert_eq!(newest(&drawn("a<-! b<a c<a! d<c!")), Some("b".to_owned()), "but rather that than nothing");
}

#[test]
fn l27_one_that_was_stored_after_its_child_is_not_taken_for_newer() {
    assert_eq!(newest(&drawn("a<- c<b b<a")), Some("c".to_owned()));
    assert_eq!(newest(&drawn("a<- c<b! b<a")), Some("b".to_owned()));
}

#[test]
fn l27_a_chain_of_any_length_is_walked_in_bounded_steps_and_what_is_left_is_reported() {
    let ids: Vec<String> = (0..5_000).map(|number| format!("c{number:05}")).collect();
    let checkpoint = |(number, id): (usize, &String)| Checkpoint {
        id: id.as_str().into(),
        task: "t".into(),
        parent: number.checked_sub(1).map(|before| ids[before].as_str().into()),
        hash: ContentHash::default(),
        content: if number < 10 { Content::Intact } else { Content::Damaged },
        order: number as u64,
        made_at: at(number as u64),
    };
    let checkpoints: Vec<_> = ids.iter().enumerate().map(checkpoint).collect();
    let short = walk(&"t".into(), &checkpoints, 1_000);
    assert_eq!((short.newest(), short.unseen(), short.skipped_count()), (None, 4_000, 1_000));
    assert!(short.breaks().is_empty(), "where the walk ends the chain is not broken");
    assert_eq!(short.skipped().len(), 16, "named are a few");
    let whole = walk(&"t".into(), &checkpoints, 10_000);
    assert_eq!(whole.newest().map(|newest| newest.ahead), Some(4_990));
    assert_eq!(whole.candidates().len(), 8);
}

/// Follow the parents of the newest; when that leads nowhere, of the newest that was not seen.
fn oracle(checkpoints: &[Checkpoint]) -> Option<CheckpointId> {
    let mut left: Vec<&Checkpoint> = checkpoints.iter().collect();
    while let Some(newest) = left.iter().copied().max_by_key(|checkpoint| checkpoint.order) {
        let mut next = Some(newest);
        while let Some(checkpoint) = next {
            if checkpoint.content == Content::Intact {
                return Some(checkpoint.id.clone());
            }
            left.retain(|other| other.id != checkpoint.id);
            next = left.iter().copied().find(|other| Some(&other.id) == checkpoint.parent.as_ref());
        }
    }
    None
}

/// Any links at all: forwards, backwards, to itself, to nobody.
fn any_chain() -> impl Strategy<Value = Vec<Checkpoint>> {
    let one =
        (0..14_usize, prop_oneof![Just(Content::Intact), Just(Content::Damaged), Just(Content::Missing)]);
    prop::collection::vec(one, 0..12).prop_map(|drawn| {
        let one = |(order, (parent, content)): (usize, (usize, Content))| Checkpoint {
            id: format!("c{order}").into(),
            task: "t".into(),
            parent: (parent > 0).then(|| format!("c{parent}").into()),
            hash: ContentHash([order as u8; 32]),
            content,
            order: order as u64,
            made_at: at(order as u64),
        };
        drawn.into_iter().enumerate().map(one).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn l27_the_newest_valid_one_is_chosen_on_any_honest_chain(mut checkpoints in any_chain()) {
        // Honest: a parent is older than its child.
        for (order, checkpoint) in checkpoints.iter_mut().enumerate() {
            let number = |parent: &CheckpointId| parent.as_str()[1..].parse::<usize>().expect("c and a number");
            checkpoint.parent.take_if(|parent| number(parent) >= order);
        }
        let chosen = walked(&checkpoints).newest().map(|newest| newest.id.clone());
        prop_assert_eq!(chosen, oracle(&checkpoints));
    }

    #[test]
    fn l27_whatever_the_links_something_valid_is_found_if_there_is_any(
        checkpoints in any_chain(),
        rotate in 0..12_usize,
    ) {
        let chain = walked(&checkpoints);
        let valid = checkpoints.iter().filter(|checkpoint| checkpoint.content == Content::Intact);
        prop_assert_eq!(chain.candidates().len(), valid.clone().count().min(8));
        let is_valid = |candidate: &Candidate| valid.clone().any(|checkpoint| checkpoint.id == candidate.id);
        prop_assert!(chain.candidates().iter().all(is_valid));
        if chain.newest().is_none() {
            prop_assert_eq!(chain.skipped_count() as usize, checkpoints.len(), "each is looked at once");
        }
        let mut turned = checkpoints.clone();
        turned.rotate_left(rotate.min(checkpoints.len()));
        prop_assert_eq!(walked(&turned), chain, "in whatever order they are given");
    }
}

#[test]
fn l27_only_so_many_broken_links_are_named() {
    let broken = |order: u8| Checkpoint {
        id: format!("c{order}").as_str().into(),
        task: "t".into(),
        parent: Some(format!("lost{order}").as_str().into()),
        hash: ContentHash([order; 32]),
        content: Content::Damaged,
        order: u64::from(order),
        made_at: at(u64::from(order)),
    };
    let chain = walk(&"t".into(), &(0..40).map(broken).collect::<Vec<_>>(), 100);
    assert_eq!((chain.breaks.len(), chain.skipped.len(), chain.skipped_count), (16, 16, 40));
}

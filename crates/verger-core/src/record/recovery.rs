//! What is stored of recoveries.

use super::{Damaged, Stored};
use crate::recovery::{
    AskedToEnd, Blame, Break, BrokenLink, Budgets, Candidate, Chain, Closing, Condition, Content,
    ContentHash, Count, Counted, Doubt, Doubted, Held, Hold, Kept, Life, Note, Phase, Recovery, Review,
    Shared, Skipped, Word,
};

fields!(Recovery {
    phase,
    since,
    life,
    former,
    attempt,
    start,
    started,
    from,
    wanted,
    chain,
    surveyed,
    blamed,
    blamed_start,
    progressed,
    reason,
    ended_at,
    doubts,
    raised,
    closed,
});
fields!(Shared { budgets, frozen, starts });
fields!(Budgets { hour, burst, agents });
fields!(Note { at, word });
fields!(Counted { count, recovery, note });
fields!(Count { attempt, blamed, until });
fields!(Life { agent, incarnation });
fields!(Hold { until, why });
fields!(Doubt { since, of, asked });
fields!(AskedToEnd { start, agent, again_at });
fields!(Blame { id, hash, times });
fields!(Chain { candidates, skipped, skipped_count, breaks, unseen });
fields!(Candidate { id, hash, made_at, ahead });
fields!(Skipped { id, content });
fields!(BrokenLink { child, why });

impl Stored for ContentHash {
    fn put(&self, row: &mut Vec<u8>) {
        self.0.put(row);
    }

    fn take(row: &mut &[u8]) -> Result<Self, Damaged> {
        Stored::take(row).map(Self)
    }
}

variants!(Phase {
    0 = Waiting { at, held, by }, 1 = Running { deadline }, 2 = Watching { until, well },
    3 = Succeeded { stable_at }, 4 = Failed { forget_at }, 5 = HumanReview { why },
});
variants!(Kept { 0 = Recovery(recovery), 1 = Note(note), 2 = Counted(counted) });
variants!(Held { 0 = Hour, 1 = Burst, 2 = Agent, 3 = Asked, 4 = Survey });
variants!(Doubted { 0 = Life(life), 1 = Start(start), 2 = Others });
variants!(Word { 0 = Closed(closing), 1 = Last(life), 2 = TakenOver(life) });
variants!(Closing { 0 = Finished, 1 = Cancelled, 2 = Failed });
variants!(Content { 0 = Intact, 1 = Damaged, 2 = Missing });
variants!(Break { 0 = ParentUnknown, 1 = ParentOfAnotherTask, 2 = Cycle });
variants!(Review { 0 = AttemptsUsedUp, 1 = AgentLimit, 2 = Refused, 3 = AgentElsewhere });
variants!(Condition {
    0 = Review, 1 = FailedAgain, 2 = StartedOver, 3 = ChainBroken, 4 = MayStillRun, 5 = FleetLimit,
    6 = TooMany, 7 = ChainUnknown,
});

//! What is stored of tasks.

use super::{Damaged, Stored};
use crate::tasks::{Ended, Entry, Failed, Final, Inquiry, Spared, Task, Told, WhyTold};

fields!(Task {
    agent,
    description,
    assigned_at,
    due,
    updated_at,
    percent,
    best,
    begun,
    touched_at,
    explanation,
    explained_until,
    explanations,
    waits_until,
    stalled_since,
    inquiry,
    told,
    failed,
});
fields!(Ended { at, agent, how });
fields!(Inquiry { asked_at, repeated, look_at, spent });
fields!(Told { at, why });
fields!(Failed { at, by_own_word });

variants!(Entry { 0 = Open(task), 1 = Ended(ended) });
variants!(Final { 0 = Done, 1 = Failed, 2 = Cancelled });
variants!(WhyTold { 0 = Spared(why), 1 = OnlyWords, 2 = UnverifiedWord });
variants!(Spared { 0 = NotOpen, 1 = NotStalled, 2 = Alive, 3 = NothingKnown });

//! What is stored of tokens and money spent in vain.

use super::{Damaged, Stored};
use crate::waste::{Claim, Delta, Spell, Waste};

fields!(Waste { marked_at, unproven, resting, spell, claim, saved_until, total });
fields!(Spell { since, used, worked, counted_at });
fields!(Claim { from, until, worked, used, most });
fields!(Delta { spent, saved });

//! What is stored of messages.

use super::{Damaged, Stored};
use crate::messages::{Dropped, Ended, How, Marks, Message, Priority, Undelivered, Way};

fields!(Message {
    from,
    to,
    priority,
    reply_to,
    task,
    sent_at,
    clock,
    way,
    attempts,
    failures,
    told_at,
    reminded_at,
    asked_at,
    escalated_at,
    logged_at,
    excused_until,
    ended,
    effect,
});
fields!(Ended { at, how });
fields!(Marks { reminded_at, asked_at, escalated_since });
fields!(Dropped { low, normal, high });

variants!(Priority { 0 = Low, 1 = Normal, 2 = High, 3 = Urgent });
variants!(Way { 0 = Queued, 1 = Delivered, 2 = Withheld { why, retry_at } });
variants!(Undelivered { 0 = NotFound, 1 = Offline, 2 = Timeout });
variants!(How { 0 = Acknowledged, 1 = NotFound, 2 = Expired });

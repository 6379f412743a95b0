//! State rows: the core's own memory, under names that a person can read.

use std::borrow::Cow;

use rusqlite::{Connection, params};
use verger_core::breaker::BreakerName;
use verger_core::fleet::{Row, RowKey};
use verger_core::{messages, recovery};

use crate::error::Error;

/// Into how many parts agents are divided, so that the monitors of a cluster can lease them.
const PARTITIONS: u8 = 64;

/// Writes a row in the place of the one before it.
pub(crate) fn write(db: &Connection, row: &Row) -> rusqlite::Result<()> {
    let (kind, name) = words(&row.key);
    match &row.bytes {
        Some(content) => db
            .prepare_cached(
                "INSERT INTO state_rows (kind, name, partition, content) VALUES (?1, ?2, ?3, ?4)
                 ON CONFLICT (kind, name) DO UPDATE SET content = excluded.content",
            )?
            .execute(params![kind, name, partition_of(&row.key), content]),
        None => db
            .prepare_cached("DELETE FROM state_rows WHERE kind = ?1 AND name = ?2")?
            .execute(params![kind, name]),
    }
    .map(drop)
}

fn partition_of(key: &RowKey) -> Option<u8> {
    match key {
        RowKey::Agent(agent)
        | RowKey::Worker(agent)
        | RowKey::Step(agent, _)
        | RowKey::StepsBefore(agent) => Some(partition(agent.as_str())),
        _ => None,
    }
}

/// All rows, as a restart reads them.
pub(crate) fn load(db: &Connection) -> Result<Vec<(RowKey, Vec<u8>)>, Error> {
    let doing = "read the state rows";
    let mut query = db.prepare("SELECT kind, name, content FROM state_rows").map_err(Error::sql(doing))?;
    let mut rows = query.query([]).map_err(Error::sql(doing))?;
    let mut loaded = Vec::new();
    while let Some(row) = rows.next().map_err(Error::sql(doing))? {
        let read = || rusqlite::Result::Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?, row.get(2)?));
        let (kind, name, content) = read().map_err(Error::sql(doing))?;
        let key = key(&kind, &name).ok_or(Error::UnknownRow { kind, name })?;
        loaded.push((key, content));
    }
    Ok(loaded)
}

/// In which part an agent is, for ever: the first byte of its hash decides.
pub(crate) fn partition(agent: &str) -> u8 {
    blake3::hash(agent.as_bytes()).as_bytes()[0] % PARTITIONS
}

/// What a row is about, as two words. The fleet's own rows have no name.
fn words(key: &RowKey) -> (&'static str, Cow<'_, str>) {
    let (kind, name) = match key {
        RowKey::Agent(agent) => ("agent", agent.as_str()),
        RowKey::Fleet => ("fleet", ""),
        RowKey::Correlation => ("correlation", ""),
        RowKey::Recovery(recovery::RowKey::Task(task)) => ("recovery", task.as_str()),
        RowKey::Recovery(recovery::RowKey::Books) => ("recovery books", ""),
        RowKey::Errands => ("errands", ""),
        RowKey::Task(task) => ("task", task.as_str()),
        RowKey::Message(messages::RowKey::Message(message)) => ("message", message.as_str()),
        RowKey::Message(messages::RowKey::Inbox(agent)) => ("inbox", agent.as_str()),
        RowKey::Message(messages::RowKey::Books) => ("message books", ""),
        RowKey::Breaker(name) => ("breaker", name.as_str()),
        RowKey::Checkpoints(name) => ("waiting checkpoints", name.as_str()),
        RowKey::Usage => ("usage", ""),
        RowKey::Worker(agent) => ("worker", agent.as_str()),
        RowKey::Ticket(ticket) => ("ticket", ticket.as_str()),
        RowKey::StepsBefore(agent) => ("steps before", agent.as_str()),
        RowKey::Step(agent, place) => return ("step", format!("{place} {agent}").into()),
    };
    (kind, name.into())
}

/// The way back.
fn key(kind: &str, name: &str) -> Option<RowKey> {
    Some(match kind {
        "agent" => RowKey::Agent(name.into()),
        "fleet" => RowKey::Fleet,
        "correlation" => RowKey::Correlation,
        "recovery" => RowKey::Recovery(recovery::RowKey::Task(name.into())),
        "recovery books" => RowKey::Recovery(recovery::RowKey::Books),
        "errands" => RowKey::Errands,
        "task" => RowKey::Task(name.into()),
        "message" => RowKey::Message(messages::RowKey::Message(name.into())),
        "inbox" => RowKey::Message(messages::RowKey::Inbox(name.into())),
        "message books" => RowKey::Message(messages::RowKey::Books),
        "breaker" => RowKey::Breaker(name.parse::<BreakerName>().ok()?),
        "waiting checkpoints" => RowKey::Checkpoints(name.parse::<BreakerName>().ok()?),
        "usage" => RowKey::Usage,
        "worker" => RowKey::Worker(name.into()),
        "ticket" => RowKey::Ticket(name.into()),
        "steps before" => RowKey::StepsBefore(name.into()),
        "step" => {
            let (place, agent) = name.split_once(' ')?;
            RowKey::Step(agent.into(), place.parse().ok()?)
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_row_is_found_again_under_its_words() {
        let breaker = || "a/tool/b".parse::<BreakerName>().expect("a name");
        let keys = [
            RowKey::Agent("a".into()),
            RowKey::Fleet,
            RowKey::Correlation,
            RowKey::Recovery(recovery::RowKey::Task("t".into())),
            RowKey::Recovery(recovery::RowKey::Books),
            RowKey::Errands,
            RowKey::Task("t".into()),
            RowKey::Message(messages::RowKey::Message("m".into())),
            RowKey::Message(messages::RowKey::Inbox("a".into())),
            RowKey::Message(messages::RowKey::Books),
            RowKey::Breaker(breaker()),
            RowKey::Checkpoints(breaker()),
            RowKey::Usage,
            RowKey::Worker("a".into()),
            RowKey::Ticket("k".into()),
            RowKey::Step("an agent".into(), 63),
            RowKey::StepsBefore("an agent".into()),
        ];
        for expected in keys {
            let (kind, name) = words(&expected);
            assert_eq!(key(kind, &name), Some(expected.clone()), "{kind} {name}");
        }
    }

    #[test]
    fn agents_are_spread_over_all_partitions_and_stay_where_they_are() {
        let seen: std::collections::BTreeSet<_> =
            (0..1_000).map(|number| partition(&format!("agent-{number}"))).collect();
        assert_eq!(seen.len(), usize::from(PARTITIONS));
        assert_eq!(partition("agent-7"), 45, "another number would strand the rows of every cluster");
    }
}

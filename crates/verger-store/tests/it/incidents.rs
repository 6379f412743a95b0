//! What is wrong: one row from its first event to its last, and longer than the journal's memory if need be.

use verger_core::event::{Event, Fact, Incident};
use verger_core::id::Incarnation;
use verger_core::time::{Span, Timestamp};
use verger_engine::Store;
use verger_store::{Archive, EngineStore, IncidentQuery, KeptIncident, Retention, WrongMark};

use crate::desk::{Desk, at, batch, day};

const DAY: u64 = 24 * 3_600_000;

fn opened(agent: &str, incident: Incident, millis: u64) -> Event {
    let since = Timestamp::from_millis(millis);
    fact(agent, millis, Fact::IncidentOpened { incident, since, part_of: None })
}

fn resolved(agent: &str, incident: Incident, millis: u64) -> Event {
    fact(agent, millis, Fact::IncidentResolved { incident, lasted: Span::ZERO })
}

fn fact(agent: &str, millis: u64, fact: Fact) -> Event {
    Event { at: Timestamp::from_millis(millis), agent: Some((agent.into(), Incarnation::FIRST)), fact }
}

fn commit(store: &mut EngineStore, number: u64, millis: u64, events: Vec<Event>) {
    let mut batch = batch(number, millis);
    batch.events = events;
    store.commit(&batch).expect("committed");
}

fn asked(archive: &Archive, query: &IncidentQuery) -> Vec<KeptIncident> {
    archive.incidents(&IncidentQuery { limit: 10, ..query.clone() }).expect("read")
}

fn ids(found: &[KeptIncident]) -> Vec<i64> {
    found.iter().map(|incident| incident.id).collect()
}

#[test]
fn an_incident_is_open_until_its_own_end_and_bears_the_number_of_its_first_event() {
    let desk = Desk::new();
    let (mut store, archive) = desk.open();
    let events = vec![opened("a", Incident::Stuck, 1), opened("b", Incident::Stuck, 2)];
    commit(&mut store, 1, 5, events);
    commit(&mut store, 2, 10, vec![opened("a", Incident::Stuck, 7), resolved("a", Incident::Silent, 8)]);
    assert_eq!(archive.open_incidents().expect("read"), 2, "told again is not another one");
    commit(&mut store, 3, 20, vec![resolved("a", Incident::Stuck, 20)]);
    commit(&mut store, 4, 30, vec![opened("a", Incident::Stuck, 30)]);
    let open = IncidentQuery { open: Some(true), ..IncidentQuery::default() };
    assert_eq!(ids(&asked(&archive, &open)), [6, 2], "newest first");
    let over = IncidentQuery { open: Some(false), ..IncidentQuery::default() };
    let over = asked(&archive, &over);
    assert_eq!((ids(&over), over[0].resolved.is_some()), (vec![1], true));
    let of_agent = IncidentQuery { agent: Some("a".into()), before: Some(6), ..IncidentQuery::default() };
    assert_eq!(ids(&asked(&archive, &of_agent)), [1]);
}

#[test]
fn x12_a_false_alarm_is_marked_and_what_never_happened_cannot_be() {
    let desk = Desk::new();
    let (mut store, archive) = desk.open();
    commit(&mut store, 1, 5, vec![opened("a", Incident::Stuck, 1)]);
    let mark = |event| WrongMark { event, by: "ada".into(), reason: None, at: at(9) };
    let marked = archive.mark_wrong(mark(1)).wait().expect("kept");
    assert_eq!(marked.map(|marked| marked.agent), Some(Some("a".into())));
    assert_eq!(archive.mark_wrong(mark(2)).wait().expect("answered"), None);
    assert!(asked(&archive, &IncidentQuery::default())[0].wrong);
    drop((store, archive));
    let (_, archive) = desk.open();
    assert!(asked(&archive, &IncidentQuery::default())[0].wrong, "a restart keeps it");
}

#[test]
fn l46_what_is_over_goes_after_thirty_days_and_what_is_open_stays() {
    let desk = Desk::new();
    let (mut store, archive) = desk.open();
    commit(&mut store, 1, DAY, vec![opened("a", Incident::Stuck, 1), opened("b", Incident::Died, 2)]);
    commit(&mut store, 2, DAY, vec![resolved("a", Incident::Stuck, DAY), opened("c", Incident::Died, DAY)]);
    let mark = WrongMark { event: 2, by: "ada".into(), reason: None, at: at(DAY) };
    archive.mark_wrong(mark).wait().expect("kept");
    archive.sweep(&Retention::default(), day(40), 100).expect("swept");
    let left = asked(&archive, &IncidentQuery::default());
    assert_eq!(ids(&left), [4, 2]);
    assert!(left[1].wrong, "and so does its mark");
}

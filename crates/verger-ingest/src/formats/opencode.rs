//! `opencode`: its database, the rows of that database as JSON lines, what `opencode run --format json` prints and what
//! `opencode export` prints.
//!
//! All of them hold *parts* of messages. A part that is a tool call is one row that is rewritten until the call is
//! done, so its own times give the order, not the place where it stands.

use std::io;
use std::path::Path;

use rusqlite::{Connection, OpenFlags};
use serde_json::Value;

use super::{Reader, Steps};
use crate::flaw::{Flaw, Place};
use crate::format::Format;
use crate::read::Layout;
use crate::run::{Call, Talker};
use crate::values::{self, Object};

/// Rows that are kept to put them in order. A database with more is read as a database, where it sorts.
const ROWS_MAX: usize = 500_000;

#[derive(Default)]
pub(super) struct Opencode {
    /// Who wrote a message, by its id.
    roles: Vec<(String, Talker)>,
    parts: Vec<Row>,
}

/// A part, and what it takes to put it into its place.
struct Row {
    session: String,
    created: i64,
    id: String,
    message: String,
    part: Object,
}

impl Reader for Opencode {
    fn line(&mut self, line: Object, steps: &mut Steps<'_>) -> Result<(), String> {
        match (values::str(&line, "table"), values::object(&line, "part")) {
            (Some("message"), _) => self.message(values::list(&line, "row")),
            (Some("part"), _) => self.part(values::list(&line, "row")),
            // Sessions and events repeat what messages and parts hold.
            (Some(_), _) => Ok(()),
            (None, Some(part)) => {
                let run = values::str(&line, "sessionID").map_or_else(|| steps.default_id(), str::to_owned);
                said(&run, Talker::Agent, part, steps);
                Ok(())
            }
            (None, None) if line.contains_key("type") => Ok(()),
            (None, None) => Err("neither a row of a table nor a part of a message".to_owned()),
        }
    }

    fn fields(&self) -> &'static [&'static str] {
        &["messages"]
    }

    fn element(&mut self, _: &str, message: Object, steps: &mut Steps<'_>) -> Result<(), String> {
        let info = values::object(&message, "info").ok_or("a message without info")?;
        let run = values::str(info, "sessionID").map_or_else(|| steps.default_id(), str::to_owned);
        let from = Talker::named(values::str(info, "role").unwrap_or_default());
        for part in values::list(&message, "parts").iter().filter_map(Value::as_object) {
            said(&run, from, part, steps);
        }
        Ok(())
    }

    fn finish(&mut self, steps: &mut Steps<'_>) {
        self.roles.sort_by(|one, other| one.0.cmp(&other.0));
        self.parts.sort_by(|a, b| (&a.session, a.created, &a.id).cmp(&(&b.session, b.created, &b.id)));
        for row in self.parts.drain(..) {
            let role = self.roles.binary_search_by(|(id, _)| id.cmp(&row.message));
            let from = role.map_or(Talker::Other, |at| self.roles[at].1);
            said(&row.session, from, &row.part, steps);
        }
    }
}

impl Opencode {
    /// `[id, session, created, updated, data]`
    fn message(&mut self, row: &[Value]) -> Result<(), String> {
        let [Value::String(id), _, .., data] = row else {
            return Err("no row of the table `message`".to_owned());
        };
        self.has_room()?;
        let data = parsed(data)?;
        let from = Talker::named(values::str(&data, "role").unwrap_or_default());
        self.roles.push((id.clone(), from));
        Ok(())
    }

    /// `[id, message, session, created, updated, data]`
    fn part(&mut self, row: &[Value]) -> Result<(), String> {
        let [Value::String(id), Value::String(message), Value::String(session), created, .., data] = row
        else {
            return Err("no row of the table `part`".to_owned());
        };
        self.has_room()?;
        self.parts.push(Row {
            session: session.clone(),
            created: created.as_i64().unwrap_or_default(),
            id: id.clone(),
            message: message.clone(),
            part: parsed(data)?,
        });
        Ok(())
    }

    fn has_room(&self) -> Result<(), String> {
        if self.parts.len() + self.roles.len() < ROWS_MAX {
            Ok(())
        } else {
            Err(format!("more than {ROWS_MAX} rows; give the database itself"))
        }
    }
}

fn parsed(data: &Value) -> Result<Object, String> {
    let text = data.as_str().ok_or("a row without data")?;
    serde_json::from_str(text).map_err(|error| format!("the row's data are no object of JSON: {error}"))
}

/// A part of a message.
fn said(run: &str, from: Talker, part: &Object, steps: &mut Steps<'_>) {
    match values::str(part, "type") {
        Some("text") if values::truth(part, "synthetic") != Some(true) => {
            steps.message(run, from, values::str(part, "text").unwrap_or_default());
        }
        Some("tool") => called(run, part, steps),
        _ => {}
    }
}

fn called(run: &str, part: &Object, steps: &mut Steps<'_>) {
    let Some(state) = values::object(part, "state") else { return };
    let status = values::str(state, "status").unwrap_or_default();
    let id = values::first_str(part, &["callID", "id"]).unwrap_or_default();
    let time = |name: &str| values::millis(values::object(state, "time")?, name);
    let call = Call {
        tool: values::str(part, "tool").unwrap_or_default().to_owned(),
        args: values::args(state.get("input")),
        started_ms: time("start"),
        ..Call::default()
    };
    steps.begin(run, id, call);
    if matches!(status, "completed" | "error") {
        let code = values::object(state, "metadata").and_then(|data| values::int(data, "exit"));
        steps.answer(run, id, |call| {
            call.result = values::args(state.get("output").or_else(|| state.get("error")));
            call.exit_code = code;
            call.error = Some(status == "error" || code.is_some_and(|code| code != 0));
            call.ended_ms = time("end");
        });
    }
}

pub(crate) fn is_database(layout: Layout, format: Format) -> bool {
    layout == Layout::Database && format == Format::Opencode
}

/// Reads the database, which may be in use.
pub(crate) fn read_database(path: &Path, steps: &mut Steps<'_>) -> io::Result<()> {
    let other = |error: rusqlite::Error| io::Error::other(error.to_string());
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let database = Connection::open_with_flags(path, flags).map_err(other)?;
    let mut query = database
        .prepare(
            "SELECT part.session_id, part.data, json_extract(message.data, '$.role') \
             FROM part LEFT JOIN message ON message.id = part.message_id \
             ORDER BY part.session_id, part.time_created, part.id",
        )
        .map_err(other)?;
    let mut rows = query.query([]).map_err(other)?;
    for number in 1.. {
        let row = match rows.next() {
            Ok(Some(row)) => row,
            Ok(None) => break,
            Err(error) => {
                let reason = format!("{error}; nothing after it was read");
                steps.flaw(Flaw { place: Place::Row(number), reason });
                break;
            }
        };
        let session: String = row.get(0).unwrap_or_else(|_| steps.default_id());
        let role: Option<String> = row.get(2).unwrap_or_default();
        let data = row.get::<_, String>(1).map_err(|error| error.to_string());
        match data.and_then(|data| parsed(&data.into())) {
            Ok(part) => said(&session, Talker::named(role.as_deref().unwrap_or_default()), &part, steps),
            Err(reason) => steps.flaw(Flaw { place: Place::Row(number), reason }),
        }
    }
    Ok(())
}

//! The tables, and how an older file gets those it lacks.
//!
//! Migrations are numbered, go forwards only, and each is one transaction with its number: a crash between two of
//! them is an older file, nothing else. They stand as SQL in `schema/`, because that is what a person with `sqlite3`
//! will look for.

use std::path::Path;

use rusqlite::{Connection, ErrorCode, OptionalExtension};

use crate::error::Error;

/// Each brings a file from the version that is its index to the next.
const MIGRATIONS: [&str; 3] = [
    include_str!("schema/0001_first.sql"),
    include_str!("schema/0002_waiting.sql"),
    include_str!("schema/0003_incidents.sql"),
];

/// The schema that this version writes.
const KNOWN: u32 = MIGRATIONS.len() as u32;

/// Says why the file must be left as it is, if it must. Nothing is changed before this was asked.
pub(crate) fn check(db: &Connection, path: &Path) -> Result<u32, Error> {
    let found = version(db, path)?;
    if found > KNOWN {
        return Err(Error::Newer { path: path.to_owned(), found, known: KNOWN });
    }
    Ok(found)
}

/// Brings the file up to date.
pub(crate) fn migrate(db: &mut Connection, path: &Path) -> Result<(), Error> {
    let found = check(db, path)?;
    apply(db, found, &MIGRATIONS[found as usize..])
}

/// Which schema the file has; none yet: 0.
fn version(db: &Connection, path: &Path) -> Result<u32, Error> {
    let tables: u32 = db
        .query_row("SELECT count(*) FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%'", [], |row| row.get(0))
        .map_err(|error| unreadable(error, path))?;
    if tables == 0 {
        return Ok(0);
    }
    let named = db.query_row("SELECT value FROM meta WHERE name = 'schema'", [], |row| row.get(0)).optional();
    match named {
        Ok(Some(found)) => Ok(found),
        Ok(None) => Err(Error::Foreign(path.to_owned())),
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::Unknown) => {
            Err(Error::Foreign(path.to_owned()))
        }
        Err(error) => Err(unreadable(error, path)),
    }
}

fn apply(db: &mut Connection, from: u32, migrations: &[&str]) -> Result<(), Error> {
    let doing = "bring the database up to date";
    for (number, migration) in (from + 1..).zip(migrations) {
        let step = db.transaction().map_err(Error::sql(doing))?;
        step.execute_batch(migration).map_err(Error::sql(doing))?;
        step.execute_batch("CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value)")
            .map_err(Error::sql(doing))?;
        step.execute("INSERT OR REPLACE INTO meta VALUES ('schema', ?1)", [number])
            .map_err(Error::sql(doing))?;
        step.commit().map_err(Error::sql(doing))?;
    }
    Ok(())
}

/// What `SQLite` finds wrong with the file itself is damage; the rest is an error of its own.
pub(crate) fn unreadable(error: rusqlite::Error, path: &Path) -> Error {
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
            Error::Damaged { path: path.to_owned(), what: error.to_string() }
        }
        _ => Error::sql("read the database")(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tables(db: &Connection) -> Vec<String> {
        let mut query = db
            .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name")
            .expect("a query");
        let names = query.query_map([], |row| row.get(0)).expect("rows");
        names.collect::<Result<_, _>>().expect("names")
    }

    #[test]
    fn a_migration_that_fails_half_way_leaves_the_version_before_it() {
        let mut db = Connection::open_in_memory().expect("a database");
        let steps = ["CREATE TABLE a (x)", "CREATE TABLE b (x); CREATE TABLE a (x)"];
        assert!(apply(&mut db, 0, &steps).is_err(), "the second step cannot be done");
        assert_eq!(version(&db, Path::new("x")).expect("a version"), 1);
        assert_eq!(tables(&db), ["a", "meta"]);
        apply(&mut db, 1, &["CREATE TABLE b (x)"]).expect("the mended step works");
        assert_eq!(version(&db, Path::new("x")).expect("a version"), 2);
    }

    #[test]
    fn a_file_of_another_program_is_left_alone() {
        let mut db = Connection::open_in_memory().expect("a database");
        db.execute_batch("CREATE TABLE theirs (x)").expect("a table");
        assert!(matches!(migrate(&mut db, Path::new("x")), Err(Error::Foreign(_))));
        assert_eq!(tables(&db), ["theirs"]);
    }
}

//! Pages of the reference that are made from the program itself, so that they cannot say anything else.
//!
//! `UPDATE=1` (or `make docs-update`) writes them; without it, a page that is out of date fails.

mod support;

#[path = "support/monitor.rs"]
mod monitor;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Command;

use monitor::{Monitor, clean};
use serde_json::Value;
use verger_api::EventType;
use verger_api::codes::CODES;

#[test]
fn the_page_of_commands_is_what_the_program_says() {
    let mut page = String::new();
    let whole = help(&[]);
    let _ = writeln!(page, "## verger\n\n```text\n{}\n```\n", whole.trim_end());
    for name in commands(&whole) {
        let text = help(&[&name]);
        let _ = writeln!(page, "## verger {name}\n\n```text\n{}\n```\n", text.trim_end());
        for below in commands(&text) {
            let text = help(&[&name, &below]);
            let _ = writeln!(page, "### verger {name} {below}\n\n```text\n{}\n```\n", text.trim_end());
        }
    }
    check("commands", &page);
}

fn help(words: &[&str]) -> String {
    let run = clean(Command::new(env!("CARGO_BIN_EXE_verger"))).args(words).arg("--help").output();
    String::from_utf8(run.expect("it runs").stdout).expect("text")
}

/// The commands that a help lists.
fn commands(help: &str) -> Vec<String> {
    let list =
        help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let names = list.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let names = names.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help");
    names.map(ToOwned::to_owned).collect()
}

#[test]
fn the_page_of_the_http_api_is_what_the_monitor_says() {
    let folder = tempfile::tempdir().expect("a folder");
    let monitor = Monitor::start(folder.path(), &folder.path().join("data"), None);
    let document = get(&monitor.address, "/openapi.json");
    let mut parts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (path, methods) in document["paths"].as_object().expect("paths") {
        for (method, told) in methods.as_object().expect("methods") {
            let part = told["tags"][0].as_str().expect("a tag").to_owned();
            parts.entry(part).or_default().push(row(method, path, told));
        }
    }
    let mut page = String::new();
    for (part, rows) in &parts {
        let _ = writeln!(page, "## {part}\n\n| request | does | in | out | who |\n|---|---|---|---|---|");
        let _ = writeln!(page, "{}\n", rows.join("\n"));
    }
    page += &types(&document["components"]["schemas"]);
    check("http-api", &page);
}

fn row(method: &str, path: &str, told: &Value) -> String {
    let (method, summary) = (method.to_uppercase(), told["summary"].as_str().unwrap_or_default());
    let query = told["parameters"].as_array().into_iter().flatten().filter(|one| one["in"] == "query");
    let query: Vec<_> =
        query.filter_map(|one| one["name"].as_str()).map(|name| format!("`{name}`")).collect();
    let body = &told["requestBody"]["content"]["application/json"]["schema"];
    let taken: Vec<_> = schema(body).into_iter().chain(query).collect();
    let answers = told["responses"].as_object().expect("answers").iter();
    let given: Vec<_> = answers
        .filter(|(status, _)| status.starts_with('2'))
        .map(|(status, answer)| {
            let media = answer["content"].as_object().and_then(|content| content.iter().next());
            let what = media.and_then(|(media, content)| {
                schema(&content["schema"])
                    .or_else(|| (media != "application/json").then(|| format!("`{media}`")))
            });
            format!("{status} {}", what.unwrap_or_default()).trim_end().to_owned()
        })
        .collect();
    let scopes = told["security"][0]["bearer"].as_array();
    let who = scopes.map_or_else(
        || "anybody here".to_owned(),
        |scopes| scopes.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", "),
    );
    format!("| `{method} {path}` | {summary} | {} | {} | {who} |", taken.join(", "), given.join(", "))
}

/// The name of a type, as a link to it; a page of a list is a list.
fn schema(schema: &Value) -> Option<String> {
    let one = schema["$ref"].as_str().or_else(|| schema["oneOf"][0]["$ref"].as_str())?.rsplit('/').next()?;
    Some(match one.strip_prefix("List_") {
        Some(item) => format!("list of {}", linked(item)),
        None => linked(one),
    })
}

fn linked(name: &str) -> String {
    format!("[{name}](#{})", name.to_lowercase())
}

/// A table for each type with fields, and one of all words.
fn types(schemas: &Value) -> String {
    let (mut page, mut words) = ("## Types\n\n".to_owned(), String::new());
    for (name, told) in schemas.as_object().expect("types") {
        let about = told["description"].as_str().unwrap_or_default().replace('\n', " ");
        if let Some(all) = told["enum"].as_array() {
            let all: Vec<_> = all.iter().filter_map(Value::as_str).map(|word| format!("`{word}`")).collect();
            let _ = writeln!(words, "### {name}\n\n{about} {}\n", all.join(", "));
            continue;
        }
        let parts = told["allOf"].as_array().map_or(&[][..], Vec::as_slice);
        let fields: Vec<_> = std::iter::once(told).chain(parts).flat_map(fields).collect();
        let also: Vec<_> = parts.iter().filter_map(schema).collect();
        if name.starts_with("List_") {
            continue;
        }
        let kinds: Vec<_> = told["oneOf"].as_array().into_iter().flatten().filter_map(variant).collect();
        if fields.is_empty() && also.is_empty() && kinds.is_empty() {
            let _ = writeln!(words, "### {name}\n\n{about}\n");
            continue;
        }
        let _ = writeln!(page, "### {name}\n\n{about}\n");
        if !kinds.is_empty() {
            let _ = writeln!(page, "| `kind` | meaning | fields |\n|---|---|---|\n{}\n", kinds.join("\n"));
        }
        if !also.is_empty() {
            let end = if fields.is_empty() { "." } else { ", and:" };
            let _ = writeln!(page, "The fields of {}{end}\n", also.join(", "));
        }
        if !fields.is_empty() {
            let _ = writeln!(page, "| field | type | meaning |\n|---|---|---|\n{}\n", fields.join("\n"));
        }
    }
    format!("{page}## Words\n\n{words}")
}

/// One of several forms that a type may have, told apart by `kind`.
fn variant(told: &Value) -> Option<String> {
    let parts = std::iter::once(told).chain(told["allOf"].as_array().into_iter().flatten());
    let kind = parts.clone().find_map(|part| part["properties"]["kind"]["enum"][0].as_str())?;
    let holds: Vec<_> = parts.filter_map(schema).collect();
    Some(format!(
        "| `{kind}` | {} | {} |",
        told["description"].as_str().unwrap_or_default(),
        holds.join(", ")
    ))
}

fn fields(told: &Value) -> Vec<String> {
    let required: Vec<_> =
        told["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let fields = told["properties"].as_object().into_iter().flatten();
    let row = |(name, field): (&String, &Value)| {
        let about = field["description"].as_str().or_else(|| field["oneOf"][0]["description"].as_str());
        let about = about.unwrap_or_default().replace('\n', " ").replace('|', "\\|");
        let must = if required.contains(&name.as_str()) { "" } else { ", may be left out" };
        format!("| `{name}` | {}{must} | {about} |", kind(field))
    };
    fields.map(row).collect()
}

/// What a field is.
fn kind(field: &Value) -> String {
    if let Some(linked) = schema(field) {
        return linked;
    }
    let name = field["type"].as_str().or_else(|| field["type"][0].as_str()).unwrap_or("any JSON");
    match name {
        "array" => format!("list of {}", kind(&field["items"])),
        "string" if field["enum"].is_array() => {
            format!("`{}`", field["enum"][0].as_str().unwrap_or_default())
        }
        name => name.to_owned(),
    }
}

fn get(address: &str, path: &str) -> Value {
    let mut stream = TcpStream::connect(address).expect("it listens");
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").expect("it reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("it answers");
    let (_, body) = answer.split_once("\r\n\r\n").expect("a body");
    serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {answer}"))
}

#[test]
fn the_page_of_error_codes_lists_all_of_them() {
    let rows: Vec<_> = CODES
        .iter()
        .map(|known| format!("| [{0}]({0}.md) | {1} | {2} |", known.code, known.status, known.title))
        .collect();
    check("errors", &format!("| code | HTTP | meaning |\n|---|---|---|\n{}\n", rows.join("\n")));
}

#[test]
fn l49_the_page_of_events_lists_all_of_them_and_no_others() {
    let page =
        fs::read_to_string(support::root().join("docs/src/reference/events.md")).expect("the page of events");
    let rows = page.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next());
    let mut listed: Vec<_> = rows.collect();
    let mut known: Vec<_> = EventType::ALL.iter().map(|kind| kind.as_str()).collect();
    listed.sort_unstable();
    known.sort_unstable();
    assert_eq!(listed, known);
}

/// Holds the generated part of the page that has such a part against what was made, or writes it.
fn check(name: &str, generated: &str) {
    let (begin, end) =
        (format!("<!-- BEGIN GENERATED: {name} -->"), format!("<!-- END GENERATED: {name} -->"));
    let pages = support::files(&support::root().join("docs/src"), ".md").into_iter();
    let mut pages = pages.map(|path| (fs::read_to_string(&path).expect("a readable page"), path));
    let (text, path) =
        pages.find(|(text, _)| text.contains(&begin)).unwrap_or_else(|| panic!("no page has {begin}"));
    let (before, rest) = text.split_once(&begin).expect("it was found by this");
    let (_, after) = rest.split_once(&end).unwrap_or_else(|| panic!("{} has no {end}", path.display()));
    let made = format!("{before}{begin}\n\n{generated}\n{end}{after}");
    if std::env::var_os("UPDATE").is_some() {
        fs::write(&path, made).expect("a writable page");
    } else {
        assert!(text == made, "{} is out of date: run `make docs-update`", path.display());
    }
}

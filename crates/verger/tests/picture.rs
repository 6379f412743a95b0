//! The README's picture is what the program prints on a terminal, drawn by this test.
//!
//! A fleet is played to the real monitor, and two commands are run as on a terminal of 100 columns. `UPDATE=1` (or
//! `make docs-update`) draws the picture; without it, one that shows other words than the program fails. Lines with
//! numbers are left out of the comparison: times differ from run to run.

mod support;

#[path = "support/monitor.rs"]
mod monitor;

use std::fmt::Write as _;
use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use monitor::{Monitor, clean};

const PICTURE: &str = "docs/src/images/why.svg";
const COLUMNS: usize = 100;
/// The size of a letter, of a line and of the edge, in pixels.
const LETTER: f64 = 7.8;
const LINE: usize = 18;
const EDGE: usize = 16;

#[test]
fn the_picture_shows_what_the_program_prints() {
    let folder = tempfile::tempdir().expect("a folder");
    let config = support::files(&support::root().join("docs/src/how-to"), "fast.yaml").remove(0);
    let data = folder.path().join("data");
    let monitor = Monitor::start(folder.path(), &data, Some(&config));
    play(&monitor.address, &data);
    let mut shown = String::new();
    for command in ["agents", "why coder-2"] {
        let _ = write!(shown, "\x1b[2m$\x1b[0m \x1b[1mverger {command}\x1b[0m\n{}\n", seen(command, &data));
    }
    let path = support::root().join(PICTURE);
    if std::env::var_os("UPDATE").is_some() {
        fs::write(&path, drawn(shown.trim_end())).expect("a writable folder");
    }
    let picture = fs::read_to_string(&path).expect("the picture");
    assert_eq!(words(&picture), words(&drawn(shown.trim_end())), "run `make docs-update`, and look at it");
}

/// A few agents, one of which gets stuck, is reminded, and is asked about.
fn play(address: &str, data: &Path) {
    for body in [
        r#"{"kind":"toolCall","agentId":"coder-1","callId":"c","tool":"bash","phase":"started"}"#,
        r#"{"kind":"modelRequest","agentId":"writer-1","phase":"started"}"#,
    ] {
        post(address, "/v1/signals", body);
    }
    post(
        address,
        "/v1/heartbeats",
        r#"{"agentId":"coder-2","taskId":"issue-42","progressIndicator":"1 of 9 files"}"#,
    );
    let begun = Instant::now();
    let mut last = Instant::now();
    while !seen("agents --state stuck", data).contains("people asked") {
        assert!(begun.elapsed() < Duration::from_mins(2), "nobody was asked");
        // It beats once a second, like any agent; what the monitor is asked meanwhile is the clock here.
        if last.elapsed() > Duration::from_secs(1) {
            let beat = r#"{"agentId":"coder-2","taskId":"issue-42","progressIndicator":"2 of 9 files"}"#;
            post(address, "/v1/heartbeats", beat);
            last = Instant::now();
        }
    }
}

fn post(address: &str, path: &str, body: &str) {
    let mut stream = TcpStream::connect(address).expect("it listens");
    let length = body.len();
    let head =
        format!("POST {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nContent-Length: {length}");
    write!(stream, "{head}\r\n\r\n{body}").expect("it reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("it answers");
    assert!(answer.starts_with("HTTP/1.1 202"), "{answer}");
}

/// What a person sees.
fn seen(command: &str, data: &Path) -> String {
    let run = clean(Command::new(env!("CARGO_BIN_EXE_verger")))
        .args(command.split(' '))
        .env("VERGER_DATA_DIR", data)
        .env("CLICOLOR_FORCE", "1")
        .env("COLUMNS", COLUMNS.to_string())
        .env_remove("NO_COLOR")
        .output()
        .expect("it runs");
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    String::from_utf8(run.stdout).expect("text")
}

/// A terminal with this in it.
fn drawn(text: &str) -> String {
    let lines: Vec<_> = text.lines().collect();
    let (width, height) =
        ((COLUMNS as f64).mul_add(LETTER, 2.0 * EDGE as f64), lines.len() * LINE + 2 * EDGE + LINE);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" font-family=\"ui-monospace, Menlo, \
         Consolas, monospace\" font-size=\"13\" fill=\"#d8dee9\">\n<rect width=\"{width}\" height=\"{height}\" rx=\"8\" \
         fill=\"#1e222a\"/>\n"
    );
    for (at, colour) in ["#ff5f56", "#ffbd2e", "#27c93f"].into_iter().enumerate() {
        let _ = writeln!(svg, "<circle cx=\"{}\" cy=\"16\" r=\"5\" fill=\"{colour}\"/>", EDGE + 4 + at * 18);
    }
    for (at, line) in lines.iter().enumerate() {
        let y = EDGE + (at + 2) * LINE;
        let _ = writeln!(svg, "<text x=\"{EDGE}\" y=\"{y}\" xml:space=\"preserve\">{}</text>", spans(line));
    }
    svg + "</svg>\n"
}

/// A line with its colours.
fn spans(line: &str) -> String {
    let mut parts = line.split("\x1b[");
    let mut text = escaped(parts.next().unwrap_or_default());
    for part in parts {
        let (code, rest) = part.split_once('m').expect("a code ends");
        let look = match code {
            "1" => "font-weight=\"bold\"",
            "2" => "fill=\"#7b8494\"",
            "31" => "fill=\"#ff6c6b\"",
            "32" => "fill=\"#98c379\"",
            "33" => "fill=\"#e5c07b\"",
            _ => "",
        };
        let rest = escaped(rest);
        if look.is_empty() {
            text += &rest;
        } else {
            let _ = write!(text, "<tspan {look}>{rest}</tspan>");
        }
    }
    text
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// The lines that are the same in every run.
fn words(svg: &str) -> Vec<String> {
    let lines = svg.lines().filter_map(|line| line.strip_prefix("<text ")?.split_once('>'));
    // Columns are as wide as what is in them.
    let lines = lines.map(|(_, rest)| without_tags(rest).split_whitespace().collect::<Vec<_>>().join(" "));
    let lines = lines.filter(|line| !line.is_empty());
    lines
        .filter(|line| !line.contains(|letter: char| letter.is_ascii_digit()) && !line.contains("just now"))
        .collect()
}

fn without_tags(text: &str) -> String {
    let parts = text.split('<').enumerate();
    parts
        .map(|(at, part)| if at == 0 { part } else { part.split_once('>').map_or("", |(_, rest)| rest) })
        .collect()
}

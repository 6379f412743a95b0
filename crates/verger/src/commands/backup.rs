//! `verger backup FILE`: has the monitor that works on this data make a copy of it.

use std::fs;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use serde_json::{Value, json};
use verger_config::data_dir;

use crate::cli::Backup;
use crate::exit::Exit;
use crate::surroundings;

pub(crate) fn run(args: &Backup, out: &mut dyn Write) -> anyhow::Result<Exit> {
    let surroundings = surroundings::of(&args.place);
    let data = data_dir(args.place.data_dir.as_deref(), &surroundings.environment, surroundings.root)?;
    let file = absolute(&args.file)?;
    let Some(local) = Local::find(&data)? else {
        writeln!(io::stderr(), "error: no monitor works on {}; start one by `verger serve`", data.display())?;
        return Ok(Exit::Unreachable);
    };
    let (status, answer) = match local.post("/v1/backup", &json!({ "file": file })) {
        Ok(answered) => answered,
        Err(error) => {
            writeln!(io::stderr(), "error: the monitor at {} can't be reached: {error}", local.address)?;
            return Ok(Exit::Unreachable);
        }
    };
    if status != 201 {
        bail!("no backup was made: {}", answer["detail"].as_str().unwrap_or("the monitor did not say why"));
    }
    if args.json {
        writeln!(out, "{answer}")?;
    } else {
        writeln!(out, "{}: {} bytes", file.display(), answer["bytes"])?;
        if let Some(lost @ 1..) = answer["checkpointsLost"].as_u64() {
            writeln!(out, "{lost} checkpoints are not in it: their files are damaged or missing")?;
        }
    }
    Ok(Exit::Done)
}

/// The monitor makes the file, and may work elsewhere.
fn absolute(file: &Path) -> anyhow::Result<PathBuf> {
    std::path::absolute(file).with_context(|| format!("{} is no file", file.display()))
}

/// The monitor that works on some data, found by what it left there.
struct Local {
    address: String,
    token: String,
}

impl Local {
    fn find(data: &Path) -> anyhow::Result<Option<Self>> {
        let Ok(url) = fs::read_to_string(data.join("verger.url")) else { return Ok(None) };
        let Some(address) = url.trim().strip_prefix("http://") else {
            bail!("the monitor at {} is encrypted; send `POST /v1/backup` with curl", url.trim());
        };
        let path = data.join("admin.token");
        let token =
            fs::read_to_string(&path).with_context(|| format!("could not read {}", path.display()))?;
        Ok(Some(Self { address: address.to_owned(), token: token.trim().to_owned() }))
    }

    fn post(&self, path: &str, body: &Value) -> io::Result<(u16, Value)> {
        let Self { address, token } = self;
        let (body, mut stream) = (body.to_string(), TcpStream::connect(address)?);
        write!(
            stream,
            "POST {path} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\
             Content-Length: {}\r\n\r\n{body}",
            body.len()
        )?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
        let status = head.split(' ').nth(1).and_then(|code| code.parse().ok());
        let status = status.ok_or_else(|| io::Error::other("it does not speak HTTP"))?;
        Ok((status, serde_json::from_str(body).unwrap_or(Value::Null)))
    }
}

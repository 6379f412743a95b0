//! `verger serve`.

use std::io::{self, Write};
use std::sync::Arc;

use anyhow::Context;
use tokio::runtime::Builder;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc;
use verger_config::{Flags, Surroundings, read_and_load};
use verger_server::serve::{Log, Options, Reload, ServeError, Serving, Systemd};

use crate::cli::Serve;
use crate::exit::Exit;
use crate::failure;
use crate::surroundings;

pub(crate) fn run(args: &Serve, out: &mut dyn Write) -> anyhow::Result<Exit> {
    let surroundings = surroundings::of(&args.place);
    let flags = Flags { listen: args.listen.clone(), insecure: args.insecure, ..surroundings.flags };
    let surroundings = Surroundings { flags, ..surroundings };
    let runtime = Builder::new_multi_thread().enable_all().build().context("no threads can be had")?;
    runtime.block_on(async {
        // Before it is read: what changes from here on is noticed.
        let reload = Some(reload(surroundings.clone())?);
        let configuration = match read_and_load(&surroundings) {
            Ok(configuration) => configuration,
            Err(problems) => anyhow::bail!("the configuration is wrong, so nothing was started\n{problems}"),
        };
        let (version, log) = (env!("CARGO_PKG_VERSION"), log());
        let systemd = Systemd::of_environment();
        let options = Options { configuration, version, log: log.clone(), reload, systemd };
        // Before anything is started: from here on the end is an orderly one.
        let told_to_end = [told(SignalKind::terminate())?, told(SignalKind::interrupt())?];
        let serving = match Serving::start(options).await {
            Ok(serving) => serving,
            Err(error) => {
                let advice = advice(&error);
                let error = anyhow::Error::new(error).context("the monitor was not started");
                return Ok(failure::report(&error, &format!("{error:#}"), &advice));
            }
        };
        write!(out, "{}", serving.welcome())?;
        out.flush()?;
        serving.run(any(told_to_end)).await?;
        log.warn("ended; what it knows is kept");
        Ok(Exit::Done)
    })
}

/// The same surroundings, and the file as it is then: on SIGHUP, and whenever the file changes.
fn reload(surroundings: Surroundings) -> anyhow::Result<Reload> {
    let mut hangups = told(SignalKind::hangup())?;
    let (ask, asked) = mpsc::channel(1);
    tokio::spawn(async move {
        // One that comes while another waits is the same.
        while let (Some(()), false) = (hangups.recv().await, ask.is_closed()) {
            let _ = ask.try_send(());
        }
    });
    let file = surroundings.file();
    Ok(Reload::new(Arc::new(move || read_and_load(&surroundings)), file, asked))
}

/// What to do about a start that failed, where the error does not say it.
fn advice(error: &ServeError) -> Vec<String> {
    let lines: &[&str] = match error {
        ServeError::Listen { source, .. } if source.kind() == io::ErrorKind::AddrInUse => &[
            "another program has this port, perhaps another monitor: `verger doctor` looks",
            "`--listen 127.0.0.1:9374` takes another port, `--listen 127.0.0.1:0` any that is free",
        ],
        // The error names the process.
        ServeError::Store(store) if store.to_string().contains("in use by another monitor") => &[
            "that one can be asked right away: `verger agents`, `verger doctor`",
            "`--data-dir DIR` with `--listen ADDR` starts another one, with data of its own",
        ],
        _ => &[],
    };
    let mut lines: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
    if let Some(data) = error.of_data() {
        lines.extend(data.remedy());
        lines.extend(data.code().map(|code| format!("more about {code} is in the book, under error codes")));
    }
    lines
}

fn told(kind: SignalKind) -> anyhow::Result<Signal> {
    signal(kind).context("signals cannot be listened to")
}

/// Waits for one of both.
async fn any([mut one, mut other]: [Signal; 2]) {
    tokio::select! {
        _ = one.recv() => {}
        _ = other.recv() => {}
    }
}

/// Lines for the operator. Nothing is left to be done if one cannot be written.
fn log() -> Log {
    Log::new(|line| drop(writeln!(io::stderr(), "{line}")))
}

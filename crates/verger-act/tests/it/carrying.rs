//! Jobs in, what became of them out; and what is left when the carrier is gone.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::Duration;

use serde_json::json;
use tempfile::tempdir;
use verger_act::{Carrier, Done, Job, NotTaken, Options, Post, Target, Work};

use crate::process::{ended, process, script};
use crate::server::{Answering, Server};

fn job(key: &str, lane: &str, work: Work) -> Job {
    Job { key: key.to_owned(), lane: lane.to_owned(), work, limit: Duration::from_mins(1) }
}

fn run(directory: &Path, lane: &str, text: &str) -> Job {
    job("k", lane, Work::Run(script(directory, text)))
}

#[tokio::test]
async fn a_job_is_carried_out_from_whichever_thread_it_comes() {
    let directory = tempdir().unwrap();
    let mut server = Server::start(Answering::status("200 OK", "", "yes")).await;
    let carrier = Carrier::new(Options::default()).unwrap();
    let post = Post { target: Target::new(&server.url(), None).unwrap(), document: json!({}) };
    let jobs = [job("a#1/2", "a", Work::Post(post)), run(directory.path(), "b", "exit 3")];
    // As the engine does, whose thread knows nothing of the runtime.
    let receive =
        thread::scope(|scope| scope.spawn(|| jobs.map(|job| carrier.carry(job).unwrap())).join().unwrap());
    let [posted, ran] = receive;
    let (posted, ran) = (posted.await.unwrap(), ran.await.unwrap());
    assert!(matches!(&posted, Done::Posted(_)) && posted.succeeded(), "{posted}");
    assert_eq!(server.request().await.header("Verger-Id"), Some("a#1/2"));
    assert!(matches!(&ran, Done::Ran(_)) && !ran.succeeded(), "{ran}");
}

#[tokio::test]
async fn two_jobs_of_an_agent_never_overlap() {
    let directory = tempdir().unwrap();
    let carrier = Carrier::new(Options::default()).unwrap();
    let step = "mkdir lock && echo $$ >> order && sleep 0.05 && rmdir lock";
    let told: Vec<_> = (0..4).map(|_| carrier.carry(run(directory.path(), "agent", step)).unwrap()).collect();
    for told in told {
        let done = told.await.unwrap();
        assert!(done.succeeded(), "{done}");
    }
    assert_eq!(fs::read_to_string(directory.path().join("order")).unwrap().lines().count(), 4);
}

#[tokio::test]
async fn a_carrier_that_is_dropped_ends_what_it_began() {
    let directory = tempdir().unwrap();
    let carrier = Carrier::new(Options { in_hand: 2, ..Options::default() }).unwrap();
    let family = "trap '' TERM; echo $$ > parent; sleep 1000 & echo $! > child; wait";
    let under_way = carrier.carry(run(directory.path(), "a", family)).unwrap();
    let waiting = carrier.carry(run(directory.path(), "a", "echo began > began")).unwrap();
    let refused = carrier.carry(run(directory.path(), "b", "")).unwrap_err();
    assert_eq!(refused, NotTaken::Full);
    let child = process(&directory.path().join("child")).await;
    drop(carrier);
    assert!(under_way.await.is_err());
    assert!(waiting.await.is_err());
    ended(child).await;
    ended(process(&directory.path().join("parent")).await).await;
    assert!(!directory.path().join("began").exists());
}

#[tokio::test]
async fn after_an_orderly_end_nothing_is_left() {
    let directory = tempdir().unwrap();
    let carrier = Carrier::new(Options::default()).unwrap();
    let told = carrier.carry(run(directory.path(), "a", "echo $$ > parent; exec sleep 1000")).unwrap();
    let parent = process(&directory.path().join("parent")).await;
    carrier.end().await;
    ended(parent).await;
    assert!(told.await.is_err());
    assert_eq!(carrier.carry(run(directory.path(), "a", "")).unwrap_err(), NotTaken::Closed);
}

//! Agents, their orchestrator and a person who all use the program at once, until it is gone.

use std::io;
use std::thread;

use serde_json::{Value, json};

use super::http::{Answer, Http};

/// One thing that the program acknowledged.
#[derive(Clone, Debug)]
pub(crate) enum Acknowledged {
    /// A task has come so far.
    Task { id: String, rank: u8 },
    /// A checkpoint is kept.
    Checkpoint { id: String, state: Value },
    /// An intervention is on its way.
    Intervention { agent: String, id: String },
    /// People are to be told of this one.
    Escalation { agent: String, id: String },
    /// A task is to be recovered.
    Recovery { task: String },
    /// An agent was seen in this life.
    Seen { agent: String, incarnation: u64 },
    /// An agent's life is over.
    Ended { agent: String },
    /// An agent is to be ended.
    Termination { agent: String, id: String },
    /// Somebody is let in by this.
    Token { secret: String, agent: String },
    /// A breaker is open.
    Tripped { breaker: String },
    /// This was told to somebody who follows what happens.
    Shown { event: Value },
}

/// Does one thing after another in a round, and notes what was acknowledged.
type User = fn(&Http, u64, u64, &mut Vec<Acknowledged>) -> io::Result<()>;

/// The order in which tasks go on.
pub(crate) const STATUSES: [&str; 3] = ["assigned", "in_progress", "done"];

/// Uses the program while `meanwhile` goes on and until the program no longer answers; tells what was acknowledged.
pub(crate) fn until(http: &Http, round: u64, meanwhile: impl FnOnce()) -> Vec<Acknowledged> {
    let users: [User; 7] = [beat, work, save, operate, recover, call, follow];
    thread::scope(|scope| {
        let users: Vec<_> = users
            .into_iter()
            .map(|user| {
                scope.spawn(move || {
                    let mut acknowledged = Vec::new();
                    let mut turn = 0;
                    while user(http, round, turn, &mut acknowledged).is_ok() {
                        turn += 1;
                    }
                    acknowledged
                })
            })
            .collect();
        meanwhile();
        users.into_iter().flat_map(|user| user.join().expect("a user has no reason to panic")).collect()
    })
}

/// What was asked for was refused: then the load is wrong, not the program.
fn expect(answer: Answer, status: u16) -> Answer {
    assert_eq!(answer.status, status, "{}", answer.body);
    answer
}

/// Agents beat, and are seen.
fn beat(http: &Http, _round: u64, turn: u64, seen: &mut Vec<Acknowledged>) -> io::Result<()> {
    let agent = format!("beats-{}", turn % 5);
    let beat = json!({"agentId": agent, "tokenCount": turn, "progressIndicator": turn.to_string()});
    expect(http.ask("POST", "/v1/heartbeats", Some(&beat))?, 202);
    let health = http.get(&format!("/v1/agents/{agent}"))?;
    if let Some(incarnation) = health.body["incarnation"].as_u64() {
        seen.push(Acknowledged::Seen { agent, incarnation });
    }
    Ok(())
}

/// An orchestrator assigns tasks and hears of their end.
fn work(http: &Http, round: u64, turn: u64, acknowledged: &mut Vec<Acknowledged>) -> io::Result<()> {
    let (id, rank) = (format!("work-{round}-{}", turn / 3), (turn % 3) as u8);
    // Each crash leaves a task open, and an agent has only so many.
    let agent = format!("works-{}", round % 10);
    let task =
        json!({"agentId": agent, "status": STATUSES[rank as usize], "description": "it has to be done"});
    expect(http.ask("PUT", &format!("/v1/tasks/{id}"), Some(&task))?, 200);
    acknowledged.push(Acknowledged::Task { id, rank });
    Ok(())
}

/// An agent saves its work; some of it is large enough for a file of its own.
fn save(http: &Http, round: u64, turn: u64, acknowledged: &mut Vec<Acknowledged>) -> io::Result<()> {
    let filler = "x".repeat(if turn % 8 == 7 { 300_000 } else { 100 });
    let state = json!({"round": round, "turn": turn, "filler": filler});
    let id = format!("save-{round}-{turn}");
    let parent = turn.checked_sub(1).map(|before| format!("save-{round}-{before}"));
    let checkpoint = json!({"id": id, "parentId": parent, "taskId": format!("save-{round}"), "agentId": "saves", "state": state});
    expect(http.ask("POST", "/v1/checkpoints", Some(&checkpoint))?, 201);
    acknowledged.push(Acknowledged::Checkpoint { id, state });
    Ok(())
}

/// A person reminds, asks, answers, ends an agent and lets another in.
fn operate(http: &Http, round: u64, turn: u64, acknowledged: &mut Vec<Acknowledged>) -> io::Result<()> {
    let agent = format!("watched-{round}-{turn}");
    let beat = json!({"agentId": agent, "taskId": format!("of-{agent}")});
    expect(http.ask("POST", "/v1/heartbeats", Some(&beat))?, 202);
    let at = |what: &str| format!("/v1/agents/{agent}/{what}");
    let id = |answer: &Answer| answer.body["id"].as_str().unwrap_or_default().to_owned();
    let nudge = expect(http.ask("POST", &at("nudge"), Some(&json!({"message": "go on"})))?, 202);
    acknowledged.push(Acknowledged::Intervention { agent: agent.clone(), id: id(&nudge) });
    let asked = expect(http.ask("POST", &at("escalate"), Some(&json!({"reason": "look at it"})))?, 202);
    acknowledged.push(Acknowledged::Escalation { agent: agent.clone(), id: id(&asked) });
    let decision = json!({"decision": "allow-more-time", "reason": "it is all right"});
    let decided = expect(http.ask("POST", &at("decision"), Some(&decision))?, 202);
    acknowledged.push(Acknowledged::Intervention { agent: agent.clone(), id: id(&decided) });
    let ended = expect(http.ask("POST", &at("terminate"), Some(&json!({"reason": "enough"})))?, 202);
    acknowledged.push(Acknowledged::Termination { agent: agent.clone(), id: id(&ended) });
    let token = json!({"scope": "agent", "agentId": agent});
    let made = expect(http.ask("POST", "/v1/tokens", Some(&token))?, 201);
    let secret = made.body["secret"].as_str().unwrap_or_default().to_owned();
    acknowledged.push(Acknowledged::Token { secret, agent });
    Ok(())
}

/// An agent dies at its work, and a person has another go on with it.
fn recover(http: &Http, round: u64, turn: u64, acknowledged: &mut Vec<Acknowledged>) -> io::Result<()> {
    let (agent, task) = (format!("dies-{round}-{turn}"), format!("lost-{round}-{turn}"));
    let spawn = json!({"kind": "spawn", "agentId": agent, "taskId": task});
    expect(http.ask("POST", "/v1/signals", Some(&spawn))?, 202);
    let exit = json!({"kind": "exit", "agentId": agent, "code": 1});
    expect(http.ask("POST", "/v1/signals", Some(&exit))?, 202);
    acknowledged.push(Acknowledged::Ended { agent });
    let asked = json!({"reason": "it is gone"});
    let answer = http.ask("POST", &format!("/v1/tasks/{task}/recover"), Some(&asked))?;
    expect(answer, 202);
    acknowledged.push(Acknowledged::Recovery { task });
    Ok(())
}

/// An agent asks before it calls something that fails.
fn call(http: &Http, round: u64, turn: u64, acknowledged: &mut Vec<Acknowledged>) -> io::Result<()> {
    // Only so many breakers of one agent are remembered.
    let agent = format!("calls-{round}-{}", turn / 50);
    expect(http.ask("POST", "/v1/heartbeats", Some(&json!({"agentId": agent})))?, 202);
    let breaker = format!("{agent}/api/{turn}");
    let permit = expect(http.ask("POST", &format!("/v1/breakers/{breaker}/acquire"), None)?, 200);
    let report = json!({"permit": permit.body["permit"], "ok": false, "error": "no"});
    expect(http.ask("POST", &format!("/v1/breakers/{breaker}/report"), Some(&report))?, 204);
    acknowledged.push(Acknowledged::Tripped { breaker });
    Ok(())
}

/// Somebody follows what happens, from now to the end.
fn follow(http: &Http, _round: u64, _turn: u64, shown: &mut Vec<Acknowledged>) -> io::Result<()> {
    for event in http.follow(None)? {
        shown.push(Acknowledged::Shown { event: event? });
    }
    Err(io::ErrorKind::UnexpectedEof.into())
}

//! A long job, and what is shown of it each time somebody looks.

use super::told::{Told, json};
use super::voice::{Dialect, Voice};

/// How a job is looked at. By the last two nobody would know that somebody waits.
const MANNERS: [&str; 8] =
    ["run view", "tail", "rollout", "output", "squeue", "run watch", "curl", "compose ps"];

/// A job that is looked at.
#[derive(Debug)]
pub(crate) struct Job {
    manner: usize,
    number: u64,
    /// What it showed when it last got on, and how often it has been looked at since it began.
    shown: String,
    looks: u64,
}

impl Job {
    pub(crate) fn new(manner: usize, number: u64) -> Self {
        Self { manner: manner.min(MANNERS.len() - 1), number, shown: String::new(), looks: 0 }
    }

    /// Something happened in it.
    pub(crate) fn get_on(&mut self, voice: &mut Voice, done: bool) {
        let (name, count) = (voice.name(), voice.number(1, 60));
        self.shown = match MANNERS[self.manner] {
            "run view" | "run watch" if done => {
                format!("✓ main ci · {}\n✓ build\n✓ test\nconclusion: success", self.number)
            }
            "run view" | "run watch" => {
                format!("* main ci · {}\nJOBS\n✓ set up job\n* {name} (step {count})", self.number)
            }
            "rollout" if done => "deployment \"web\" successfully rolled out".to_owned(),
            "rollout" => format!(
                "Waiting for deployment \"web\" rollout to finish: {count} of 60 updated replicas are available..."
            ),
            "output" if done => {
                format!("<status>completed</status>\n<exit_code>0</exit_code>\n<stdout>{name} done</stdout>")
            }
            "output" => format!(
                "<status>running</status>\n<stdout>{name}: {count} of {}</stdout>",
                count + voice.number(1, 90)
            ),
            "squeue" if done => "JOBID PARTITION NAME ST NODES".to_owned(),
            "squeue" => format!("JOBID PARTITION NAME ST NODES\n{} gpu {name} R {count}", self.number),
            "curl" if done => format!("{{\"job\":{},\"state\":\"succeeded\"}}", self.number),
            "curl" => format!(
                "{{\"job\":{},\"state\":\"running\",\"step\":\"{name}\",\"done\":{count}}}",
                self.number
            ),
            "compose ps" if done => "NAME  STATUS\nweb   Up (healthy)\ndb    Up (healthy)".to_owned(),
            "compose ps" => {
                format!("NAME  STATUS\nweb   Up (health: starting)\n{name}  Restarting ({count})")
            }
            _ if done => format!("[{count}/60] {name}\nBUILD SUCCESSFUL"),
            _ => format!(
                "[{count}/60] {name}\n[{}/60] {}\n{} {}",
                count + 1,
                voice.name(),
                voice.verb(),
                voice.file()
            ),
        };
    }

    /// Somebody looks.
    pub(crate) fn look(&mut self, voice: &Voice) -> Told {
        self.looks += 1;
        let number = self.number;
        let command = match MANNERS[self.manner] {
            "run view" => format!("sleep 30; gh run view {number}"),
            "tail" => format!("tail -n 5 logs/build-{number}.log"),
            "rollout" => format!("kubectl rollout status deploy/web-{number} --timeout=60s"),
            "output" if voice.dialect == Dialect::Tools => {
                return Told::new(
                    "BashOutput",
                    json(&[("bash_id", &format!("bash_{number}"))]),
                    self.shown.clone(),
                );
            }
            "output" => format!("sleep 20; tail -3 /tmp/job-{number}.out"),
            "squeue" => format!("squeue --me -j {number}; sleep 60"),
            "run watch" => format!("gh run watch {number} --exit-status"),
            "curl" => format!("curl -s http://ci.internal/job/{number}"),
            _ => format!("docker compose -p project{number} ps"),
        };
        // Some answers tell how long it has been going on, and nothing else changes.
        let shown = match MANNERS[self.manner] {
            "run view" => format!("{}\nelapsed {}m{:02}s", self.shown, self.looks / 2, self.looks * 31 % 60),
            _ => self.shown.clone(),
        };
        voice.run(&command, shown)
    }
}

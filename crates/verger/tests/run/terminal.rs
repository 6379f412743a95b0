//! A terminal that a test types into and looks at: tmux.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::program::{Place, until};

/// A terminal with something running in it.
pub(crate) struct Terminal {
    socket: PathBuf,
}

impl Terminal {
    /// Of 80 columns and 24 lines, in which these words run.
    pub(crate) fn running(place: &Place, name: &str, words: &str) -> Self {
        let terminal = Self { socket: place.path(&format!("tmux-{name}")) };
        // Whatever ends in it stays on the screen.
        terminal.tmux(&[
            "-f",
            "/dev/null",
            "start-server",
            ";",
            "set",
            "-g",
            "remain-on-exit",
            "on",
            ";",
            "set",
            "-g",
            "history-limit",
            "1000",
            ";",
            "new-session",
            "-d",
            "-x",
            "80",
            "-y",
            "24",
            words,
        ]);
        terminal
    }

    /// Of a shell that says nothing of its own but `$ `.
    pub(crate) fn with_shell(place: &Place, name: &str) -> Self {
        let terminal = Self::running(place, name, "env PS1='$ ' PROMPT_COMMAND= bash --norc --noprofile -i");
        terminal.shows("$");
        terminal
    }

    /// Types these keys, in tmux's words: `Enter`, `C-c`, or text.
    pub(crate) fn types(&self, keys: &[&str]) -> &Self {
        let words: Vec<&str> = ["send-keys", "--"].iter().chain(keys).copied().collect();
        self.tmux(&words);
        self
    }

    /// Types a line.
    pub(crate) fn line(&self, text: &str) -> &Self {
        self.tmux(&["send-keys", "-l", "--", text]);
        self.types(&["Enter"])
    }

    /// Waits until the shell has the terminal again.
    pub(crate) fn prompt(&self) -> &Self {
        self.shows_that("the prompt", |screen| {
            screen.lines().rev().find(|line| !line.is_empty()).is_some_and(|line| line.trim_end() == "$")
        });
        self
    }

    /// What is on it.
    pub(crate) fn screen(&self) -> String {
        let output = self.tmux(&["capture-pane", "-p"]);
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// The screen, once this is on it.
    pub(crate) fn shows(&self, what: &str) -> String {
        self.shows_that(what, |screen| screen.contains(what))
    }

    pub(crate) fn shows_that(&self, what: &str, is_there: impl Fn(&str) -> bool) -> String {
        let mut last = String::new();
        let found = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            until(what, || {
                last = self.screen();
                is_there(&last).then(|| last.clone())
            })
        }));
        found.unwrap_or_else(|_| panic!("{what} did not come:\n{last}"))
    }

    pub(crate) fn resize(&self, columns: u32, lines: u32) {
        self.tmux(&["resize-window", "-x", &columns.to_string(), "-y", &lines.to_string()]);
    }

    fn tmux(&self, words: &[&str]) -> Output {
        tmux(&self.socket, words)
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.tmux(&["kill-server"]);
    }
}

fn tmux(socket: &Path, words: &[&str]) -> Output {
    let mut command = Command::new("tmux");
    command
        .arg("-S")
        .arg(socket)
        .args(words)
        .env_remove("TMUX")
        .env("TERM", "xterm-256color")
        .env("LC_ALL", "C.UTF-8");
    for name in ["VERGER_AGENT_ID", "VERGER_RUN", "VERGER_URL", "VERGER_TOKEN", "VERGER_DATA_DIR"] {
        command.env_remove(name);
    }
    let output = command.output().expect("tmux is installed by scripts/setup");
    let is_over = words.contains(&"kill-server");
    assert!(output.status.success() || is_over, "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    output
}

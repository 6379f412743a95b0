//! Notices that files have changed: by looking, so that links that are turned and file systems of others count too.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How often it is looked.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Files, and what they looked like.
#[derive(Clone)]
pub(super) struct Files {
    paths: Vec<PathBuf>,
    known: Vec<Stamp>,
    /// Something else, seen once: it may still be written.
    seen: Option<Vec<Stamp>>,
}

/// What tells a file from the one that was there before; nothing if there is none. Names may be links that are turned,
/// so it is that of the file behind them.
type Stamp = Option<(u64, u64, u64, i64, i64)>;

impl Files {
    pub(super) fn new(paths: Vec<PathBuf>) -> Self {
        let known = stamps(&paths);
        Self { paths, known, seen: None }
    }

    /// They are about to be read, as they are now.
    pub(super) fn look(&mut self) {
        (self.known, self.seen) = (stamps(&self.paths), None);
    }

    /// Watches these from now on: those that are known already as they were, the others as they are.
    pub(super) fn watch(&mut self, paths: Vec<PathBuf>) {
        let known = |path: &PathBuf| {
            let place = self.paths.iter().position(|known| known == path);
            place.map_or_else(|| stamp(path), |place| self.known[place])
        };
        self.known = paths.iter().map(known).collect();
        (self.paths, self.seen) = (paths, None);
    }

    /// Waits until one of them is another than before, and no longer changes.
    pub(super) async fn change(&mut self) {
        loop {
            tokio::time::sleep(LOOK_EVERY).await;
            let paths = self.paths.clone();
            let Ok(now) = tokio::task::spawn_blocking(move || stamps(&paths)).await else { continue };
            if self.on_look(now) {
                return;
            }
        }
    }

    /// Whether they are others than before, for the second time in a row.
    fn on_look(&mut self, now: Vec<Stamp>) -> bool {
        let settled = self.seen.as_ref() == Some(&now);
        self.seen = (now != self.known).then_some(now);
        if settled && let Some(now) = self.seen.take() {
            self.known = now;
            return true;
        }
        false
    }
}

fn stamps(paths: &[PathBuf]) -> Vec<Stamp> {
    paths.iter().map(|path| stamp(path)).collect()
}

fn stamp(path: &Path) -> Stamp {
    let it = fs::metadata(path).ok()?;
    Some((it.dev(), it.ino(), it.size(), it.mtime(), it.mtime_nsec()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tempfile::TempDir;

    /// Whether it counts as changed at this look.
    fn changes(files: &mut Files) -> bool {
        let now = stamps(&files.paths);
        files.on_look(now)
    }

    #[test]
    fn x15_a_file_counts_as_changed_once_and_when_it_is_written() {
        let folder = TempDir::new().expect("a folder");
        let path = folder.path().join("verger.yaml");
        fs::write(&path, "mode: full").expect("it is ours");
        let mut files = Files::new(vec![path.clone()]);
        assert!(!changes(&mut files) && !changes(&mut files), "nothing has changed");
        fs::write(&path, "mode: obs").expect("it is ours");
        assert!(!changes(&mut files), "it may still be written");
        fs::write(&path, "mode: observe").expect("it is ours");
        assert!(!changes(&mut files), "and was");
        assert!(changes(&mut files));
        assert!(!changes(&mut files) && !changes(&mut files), "that was it");
        fs::remove_file(&path).expect("it is ours");
        assert!(!changes(&mut files) && changes(&mut files));
    }

    #[test]
    fn x15_what_is_as_before_again_has_not_changed() {
        let folder = TempDir::new().expect("a folder");
        let [path, aside] = ["verger.yaml", "aside"].map(|name| folder.path().join(name));
        fs::write(&path, "mode: full").expect("it is ours");
        let mut files = Files::new(vec![path.clone()]);
        fs::rename(&path, &aside).expect("it is ours");
        assert!(!changes(&mut files));
        fs::rename(&aside, &path).expect("it is ours");
        assert!(!changes(&mut files) && !changes(&mut files));
    }

    #[test]
    fn x15_a_link_that_is_turned_is_another_file() {
        let folder = TempDir::new().expect("a folder");
        let [one, other, link] = ["one", "other", "link"].map(|name| folder.path().join(name));
        for path in [&one, &other] {
            fs::write(path, "mode: full").expect("it is ours");
        }
        std::os::unix::fs::symlink(&one, &link).expect("it is ours");
        let mut files = Files::new(vec![link.clone()]);
        fs::remove_file(&link).expect("it is ours");
        std::os::unix::fs::symlink(&other, &link).expect("it is ours");
        assert!(!changes(&mut files) && changes(&mut files));
    }

    #[test]
    fn x15_what_changed_since_it_was_read_is_noticed_whatever_else_is_watched_from_then_on() {
        let folder = TempDir::new().expect("a folder");
        let [one, other] = ["one", "other"].map(|name| folder.path().join(name));
        fs::write(&one, "mode: full").expect("it is ours");
        let mut files = Files::new(vec![one.clone()]);
        fs::write(&one, "mode: nudge").expect("it is ours");
        files.watch(vec![other, one]);
        assert!(!changes(&mut files) && changes(&mut files));
    }

    #[test]
    fn x15_what_was_read_for_another_reason_is_not_read_again() {
        let folder = TempDir::new().expect("a folder");
        let path = folder.path().join("verger.yaml");
        let mut files = Files::new(vec![path.clone()]);
        fs::write(&path, "mode: full").expect("it is ours");
        assert!(!changes(&mut files), "it may still be written");
        files.look();
        assert!(!changes(&mut files) && !changes(&mut files));
    }
}

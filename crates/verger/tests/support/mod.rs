//! Finds the project's files for the tests that read them.

use std::fs;
use std::path::{Path, PathBuf};

/// Folders that hold what was built, not what was written.
const BUILT: [&str; 5] = ["target", "book", "node_modules", "mutants.out", ".git"];

/// The folder of the workspace. Asked at run time, because a build may be cached across clones.
pub(crate) fn root() -> PathBuf {
    let own = std::env::var("CARGO_MANIFEST_DIR").expect("cargo and nextest set it for every test");
    Path::new(&own).ancestors().nth(2).expect("the crate is at crates/verger").to_path_buf()
}

/// Every file below `folder` whose name ends in `suffix`, in a stable order.
pub(crate) fn files(folder: &Path, suffix: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        for path in entries.map(|entry| entry.expect("a readable folder").path()) {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if path.is_dir() && !BUILT.contains(&name.as_str()) {
                folders.push(path);
            } else if path.is_file() && name.ends_with(suffix) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

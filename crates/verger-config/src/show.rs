//! What holds, and where it comes from: `verger config show`.

use std::fmt;
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::problem::visible;
use crate::settings::Configuration;

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Nobody said anything else.
    Default,
    /// A line of the file.
    File {
        /// The file.
        file: PathBuf,
        /// The line.
        line: u32,
    },
    /// A variable of the environment.
    Environment(&'static str),
    /// A flag of the command line.
    Flag(&'static str),
}

/// One setting as it holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Effective {
    /// Its dotted name; what stands in `roles` and `agents` has their names in it.
    pub key: String,
    /// Its value as it would be written in the file. Of secrets, whether they are set.
    pub value: String,
    /// Where it comes from.
    pub origin: Origin,
}

/// How much to show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// Everything.
    All,
    /// What somebody set.
    Changed,
}

impl Configuration {
    /// Every setting as it holds, in the order of the documentation.
    pub fn effective(&self) -> &[Effective] {
        &self.effective
    }

    /// A table for people: name, value, origin.
    pub fn show(&self, detail: Detail) -> String {
        let wanted = |it: &&Effective| detail == Detail::All || it.origin != Origin::Default;
        let rows: Vec<_> = self.effective.iter().filter(wanted).collect();
        let width =
            |of: fn(&Effective) -> &str| rows.iter().map(|row| of(row).chars().count()).max().unwrap_or(0);
        let (keys, values) = (width(|row| &row.key), width(|row| &row.value).min(40));
        let shown = rows.iter().map(|row| {
            let (key, value) = (visible(&row.key), visible(&row.value));
            format!("{key:keys$}  {value:values$}  {}\n", row.origin)
        });
        shown.collect()
    }

    /// The same for programs: `{"settings":[{"key","value","origin",…}]}`.
    pub fn show_json(&self) -> serde_json::Value {
        let rows = self.effective.iter().map(|row| {
            let origin = match &row.origin {
                Origin::Default => json!({ "kind": "default" }),
                Origin::File { file, line } => json!({ "kind": "file", "file": file, "line": line }),
                Origin::Environment(name) => json!({ "kind": "environment", "name": name }),
                Origin::Flag(name) => json!({ "kind": "flag", "name": name }),
            };
            json!({ "key": row.key, "value": row.value, "origin": origin })
        });
        json!({ "settings": rows.collect::<Vec<_>>() })
    }
}

impl Origin {
    pub(crate) fn file(file: &Path, line: u32) -> Self {
        Self::File { file: file.to_path_buf(), line }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File { file, line } => write!(f, "{}:{line}", visible(&file.to_string_lossy())),
            Self::Environment(name) => write!(f, "environment {name}"),
            Self::Flag(name) => write!(f, "flag {name}"),
        }
    }
}

//! Which crate may depend on which, as a table that a build cannot get around.
//!
//! The direction of dependencies is what keeps every decision in one pure place: a core that could reach the
//! store would sooner or later read it. A new crate or a new edge is added here, with a line in `docs/src/adr/`.

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use toml::{Table, Value};

/// Each crate of ours and those of ours that it may depend on.
const ALLOWED: [(&str, &[&str]); 14] = [
    ("verger-core", &[]),
    ("verger-engine", &["verger-core"]),
    ("verger-store", &["verger-core", "verger-engine"]),
    ("verger-cluster", &["verger-core", "verger-engine"]),
    ("verger-sim", &["verger-core", "verger-engine"]),
    ("verger-config", &["verger-core"]),
    ("verger-probe", &["verger-core"]),
    ("verger-ingest", &["verger-core"]),
    ("verger-act", &["verger-core"]),
    ("verger-api", &[]),
    ("verger-client", &["verger-api"]),
    ("verger-tui", &["verger-api"]),
    (
        "verger-server",
        &[
            "verger-core",
            "verger-engine",
            "verger-store",
            "verger-cluster",
            "verger-config",
            "verger-probe",
            "verger-ingest",
            "verger-act",
            "verger-api",
        ],
    ),
    (
        "verger",
        &[
            "verger-core",
            "verger-config",
            "verger-ingest",
            "verger-act",
            "verger-api",
            "verger-client",
            "verger-tui",
            "verger-sim",
            "verger-server",
        ],
    ),
];

/// What the core may use of other people's work: look-up by id and the derivation of error types.
const CORE_MAY_USE: [&str; 3] = ["foldhash", "hashbrown", "thiserror"];

/// How the names of crates begin that bring an async runtime or wait for the world.
const ASYNC: [&str; 9] = ["tokio", "async", "futures", "smol", "hyper", "axum", "tonic", "tower", "reqwest"];

/// Crates of ours that are synchronous, so that the simulator runs them with a virtual clock.
const SYNCHRONOUS: [&str; 3] = ["verger-core", "verger-engine", "verger-sim"];

#[test]
fn crates_depend_only_on_what_the_table_allows() {
    assert_eq!(own_edges(&manifests()), Vec::<String>::new());
}

#[test]
fn the_core_uses_nothing_but_its_short_list() {
    assert_eq!(core_edges(&manifests()), Vec::<String>::new());
}

#[test]
fn core_engine_and_simulator_are_synchronous() {
    assert_eq!(async_edges(&manifests()), Vec::<String>::new());
}

#[test]
fn every_crate_is_named_after_its_folder_and_takes_versions_and_lints_from_the_workspace() {
    assert_eq!(strays(&manifests()), Vec::<String>::new());
}

#[test]
fn every_dependency_is_used() {
    let root = support::root().join("crates");
    let unused: Vec<_> = manifests()
        .iter()
        .flat_map(|(folder, manifest)| {
            let sources = support::files(&root.join(folder), ".rs");
            let text = sources
                .iter()
                .map(|path| fs::read_to_string(path).expect("a readable source"))
                .collect::<String>();
            unused(folder, manifest, &text)
        })
        .collect();
    assert_eq!(unused, Vec::<String>::new());
}

/// The manifests of all crates, by the name of their folder.
fn manifests() -> BTreeMap<String, Table> {
    let manifests: BTreeMap<_, _> = support::files(&support::root().join("crates"), "Cargo.toml")
        .into_iter()
        .map(|path| {
            let folder = path.parent().and_then(|folder| folder.file_name()).expect("a crate's folder");
            let text = fs::read_to_string(&path).expect("a readable manifest");
            (folder.to_string_lossy().into_owned(), text.parse().expect("a valid manifest"))
        })
        .collect();
    assert!(manifests.contains_key("verger-core"), "no manifests were found");
    manifests
}

/// The dependencies in the tables called `kind`, those for one platform included, with how each is given.
fn dependencies<'a>(manifest: &'a Table, kind: &str) -> Vec<(&'a str, &'a Value)> {
    let platforms = manifest.get("target").and_then(Value::as_table).into_iter().flat_map(Table::values);
    std::iter::once(manifest)
        .chain(platforms.filter_map(Value::as_table))
        .filter_map(|table| table.get(kind)?.as_table())
        .flatten()
        .map(|(name, given)| (given.get("package").and_then(Value::as_str).unwrap_or(name.as_str()), given))
        .collect()
}

/// Every dependency of a crate: to run, to build and to be tested.
fn all_dependencies(manifest: &Table) -> impl Iterator<Item = (&str, &Value)> {
    ["dependencies", "build-dependencies", "dev-dependencies"]
        .into_iter()
        .flat_map(|kind| dependencies(manifest, kind))
}

fn own_edges(manifests: &BTreeMap<String, Table>) -> Vec<String> {
    let table = BTreeMap::from(ALLOWED);
    let mut wrong = Vec::new();
    for (name, manifest) in manifests {
        let Some(allowed) = table.get(name.as_str()) else {
            wrong.push(format!("{name} is not in the table"));
            continue;
        };
        for (used, _) in all_dependencies(manifest) {
            if used.starts_with("verger") && !allowed.contains(&used) {
                wrong.push(format!("{name} may not depend on {used}"));
            }
        }
    }
    wrong
}

fn core_edges(manifests: &BTreeMap<String, Table>) -> Vec<String> {
    ["dependencies", "build-dependencies"]
        .into_iter()
        .flat_map(|kind| dependencies(&manifests["verger-core"], kind))
        .filter(|(used, _)| !CORE_MAY_USE.contains(used))
        .map(|(used, _)| format!("verger-core may not depend on {used}"))
        .collect()
}

fn async_edges(manifests: &BTreeMap<String, Table>) -> Vec<String> {
    SYNCHRONOUS
        .into_iter()
        .filter_map(|name| Some((name, manifests.get(name)?)))
        .flat_map(|(name, manifest)| all_dependencies(manifest).map(move |(used, _)| (name, used)))
        .filter(|(_, used)| ASYNC.iter().any(|start| used.starts_with(start)))
        .map(|(name, used)| format!("{name} is synchronous and may not depend on {used}"))
        .collect()
}

fn strays(manifests: &BTreeMap<String, Table>) -> Vec<String> {
    let flag = |table: &Value| table.get("workspace").and_then(Value::as_bool) == Some(true);
    let mut wrong = Vec::new();
    for (folder, manifest) in manifests {
        let name = manifest.get("package").and_then(|package| package.get("name")).and_then(Value::as_str);
        if name != Some(folder) {
            wrong.push(format!("{folder} holds a crate of another name"));
        }
        if !manifest.get("lints").is_some_and(flag) {
            wrong.push(format!("{folder} does not take its lints from the workspace"));
        }
        for (used, given) in all_dependencies(manifest) {
            if !flag(given) {
                wrong.push(format!("{folder} does not take {used} from the workspace"));
            }
        }
    }
    wrong
}

/// Dependencies that no source of the crate names. Rough: it takes a mention in a comment for a use.
fn unused(folder: &str, manifest: &Table, sources: &str) -> Vec<String> {
    let words: BTreeSet<_> = sources.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
    all_dependencies(manifest)
        .filter(|(used, _)| !words.contains(used.replace('-', "_").as_str()))
        .map(|(used, _)| format!("{folder} does not use {used}"))
        .collect()
}

/// The checks themselves are held against manifests that break each rule.
mod checks {
    use super::*;

    fn fleet(manifests: &[(&str, &str)]) -> BTreeMap<String, Table> {
        manifests
            .iter()
            .map(|(name, text)| ((*name).to_owned(), text.parse().expect("a valid manifest")))
            .collect()
    }

    #[test]
    fn an_edge_against_the_table_is_found_wherever_it_hides() {
        let bad = fleet(&[
            ("verger-api", "[dependencies]\nverger-core.workspace = true"),
            ("verger-core", "[dev-dependencies]\nverger-sim.workspace = true"),
            ("verger-engine", "[target.'cfg(unix)'.dependencies]\nverger-store.workspace = true"),
            ("verger-sim", "[dependencies]\nhidden = { package = \"verger-server\", workspace = true }"),
            ("verger-utils", ""),
        ]);
        assert_eq!(
            own_edges(&bad),
            [
                "verger-api may not depend on verger-core",
                "verger-core may not depend on verger-sim",
                "verger-engine may not depend on verger-store",
                "verger-sim may not depend on verger-server",
                "verger-utils is not in the table",
            ]
        );
    }

    #[test]
    fn nothing_but_the_binary_may_depend_on_the_server() {
        let users: Vec<_> = ALLOWED
            .iter()
            .filter(|(_, allowed)| allowed.contains(&"verger-server"))
            .map(|(name, _)| name)
            .collect();
        assert_eq!(users, [&"verger"]);
    }

    #[test]
    fn a_library_that_the_core_may_not_use_is_found() {
        let bad = fleet(&[("verger-core", "[dependencies]\nthiserror = \"2\"\nrand = \"1\"")]);
        assert_eq!(core_edges(&bad), ["verger-core may not depend on rand"]);
    }

    #[test]
    fn a_runtime_in_the_engine_is_found() {
        let bad = fleet(&[("verger-engine", "[dependencies]\ntokio = \"1\"\nthiserror = \"2\"")]);
        assert_eq!(async_edges(&bad), ["verger-engine is synchronous and may not depend on tokio"]);
    }

    #[test]
    fn a_dependency_that_nothing_uses_is_found() {
        let manifest =
            "[dependencies]\nclap-complete = \"4\"\nserde = \"1\"".parse().expect("a valid manifest");
        let source = "use clap_complete::Shell; let serde_like = 1;";
        assert_eq!(unused("verger", &manifest, source), ["verger does not use serde"]);
    }

    #[test]
    fn a_crate_that_goes_its_own_way_is_found() {
        let bad = fleet(&[("verger-sim", "[package]\nname = \"sim\"\n[dependencies]\nserde = \"1\"")]);
        assert_eq!(
            strays(&bad),
            [
                "verger-sim holds a crate of another name",
                "verger-sim does not take its lints from the workspace",
                "verger-sim does not take serde from the workspace",
            ]
        );
    }
}

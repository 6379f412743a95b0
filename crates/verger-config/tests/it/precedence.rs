//! Defaults < file < environment < flags, and each value says where it comes from.

use std::path::{Path, PathBuf};

use verger_config::{Detail, Flags, Secret, Source, Surroundings, load};

use crate::{at_home, right};

fn source(text: &str) -> Source {
    Source::from_bytes(Path::new("/etc/verger/verger.yaml"), text.as_bytes()).expect("a text")
}

fn with(variables: &[(&str, &str)], flags: Flags) -> Surroundings {
    let mut surroundings = Surroundings { flags, ..at_home() };
    surroundings.environment.extend(variables.iter().map(|(name, value)| ((*name).into(), (*value).into())));
    surroundings
}

#[test]
fn flags_go_before_the_environment_and_that_before_the_file() {
    let source = source("listen: 127.0.0.1:1\ndata_dir: state\n");
    let listen =
        |surroundings: &Surroundings| load(Some(&source), surroundings).unwrap().server.listen.port();
    assert_eq!(load(None, &at_home()).unwrap().server.listen.port(), 8374);
    assert_eq!(listen(&at_home()), 1);
    let variables = [("VERGER_LISTEN", "127.0.0.1:2"), ("VERGER_DATA_DIR", "/env")];
    assert_eq!(listen(&with(&variables, Flags::default())), 2);
    let flags =
        Flags { listen: Some("localhost:3".into()), data_dir: Some("/flag".into()), ..Flags::default() };
    assert_eq!(listen(&with(&variables, flags.clone())), 3);
    let data_dir = |surroundings: &Surroundings| load(Some(&source), surroundings).unwrap().server.data_dir;
    assert_eq!(data_dir(&with(&variables, flags)), PathBuf::from("/flag"));
    assert_eq!(data_dir(&with(&variables, Flags::default())), PathBuf::from("/env"));
    assert_eq!(data_dir(&at_home()), PathBuf::from("/etc/verger/state"), "meant from the folder of the file");
}

#[test]
fn which_file_is_meant_is_said_by_a_flag_or_a_variable() {
    assert_eq!(at_home().file(), None);
    let variables = [("VERGER_CONFIG", "/a.yaml")];
    assert_eq!(with(&variables, Flags::default()).file(), Some("/a.yaml".into()));
    let flags = Flags { config: Some("/b.yaml".into()), ..Flags::default() };
    assert_eq!(with(&variables, flags).file(), Some("/b.yaml".into()));
}

#[test]
fn every_value_says_where_it_comes_from_and_a_token_only_that_it_is_set() {
    let text = "retention:\n  history: 7d\nroles:\n  critical:\n    mode: full\nhealth_monitoring:\n  recovery: {max_attempts_per_hour: 9}\n";
    let flags = Flags { token: Some(Secret::new("hunter2")), ..Flags::default() };
    let surroundings =
        with(&[("VERGER_LISTEN", "127.0.0.1:2"), ("VERGER_URL", "http://h:1/?t=hunter2")], flags);
    let configuration = load(Some(&source(text)), &surroundings).unwrap();
    insta::assert_snapshot!(configuration.show(Detail::Changed), @"
    listen                                            127.0.0.1:2    environment VERGER_LISTEN
    url                                               http://h:1/?…  environment VERGER_URL
    token                                             set            flag --token
    retention.history                                 7d             /etc/verger/verger.yaml:2
    recovery.agent_limit                              9 in 1h        /etc/verger/verger.yaml:7
    recovery.fleet_limit                              9 in 1h        /etc/verger/verger.yaml:7
    roles.critical.mode                               full           /etc/verger/verger.yaml:5
    health_monitoring.recovery.max_attempts_per_hour  9              /etc/verger/verger.yaml:7
    ");
    let json = configuration.show_json().to_string();
    assert!(!json.contains("hunter2") && json.contains(r#""origin":{"kind":"default"}"#));
}

#[test]
fn what_is_wrong_around_the_file_is_told_by_its_name() {
    let told = |surroundings: &Surroundings| load(None, surroundings).unwrap_err().to_string();
    assert!(
        told(&with(&[("VERGER_LISTEN", "8374")], Flags::default()))
            .starts_with("VERGER_LISTEN: `8374` is no address")
    );
    assert!(
        told(&with(&[("VERGER_URL", "ftp://h")], Flags::default()))
            .starts_with("VERGER_URL: `ftp://h` must begin")
    );
    assert!(told(&Surroundings::default()).starts_with("--data-dir: no data folder is known"));
    let open = Flags { listen: Some("0.0.0.0:1".into()), ..Flags::default() };
    assert!(told(&with(&[], open.clone())).starts_with("listening at 0.0.0.0:1, beyond this machine"));
    assert!(load(None, &with(&[], Flags { insecure: true, ..open })).unwrap().server.insecure);
}

#[test]
fn encryption_opens_the_way_beyond_this_machine() {
    let server = right("listen: '[::]:443'\naccess: {tls: {cert: c.pem, key: k.pem}}").server;
    assert_eq!(server.tls.unwrap().cert, PathBuf::from("c.pem"));
}

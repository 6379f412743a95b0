//! What is kept of a program that is ended (L22).

use std::process::Command;

use verger_act::Tail;
use verger_act::process::FinalState;

use crate::run::{PATIENT, Run, until};

fn git(run: &Run, args: &[&str]) {
    let mut git = Command::new("git");
    git.args(["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=work"]);
    let output = git.args(args).current_dir(run.folder.path()).output().expect("git is installed");
    assert!(output.status.success(), "{output:?}");
}

#[tokio::test]
async fn l22_the_last_state_of_a_program_is_kept_without_its_secrets() {
    let mut run = Run::script(
        "until [ -e go ]; do sleep 0.01; done; export API_KEY=hunter2; \
         exec sh -c 'exec 7> notes; sleep 300 & echo > ready; wait' --token hunter3",
    );
    git(&run, &["init", "-q"]);
    std::fs::write(run.file("kept"), "a\n").unwrap();
    git(&run, &["add", "kept"]);
    git(&run, &["commit", "-qm", "first"]);
    std::fs::write(run.file("kept"), "b\n").unwrap();
    std::fs::write(run.file("go"), "").unwrap();
    run.written("ready").await;
    until("both run", || run.tree.sample().processes == 2).await;
    let mut output = Tail::keeping(16);
    output.push("no line, and 25 characters".as_bytes());
    let state = FinalState::take(&mut run.tree, &output);
    assert_eq!((state.output.as_str(), state.output_cut), ("nd 25 characters", true));
    assert!(state.variables.contains(&"API_KEY".to_owned()) && state.variables.contains(&"PATH".to_owned()));
    let notes = run.file("notes").canonicalize().unwrap();
    let is_notes = |target: &str| target == notes.to_string_lossy();
    assert!(state.open_files.iter().any(|file| file.number == 7 && is_notes(&file.target)), "{state:?}");
    assert_eq!(state.directory, Some(run.folder.path().canonicalize().unwrap()));
    let git = state.git.clone().expect("a work tree");
    assert_eq!((git.branch.as_deref(), git.head.map(|head| head.len())), (Some("work"), Some(40)));
    assert!(git.changes.contains(&" M kept".to_owned()) && git.changes.contains(&"?? go".to_owned()));
    assert_eq!(state.processes.len(), 2);
    let text = serde_json::to_string(&state).unwrap();
    assert!(!text.contains("hunter"), "{text}");
    assert_eq!(serde_json::from_str::<FinalState>(&text).unwrap(), state);
    assert!(run.tree.stop(PATIENT).is_complete());
}

#[tokio::test]
async fn l22_of_a_program_that_has_ended_there_is_its_output_and_its_directory() {
    let mut run = Run::script("exit 1");
    run.child.wait().unwrap();
    let mut output = Tail::default();
    output.push(b"last words\n");
    let state = FinalState::take(&mut run.tree, &output);
    let only_words = FinalState { output: "last words\n".to_owned(), ..FinalState::default() };
    assert_eq!(state, only_words);
    let folder = run.folder.path().to_owned();
    let after = FinalState::after(&mut run.tree, &output, &folder);
    assert_eq!(after, FinalState { directory: Some(folder), ..only_words });
}

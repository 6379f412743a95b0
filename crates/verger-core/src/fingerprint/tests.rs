use proptest::prelude::*;

use super::*;

fn same(a: &str, b: &str) -> bool {
    ResultPrint::of(a, false, None) == ResultPrint::of(b, false, None)
}

fn outage(text: &str) -> bool {
    ResultPrint::of(text, true, None).outage
}

fn waits(tool: &str, args: &str) -> bool {
    CallPrint::of(tool, args).class == CallClass::Waiting
}

#[test]
fn l06_no_text_of_its_own_is_taken_for_one_that_says_nothing() {
    let word = |number: u32| char::from_digit(10 + number % 26, 36).unwrap_or_default();
    let text = |number: u32| (0..4).map(|place| word(number / 26_u32.pow(place))).collect::<String>();
    let prints: Vec<ResultPrint> = (0..5_000).map(|n| ResultPrint::of(&text(n), false, None)).collect();
    assert!(prints.iter().all(|print| print.says_something()));
    let different: std::collections::BTreeSet<u64> = prints.iter().map(|print| print.digest).collect();
    assert_eq!(different.len(), prints.len());
}

#[test]
fn l06_what_changes_by_itself_is_no_new_result() {
    for (a, b) in [
        ("\x1b[31merror\x1b[0m: no such file", "error: no such file"),
        ("\x1b]0;title\x07done", "done"),
        ("[12:34:56] started", "[09:00:01] started"),
        ("2026-08-22 12:34:56,789 INFO up", "2026-08-23 01:02:03,004 INFO up"),
        ("at 2026-08-22T12:34:56.789Z", "at 2026-08-23T00:00:00.1+02:00"),
        ("Aug 22 12:34 file.txt", "Aug 1 08:00 file.txt"),
        ("22/Aug/2026:12:34:56 GET /", "23/Aug/2026:02:14:06 GET /"),
        ("{\"ts\":1787395200123,\"ok\":true}", "{\"ts\":1787395300456,\"ok\":true}"),
        ("==== 1 failed in 0.31s ====", "=== 1 failed in 12.05s ==="),
        ("took 12ms", "took 1.5s"),
        ("  two\tfiles \r\n", "two files"),
        ("finished in 0.31 seconds.", "finished in 12 seconds."),
        ("pod/web Running 5m", "pod/web Running   1h30m"),
        ("request 1f3a9c7e44b0 failed", "request 99aa3c7e44bf failed"),
        ("id=123e4567-e89b-12d3-a456-426614174000;", "id=00000000-e89b-12d3-a456-4266141740ff;"),
        ("object at 0x7f3a9c7e44b0>", "object at 0x7f3a11111110>"),
        ("/tmp/tmpab12cd/run.log missing", "/tmp/tmpzz99xx/run.log missing"),
        ("/tmp/pytest-of-me/pytest-12/x", "/tmp/pytest-of-me/pytest-13/x"),
        ("/bin/bash: line 11301: foo: not found", "/bin/bash: line 11302: foo: not found"),
        ("worker (pid 4711) died", "worker (pid 4712) died"),
        ("worker PID:4711 died", "worker PID:4712 died"),
    ] {
        assert!(same(a, b), "{a:?} and {b:?}");
    }
}

#[test]
fn l06_numbers_and_words_are_results() {
    for (a, b) in [
        ("10 %", "20 %"),
        ("10% done", "20% done"),
        ("3 passed, 1 failed", "4 passed, 0 failed"),
        ("step 10 of 99", "step 11 of 99"),
        ("src/main.rs:12:34: error", "src/main.rs:14:34: error"),
        ("lines 1-50", "lines 51-100"),
        ("downloaded 1600000000 bytes", "downloaded 1700000000 bytes"),
        ("1,234 files", "1,235 files"),
        ("....", "....."),
        ("a 10 b", "a 10b"),
        ("exit code 1", "exit code 2"),
        ("version 1.2.3", "version 1.2.4"),
        ("defaced", "decade"),
        ("/tmp/notes/a.txt", "/tmp/notes/b.txt"),
        ("", "x"),
    ] {
        assert!(!same(a, b), "{a:?} and {b:?}");
    }
}

#[test]
fn a_text_may_be_bare_of_content() {
    let says = |text| ResultPrint::of(text, true, None).says_something();
    assert!(!says("") && !says("Exit code 1") && !says("command failed with exit status 127\n"));
    assert!(says("no such file") && says("Exit code 1\nerror: x not found"));
}

#[test]
fn outages_are_told_from_failures() {
    for text in [
        "API Error: 429 {\"type\":\"error\"}",
        "rate_limit_error: try again",
        "Rate limit reached for requests",
        "Error: Overloaded",
        "HTTP/1.1 503 Service Unavailable",
        "curl: (6) Could not resolve host: example.org",
        "connect ECONNREFUSED 10.0.0.7:443",
        "read: connection reset by peer",
        "status code: 502",
    ] {
        assert!(outage(text), "{text}");
        assert!(!ResultPrint::of(text, false, None).outage, "it did not fail: {text}");
    }
    for text in [
        "429 passed, 3 failed",
        "error: 12 tests failed",
        "no such file or directory",
        "connect ECONNREFUSED 127.0.0.1:3000",
        "curl: (7) Failed to connect to localhost port 80: Connection refused",
        "",
    ] {
        assert!(!outage(text), "{text}");
    }
}

#[test]
fn l06_the_order_of_keys_and_the_space_between_them_do_not_matter() {
    let print = |args| CallPrint::of("edit", args).digest;
    assert_eq!(
        print(r#"{"a":1,"b":{"c":[1,2],"d":null}}"#),
        print(r#" { "b" : {"d":null, "c":[1, 2]}, "a":1 } "#)
    );
    assert_eq!(print("ls   -la\n"), print("ls -la"));
    for (a, b) in [
        (r#"{"a":1,"b":2}"#, r#"{"a":2,"b":1}"#),
        (r#"{"a":[1,2]}"#, r#"{"a":[2,1]}"#),
        (r#"{"a":"x y"}"#, r#"{"a":"x  y"}"#),
        (r#"{"a":{"b":1},"c":2}"#, r#"{"a":{"c":2},"b":1}"#),
        (r#"{"a":1"#, r#"{"a":2"#),
        ("", "{}"),
    ] {
        assert_ne!(print(a), print(b), "{a} and {b}");
    }
    assert_ne!(CallPrint::of("read", "x").digest, CallPrint::of("write", "x").digest);
}

#[test]
fn l06_what_a_model_says_about_a_command_is_not_part_of_it() {
    let print = |args| CallPrint::of("Bash", args).digest;
    assert_eq!(
        print(r#"{"command":"ls","description":"List files"}"#),
        print(r#"{"description":"Look again","command":"ls","thought":"hm"}"#)
    );
    assert_ne!(print(r#"{"title":"x","description":"a"}"#), print(r#"{"title":"x","description":"b"}"#));
}

#[test]
fn l06_calls_that_wait_or_look_are_known() {
    for (tool, args) in [
        ("BashOutput", r#"{"bash_id":"1"}"#),
        ("read_output", ""),
        ("get_job_status", r#"{"id":7}"#),
        ("wait_for_build", ""),
        ("scroll_down", ""),
        ("Bash", r#"{"command":"sleep 30 && cat build.log"}"#),
        ("Bash", r#"{"command":"cat x; tail -n 5 build.log"}"#),
        ("Bash", r#"{"command":"until curl -s x; do sleep 5; done"}"#),
        ("Bash", r#"{"command":"kubectl -n web get pods"}"#),
        ("Bash", r#"{"command":"gh run watch 12"}"#),
        ("shell", r#"{"command":["bash","-lc","sleep 5"]}"#),
        ("execute_bash", r#"{"command":""}"#),
        ("write_stdin", r#"{"session_id":1,"chars":""}"#),
        ("bash", ""),
        ("bash", "scroll_down"),
        ("bash", "timeout 60 tail -f log"),
    ] {
        assert!(waits(tool, args), "{tool} {args}");
    }
    for (tool, args) in [
        ("Edit", r#"{"new_string":"sleep(5); // wait for status"}"#),
        ("Bash", r#"{"command":"git status"}"#),
        ("Bash", r#"{"command":"grep -rn wait src"}"#),
        ("Bash", r#"{"command":"echo \"wait\""}"#),
        ("Bash", r#"{"command":"pytest -x"}"#),
        ("Read", r#"{"file_path":"tail.rs"}"#),
        ("git_status", ""),
        ("update_status", ""),
        ("list_files", "{}"),
    ] {
        assert!(!waits(tool, args), "{tool} {args}");
    }
}

#[test]
fn fingerprints_are_a_format_and_never_change() {
    let stored = (
        CallPrint::of("Bash", r#"{"command":"ls"}"#).digest,
        ResultPrint::of("3 passed in 0.31s", false, None).digest,
        TextPrint::of("Done.").0,
    );
    assert_eq!(stored, (17_370_639_699_025_293_847, 13_619_715_479_496_905_122, 8_287_000_502_881_287_277));
}

#[test]
fn a_huge_text_differs_by_its_ends() {
    let middle = "x ".repeat(200_000);
    assert!(!same(&(middle.clone() + "a"), &(middle.clone() + "b")));
    assert!(same(&(middle.clone() + "3s"), &(middle + "4s")));
    assert_ne!(CallPrint::of("w", &"y".repeat(100_000)), CallPrint::of("w", &"y".repeat(100_001)));
}

proptest! {
    #[test]
    fn no_text_is_too_strange(bytes in prop::collection::vec(any::<u8>(), 0..2_000)) {
        let text = String::from_utf8_lossy(&bytes);
        CallPrint::of(&text, &text);
        ResultPrint::of(&text, true, None);
        TextPrint::of(&text);
    }

    #[test]
    fn no_arguments_are_too_strange(text in r#"[\[\]{}",:\\a1 .-]{0,200}"#) {
        CallPrint::of("Bash", &text);
        ResultPrint::of(&text, true, None);
    }

    #[test]
    fn l06_colours_times_and_ids_never_change_a_result(
        words in prop::collection::vec("[a-z]{1,9}|[0-9]{1,4}|[A-Z_]{1,6}:", 1..30),
        places in prop::collection::vec(0..5u8, 30),
        (h, m, s, ms) in (0..24u32, 0..60u32, 0..60u32, 0..1_000u32),
        id in any::<u64>(),
    ) {
        let write = |h: u32, m: u32, s: u32, ms: u32, id: u64, colour: &str| {
            let written = words.iter().zip(&places).map(|(word, place)| match place {
                0 => format!("[{h:02}:{m:02}:{s:02}.{ms:03}] {word}\n"),
                1 => format!("{word} (in {s}.{ms}s) "),
                2 => format!("{word} <id {:08x}a1> ", id >> 32),
                3 => format!("{colour}{word}\x1b[0m "),
                _ => format!("{word} on line {m},\t"),
            });
            written.collect::<String>()
        };
        let a = write(12, 34, 56, 789, 0x1234_5678_9abc_def0, "");
        let b = write(h, m, s, ms, id, "\x1b[1;31m");
        prop_assert!(same(&a, &b), "{:?} and {:?}", a, b);
    }

    #[test]
    fn l06_a_new_number_is_always_a_new_result(a in 0..100_000u32, b in 0..100_000u32, before in "[a-z]{4,12}") {
        prop_assume!(!["line", "pid"].contains(&before.as_str()));
        let text = |n: u32| format!("{before}: {n} files, {n}% done");
        prop_assert_eq!(same(&text(a), &text(b)), a == b);
    }

    #[test]
    fn keys_may_come_in_any_order(members in prop::collection::btree_map("[a-z]{1,6}", "[a-z ]{0,6}", 0..8)) {
        let list = |members: Vec<(&String, &String)>| {
            let members: Vec<_> = members.iter().map(|(key, value)| format!("{key:?}:{value:?}")).collect();
            format!("{{{}}}", members.join(", "))
        };
        let (there, back) = (list(members.iter().collect()), list(members.iter().rev().collect()));
        prop_assert_eq!(CallPrint::of("t", &there).digest, CallPrint::of("t", &back).digest);
    }
}

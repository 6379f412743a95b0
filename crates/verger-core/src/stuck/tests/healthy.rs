//! What looks like going round and is not. Each shape goes on for far longer than a loop would be allowed to.

use super::*;

fn many(count: usize, step: impl Fn(usize) -> Step) -> Vec<Step> {
    (0..count).map(step).collect()
}

#[test]
fn l06_a_poll_whose_answer_moves_is_no_loop() {
    assert_healthy(&many(60, |n| shell("make status", format!("building: {n} of 400 targets done"))));
    assert_healthy(&many(60, |n| call("get_job", "{\"id\":\"7\"}", format!("{{\"progress\": {n}}}"))));
}

#[test]
fn l06_a_poll_that_waits_for_something_slow_is_no_loop() {
    let poll = |n: usize| {
        shell("sleep 30 && kubectl get pods", "web-0 Pending").at(40 * seconds(n), 40 * seconds(n) + 31)
    };
    assert_healthy(&many(80, poll));
    let look = |n: usize| {
        call("BashOutput", "{\"id\":\"b1\"}", "(still running)").at(60 * seconds(n), 60 * seconds(n))
    };
    assert_healthy(&many(80, look));
}

#[test]
fn l06_paging_is_no_loop() {
    let page = |n: usize| {
        call("Read", format!("{{\"file_path\":\"/a/b.c\",\"offset\":{},\"limit\":50}}", n * 50), prose(n, 40))
    };
    assert_healthy(&many(60, page));
    assert_healthy(&many(60, |n| call("scroll_down", "scroll_down", prose(n, 40))));
}

#[test]
fn l06_paging_through_numbers_is_no_loop() {
    let rows = |n: usize| joined((0..20).map(|row| format!("{},{},{}", n * 20 + row, n * 31, row * 7)));
    assert_healthy(&many(40, |n| shell(&format!("sed -n '{},{}p' data.csv", n * 20, n * 20 + 19), rows(n))));
}

#[test]
fn l06_batch_work_with_constant_answers_is_no_loop() {
    assert_healthy(&many(60, |n| shell(&format!("git mv src/old_{n}.rs src/new_{n}.rs"), "")));
    assert_healthy(&many(60, |n| {
        call("move_file", format!("{{\"from\":\"a/{n}.txt\",\"to\":\"b/{n}.txt\"}}"), "ok")
    }));
    let header = "/*\n * Copyright the authors.\n * All rights reserved.\n * See the file LICENSE.\n */\n#![forbid(unsafe)]\n//! Docs\n";
    assert_healthy(&many(60, |n| write(&format!("/src/{}.rs", name(n)), header)));
    let send = |n: usize| {
        call("send_message", format!("{{\"to\":\"{}\",\"text\":{:?}}}", name(n), prose(n, 1)), "sent")
    };
    assert_healthy(&many(60, send));
}

#[test]
fn l06_running_the_tests_again_after_an_edit_is_no_loop() {
    let mut green = Vec::new();
    let mut shrinking = Vec::new();
    for n in 0..20 {
        let edit = write(&format!("/src/{}.py", name(n % 4)), &prose(n, 6));
        green.extend([edit.clone(), shell("pytest -q", "12 passed in 0.31s")]);
        shrinking
            .extend([edit, shell("pytest -q", format!("FAILED tests/test_parse.py\n{} failed", 40 - n))]);
    }
    assert_healthy(&green);
    let mut logged = Vec::new();
    for n in 0..20 {
        logged.push(write(&format!("/src/{}.py", name(n % 4)), &prose(n, 6)));
        logged.push(shell("pytest -q > test.log 2>&1", ""));
        logged.push(shell(
            "cat > t.py <<'E'\nimport app\nprint(app.run(1, 2))\nprint(app.run(3, 4))\nE\npython t.py",
            "3\n7",
        ));
    }
    assert_healthy(&logged);
    assert_healthy(&shrinking);
}

#[test]
fn l06_four_equal_failures_after_four_real_edits_are_worth_a_nudge_at_most() {
    let mut steps = Vec::new();
    for n in 0..4 {
        steps.push(write("/src/parse.py", &prose(n, 6)));
        steps.push(failed(
            "bash",
            "{\"command\":\"pytest -q\"}",
            "FAILED tests/test_parse.py::test_empty\n1 failed",
        ));
    }
    assert_healthy(&steps);
    assert_eq!(judgements(&steps).last().map(|last| last.level), Some(Level::Nudge));
}

#[test]
fn l06_one_error_fixed_after_the_other_is_no_loop() {
    let mut steps = Vec::new();
    for n in 0..20 {
        let missing = name(n);
        steps.push(failed("bash", "{\"command\":\"python run.py\"}", traceback(&missing)));
        steps.push(shell(
            &format!("pip install {missing}"),
            format!("Successfully installed {missing}\n{}", prose(n, 3)),
        ));
    }
    assert_healthy(&steps);
}

#[test]
fn l06_an_outage_of_the_provider_is_no_loop() {
    let limited = "Error: 429 Too Many Requests: rate limit exceeded, retry after 30 s";
    assert_healthy(&many(40, |_| failed("web_search", "{\"query\":\"weather\"}", limited)));
    assert_healthy(&many(40, |_| {
        failed("fetch", "{\"url\":\"https://a.example\"}", "503 Service Unavailable")
    }));
}

#[test]
fn l06_calls_issued_together_are_one_decision() {
    let reads = many(12, |n| {
        failed("Read", format!("{{\"file_path\":\"/src/{}.ex\"}}", name(n)), "File does not exist.")
            .at(100, 100)
    });
    assert_healthy(&reads);
    let cancelled = many(12, |n| {
        failed(
            "Read",
            format!("{{\"file_path\":\"/src/{}.ex\"}}", name(n)),
            "Cancelled: a sibling call failed",
        )
    });
    assert_healthy(&cancelled);
}

#[test]
fn l06_looking_around_is_no_loop() {
    let mut steps = Vec::new();
    for n in 0..20 {
        steps.push(shell(&format!("cd {}", name(n)), ""));
        steps.push(shell("ls", prose(n, 3)));
    }
    assert_healthy(&steps);
    let mut hits = Vec::new();
    for n in 0..20 {
        for miss in 0..4 {
            hits.push(shell(&format!("grep -rn {} src", name(100 + 5 * n + miss)), ""));
        }
        hits.push(shell(&format!("grep -rn {} src", name(n)), prose(n, 2)));
    }
    assert_healthy(&hits);
}

#[test]
fn l06_looking_at_a_file_after_each_edit_is_no_loop() {
    let mut steps = Vec::new();
    for n in 0..20 {
        steps.push(call("Read", "{\"file_path\":\"/src/a.rs\"}", prose(n, 12)));
        steps.push(write("/src/a.rs", &prose(n + 1, 12)));
        steps.push(shell("git status --short", " M src/a.rs"));
    }
    assert_healthy(&steps);
}

#[test]
fn l06_thoughts_and_plans_are_no_loop() {
    assert_healthy(&many(30, |n| call("think", format!("{{\"thought\":{:?}}}", prose(n, 1)), "")));
    let todo = |n: usize| {
        call(
            "TodoWrite",
            format!("{{\"todos\":[{{\"content\":{:?},\"status\":\"{n}\"}}]}}", prose(n, 1)),
            "Todos saved.",
        )
    };
    assert_healthy(&many(30, todo));
}

#[test]
fn l06_records_and_sums_are_no_loop() {
    let record = |n: usize| {
        let result =
            format!("{{\"id\": \"{n}\", \"name\": \"{}\", \"street\": \"{}\"}}", name(n), name(n + 50));
        call("get_user_details", format!("{{\"user_id\":\"u{n}\"}}"), result)
    };
    assert_healthy(&many(40, record));
    assert_healthy(&many(40, |n| {
        call("calculate", format!("{{\"expression\":\"{n} + 2\"}}"), format!("{}.0", n + 2))
    }));
}

#[test]
fn l06_a_person_who_asks_for_the_same_again_gets_it() {
    let mut steps = Vec::new();
    for n in 0..12 {
        steps.push(Step::Said(
            Role::User,
            format!("and now {}, then show me the state of things", prose(n, 2)),
        ));
        steps.push(shell("git status", "nothing to commit, working tree clean"));
        steps.push(Step::Said(Role::Agent, format!("done: {}", prose(n + 40, 2))));
    }
    assert_healthy(&steps);
}

pub(super) fn name(n: usize) -> String {
    prose(n, 1).split(' ').next().unwrap_or_default().to_owned()
}

fn seconds(n: usize) -> i64 {
    i64::try_from(n).unwrap()
}

fn traceback(missing: &str) -> String {
    format!(
        "Traceback (most recent call last):\n  File \"/app/run.py\", line 3, in <module>\n    from app import main\n  \
         File \"/app/app.py\", line 13, in <module>\n    from lib.base import Base\n\
         ModuleNotFoundError: No module named '{missing}'"
    )
}

#[test]
fn l06_long_texts_that_differ_where_nobody_looks_are_not_the_same_change() {
    let script = |n: usize| format!("{}{}", prose(1, 400), prose(n + 2, 4));
    assert_healthy(&many(12, |n| write("/app/solve.py", &script(n))));
    let cut = "import os\nimport sys\nfrom app import main\ndef run(): …[2310 chars cut]…\n";
    assert_healthy(&many(12, |n| write("/app/solve.py", &format!("{cut}{}", prose(n, 1)))));
}

#[test]
fn l10_fewer_failing_tests_than_ever_are_progress_and_more_are_not() {
    let round = |n: usize, failing: usize| {
        [
            shell(&format!("./configure --with-{}", name(n)), ""),
            failed(
                "bash",
                "{\"command\":\"run-all\"}",
                format!("FAILED: {failing} failed, in the same words as ever"),
            ),
        ]
    };
    assert_healthy(&(0..20).flat_map(|n| round(n, 40 - n)).collect::<Vec<_>>());
    assert_stuck(&(0..20).flat_map(|n| round(n, 40 + n)).collect::<Vec<_>>(), 13);
}

#[test]
fn l06_a_test_may_fail_in_the_same_words_five_times_while_the_code_changes() {
    let round = |n: usize| {
        let told = "FAIL: test_reconnect\nAssertionError: 0 != 1\nFAILED (failures=1)";
        [
            write("/src/client.py", &prose(n, 6)),
            failed("bash", "{\"command\":\"python -m unittest client\"}", told),
        ]
    };
    assert_healthy(&(0..5).flat_map(round).collect::<Vec<_>>());
    assert_eq!(assert_stuck(&(0..8).flat_map(round).collect::<Vec<_>>(), 11), Kind::SameError);
}

#[test]
fn l06_trouble_that_was_overcome_is_over() {
    let service = |n: usize| {
        let up = format!("{{\"command\":\"compose up -d {}\"}}", name(n));
        [
            failed("bash", up.clone(), "Error response from daemon: port is already allocated"),
            failed("bash", up.clone(), "Error response from daemon: port is already allocated"),
            shell(&format!("sed -i s/80/90/ compose.{}.yaml", name(n)), ""),
            call("bash", up, format!("{} started", name(n))),
        ]
    };
    assert_healthy(&(0..8).flat_map(service).collect::<Vec<_>>());
}

#[test]
fn l06_the_same_few_words_written_in_many_places_are_work_though_one_of_them_fails() {
    let header = |n: usize| {
        replace(&format!("/tests/{}.py", name(n)), "import pytest", "# the licence is MIT\nimport pytest")
    };
    let mut steps = many(20, header);
    steps.insert(9, failed("Edit", "{\"file_path\":\"/tests/none.py\"}", "File does not exist."));
    assert_healthy(&steps);
    let lines: Vec<String> = (0..12).map(|n| format!("let {} = read(n);", name(n))).collect();
    let calm = |n: usize| replace("/src/a.rs", &lines[n], "let value = read(n).unwrap_or_default();");
    assert_healthy(&many(12, calm));
}

#[test]
fn l06_an_outage_told_in_a_success_is_no_loop() {
    let steps =
        many(30, |_| call("embed", "{\"text\":\"two\"}", "503 Service Unavailable: upstream connect error"));
    assert_healthy(&steps);
}

#[test]
fn l06_telling_of_each_thing_done_is_no_dialogue_loop() {
    let mut steps = Vec::new();
    for n in 0..20 {
        let told = format!(
            "Now I move the next one of the components into the new folder for the user interface: {}.",
            name(n)
        );
        steps.push(Step::Said(Role::Agent, told));
        steps.push(shell(&format!("git mv src/{0}.tsx src/ui/{0}.tsx", name(n)), ""));
    }
    assert_healthy(&steps);
}

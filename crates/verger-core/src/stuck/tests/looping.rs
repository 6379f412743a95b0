//! What goes round, in the ways that equality does not see.

use super::healthy::name;
use super::*;

#[test]
fn l06_the_same_call_with_the_same_outcome_is_a_nudge_at_four_stuck_at_five_and_refused_at_ten() {
    let steps: Vec<Step> =
        (0..12).map(|_| shell("cd build/", "bash: cd: build/: No such file or directory")).collect();
    let levels: Vec<Level> = judgements(&steps).iter().map(|judgement| judgement.level).collect();
    assert_eq!(levels[..3], [Level::Undecided, Level::Undecided, Level::Normal]);
    assert_eq!(levels[3], Level::Nudge);
    assert_eq!(levels[4], Level::Stuck);
    assert_eq!(levels[9], Level::Refuse);
    assert_eq!(assert_stuck(&steps, 4), Kind::IdenticalCall);
}

#[test]
fn l10_evidence_names_the_steps_what_was_the_same_and_since_when() {
    let mut steps = vec![shell("ls", prose(1, 5)), shell("cat a", prose(2, 5))];
    steps.extend(
        (0..5).map(|_| failed("bash", "{\"command\":\"make\"}", "make: no rule to make target 'all'")),
    );
    let last = judgements(&steps)[6];
    assert_eq!(last.kind, Some(Kind::IdenticalCall));
    assert_eq!(last.since_step, Some(2));
    assert_eq!(last.evidence.steps(), [2, 3, 4, 5, 6]);
    assert_eq!((last.evidence.count, last.evidence.alike), (5, 5));
    assert_eq!(
        last.to_string(),
        "the same call had the same outcome 5 times, and nothing was learned since step 2"
    );
}

#[test]
fn l06_counters_moments_and_ids_do_not_hide_a_repeat() {
    let told = |n: usize| {
        format!(
            "/bin/sh: line {}: mvn: command not found (pid {n}) at 2024-05-01T10:00:{:02}Z req 7f3a9c{:04x}e2",
            11_300 + n,
            n,
            n * 77
        )
    };
    let steps: Vec<Step> = (0..8).map(|n| shell("mvn test", told(n))).collect();
    assert_stuck(&steps, 4);
}

#[test]
fn l06_laps_of_two_to_twelve_steps_are_seen() {
    for lap in 2..=12 {
        let around = |n: usize| call("open", format!("open src/{}.java", name(n % lap)), prose(n % lap, 20));
        let steps: Vec<Step> = (0..5 * lap + 10).map(around).collect();
        let kind = assert_stuck(&steps, lap + 6);
        assert_eq!(kind, Kind::Cycle, "a lap of {lap}");
    }
}

#[test]
fn l06_a_change_made_again_is_seen_though_its_result_differs() {
    let body = prose(1, 8);
    let file =
        |n: usize| format!("[File: /src/a.java ({} lines total)]\n{}{}", 20 + 8 * n, body, prose(50 + n, 9));
    let steps: Vec<Step> =
        (0..8).map(|n| call("edit", format!("edit 1:1\n{body}end_of_edit"), file(n))).collect();
    assert_eq!(assert_stuck(&steps, 3), Kind::ReappliedEdit);
}

#[test]
fn l06_a_change_made_undone_and_made_again_is_seen() {
    let (one, two) = ("let total = first + second;", "let total = first.checked_add(second)?;");
    let mut steps = Vec::new();
    for n in 0..5 {
        steps.push(replace("/src/sum.rs", one, two));
        steps.push(shell(&format!("cargo check -p a{n}"), prose(2 * n, 4)));
        steps.push(replace("/src/sum.rs", two, one));
        steps.push(shell(&format!("cargo check -p b{n}"), prose(2 * n + 1, 4)));
    }
    assert_eq!(assert_stuck(&steps, 8), Kind::ReappliedEdit);
}

#[test]
fn l06_the_same_text_under_new_names_each_failing_is_seen() {
    let body = prose(3, 12);
    let mut steps = Vec::new();
    for n in 0..8 {
        let file = format!("/app/{}.py", name(n));
        steps.push(write(&file, &body));
        steps.push(failed(
            "bash",
            format!("{{\"command\":\"python {file}\"}}"),
            format!("{file}: ImportError: no numpy here"),
        ));
    }
    assert_stuck(&steps, 7);
}

#[test]
fn l06_the_same_refusal_of_a_call_with_cosmetic_changes_is_seen() {
    let cosmetic = |n: usize| {
        format!(
            "{{\"user\":\"mia\",\"cabin\":\"business\",\"payment\":\"card\",\"note\":\"try {}\"}}",
            name(n)
        )
    };
    let refusal = "Error: payment amount does not add up, total price is 1203, but paid 833";
    let steps: Vec<Step> = (0..8).map(|n| failed("book", cosmetic(n), refusal)).collect();
    assert_eq!(assert_stuck(&steps, 4), Kind::SameError);
}

#[test]
fn l06_the_same_failure_whatever_is_edited_is_seen_at_the_fifth_time() {
    let mut steps = Vec::new();
    for n in 0..8 {
        steps.push(call("Read", format!("{{\"file_path\":\"/src/{}.ex\"}}", name(n)), prose(100 + n, 20)));
        steps.push(write(&format!("/src/{}.ex", name(n)), &prose(n, 6)));
        steps.push(failed(
            "bash",
            "{\"command\":\"git commit -m x\"}",
            "pre-commit: dialyzer: line 58: the pattern can never match",
        ));
    }
    assert_eq!(assert_stuck(&steps, 14), Kind::SameError);
    assert_eq!(stuck(&steps).map(|(at, _)| at), Some(14), "and not before");
}

#[test]
fn l06_a_sweep_that_finds_nothing_is_seen() {
    let sweep = |answer: &dyn Fn(&str) -> String| -> Vec<Step> {
        (0..12)
            .map(|n| call("find_file", format!("find_file \"{}.md\"", name(n)), answer(&name(n))))
            .collect()
    };
    assert_eq!(
        assert_stuck(&sweep(&|name| format!("No matches found for \"{name}.md\" in /app")), 8),
        Kind::FruitlessSearch
    );
    assert_eq!(assert_stuck(&sweep(&|_| String::new()), 8), Kind::FruitlessSearch);
    assert_stuck(&sweep(&|_| "[]".to_owned()), 8);
}

#[test]
fn l06_a_sweep_is_seen_in_other_languages_and_by_tools_of_unknown_names() {
    let answers: [fn(&str) -> String; 5] = [
        |name| format!("Keine Treffer für {name}.md"),
        |name| format!("Aucun résultat pour {name}.md"),
        |name| format!("Ошибка: файл {name}.md не найден"),
        |name| format!("未找到文件 {name}.md"),
        |name| format!("No se encontró el archivo {name}.md"),
    ];
    for answer in answers {
        let steps: Vec<Step> =
            (0..12).map(|n| call("t17", format!("{{\"q\":\"{}.md\"}}", name(n)), answer(&name(n)))).collect();
        assert_stuck(&steps, 9);
    }
}

#[test]
fn l06_sentences_where_a_command_belongs_are_seen() {
    let english = |n: usize| {
        format!("The previous command did not work as expected so let us look at {} instead.", name(n))
    };
    let german = |n: usize| {
        format!("Der vorige Befehl hat leider nicht funktioniert also sehen wir uns {} an.", name(n))
    };
    for say in [&english as &dyn Fn(usize) -> String, &german] {
        let steps: Vec<Step> = (0..9)
            .map(|n| call("bash", say(n), format!("bash: line {n}: {}: command not found", &say(n)[..3])))
            .collect();
        assert_eq!(assert_stuck(&steps, 7), Kind::Monologue);
    }
}

#[test]
fn l06_one_setup_attempt_after_the_other_that_times_out_is_seen() {
    let mut steps = Vec::new();
    for n in 0..8 {
        steps.push(shell(&format!("sudo apt-get install -y {}", name(n)), "EXECUTION TIMED OUT"));
        steps.push(shell(&format!("cat /etc/{}", name(n + 20)), prose(n, 5)));
    }
    assert_eq!(assert_stuck(&steps, 10), Kind::SameError);
}

#[test]
fn l06_dialogue_that_turns_in_circles_is_seen_across_turns() {
    let mut steps = Vec::new();
    for n in 0..8 {
        let ask =
            "I am sorry, but I need your booking reference and your full name to go on with this request.";
        steps.push(Step::Said(Role::Agent, format!("{ask} {}", name(n))));
        steps.push(Step::Said(Role::User, prose(n, 2)));
    }
    assert_eq!(assert_stuck(&steps, 8), Kind::DialogueLoop);
}

#[test]
fn l06_the_same_failure_in_every_turn_is_seen_though_a_person_speaks_between() {
    let mut steps = Vec::new();
    for n in 0..8 {
        steps.push(Step::Said(Role::User, format!("please try {}", prose(n, 2))));
        steps.push(failed("deploy", "{\"target\":\"prod\"}", "Error: token for prod is not valid any more"));
    }
    assert_eq!(assert_stuck(&steps, 9), Kind::SameError);
}

#[test]
fn l06_reading_the_same_page_by_other_words_is_seen() {
    let page = prose(9, 30);
    let steps: Vec<Step> =
        (0..10).map(|n| call("goto", format!("goto {}", 20 + 3 * n), page.clone())).collect();
    assert_stuck(&steps, 5);
}

#[test]
fn l06_a_change_of_course_resets_and_the_work_before_counts() {
    let mut steps: Vec<Step> =
        (0..6).map(|_| shell("make", "make: *** no rule to make target 'all'.")).collect();
    steps.push(shell("cat Makefile.am", prose(1, 12)));
    let levels: Vec<Level> = judgements(&steps).iter().map(|judgement| judgement.level).collect();
    assert_eq!(levels[5], Level::Stuck);
    steps.push(write("/app/Makefile", &prose(2, 8)));
    steps.push(shell("make", "cc -o app main.c\ndone"));
    assert_eq!(judgements(&steps).last().map(|last| last.level), Some(Level::Normal), "it works now");
}

#[test]
fn l06_a_loop_of_waiting_that_takes_no_time_is_seen_in_the_end() {
    let steps: Vec<Step> = (0..60).map(|n| call("wait", "{}", "nothing yet").at(n / 10, n / 10)).collect();
    let apart: Vec<Step> = (0..60).map(|n| call("wait", "{}", "nothing yet").at(2 * n, 2 * n)).collect();
    assert_eq!(stuck(&steps), None, "issued together");
    assert_stuck(&apart, 30);
}

#[test]
fn x20_a_short_text_under_new_names_each_failing_is_seen() {
    let mut steps = Vec::new();
    for n in 0..8 {
        let file = format!("/app/{}.py", name(n));
        steps.push(write(&file, "from lib import parse\nprint(parse('a,b'))\n"));
        steps.push(failed(
            "bash",
            format!("{{\"command\":\"python {file}\"}}"),
            "ModuleNotFoundError: No module named 'lib'",
        ));
    }
    assert_stuck(&steps, 7);
}

#[test]
fn x20_one_text_saved_as_draft_after_draft_is_seen() {
    let draft = |n: usize| {
        write(&format!("/app/report_v{n}.md"), "The service leaks sockets when the peer resets.\n")
    };
    let steps: Vec<Step> = (0..10).map(draft).collect();
    assert_eq!(assert_stuck(&steps, 7), Kind::ReappliedEdit);
}

#[test]
fn x20_a_promise_in_other_words_is_seen_if_nothing_else_is_said_or_done() {
    let promises = [
        "I'll go ahead and implement the changes to the scheduler now.",
        "Now I will implement the scheduler changes.",
        "Let me go ahead and implement the changes to the scheduler.",
        "I'm going to implement the scheduler changes now.",
        "I will now implement the changes to the scheduler.",
        "Going ahead now to implement the changes to the scheduler.",
        "I'll implement the scheduler changes now.",
    ];
    let say = |text: &str| {
        [Step::Said(Role::Agent, text.to_owned()), Step::Said(Role::User, "Continue.".to_owned())]
    };
    let steps: Vec<Step> = promises.iter().flat_map(|text| say(text)).collect();
    assert_eq!(assert_stuck(&steps, 13), Kind::DialogueLoop);
    let answered = |(n, text): (usize, &&str)| {
        [Step::Said(Role::Agent, (*text).to_owned()), Step::Said(Role::User, prose(n, 2))]
    };
    assert_eq!(
        stuck(&promises.iter().enumerate().flat_map(answered).collect::<Vec<_>>()),
        None,
        "it was told something new"
    );
}

#[test]
fn x20_names_of_temporary_things_and_nonces_do_not_hide_a_repeat() {
    let run = |n: usize| {
        let told = format!(
            "  File \"/tmp/exec_{:08x}/main.py, /tmp/tmp{:05x}q/main.py\", line 2\nFileNotFoundError: no sales.csv",
            n * 0x0123_4567 + 0x1a2b_3c4d,
            n * 7_919
        );
        failed("run_code", "{\"code\":\"read('sales.csv')\"}", told)
    };
    assert_stuck(&(0..8).map(run).collect::<Vec<_>>(), 5);
    let sync = |n: usize| {
        let id = format!("{:08x}", n * 0x0123_4567 + 0x1a2b_3c4d);
        call(
            "client",
            format!("{{\"op\":\"sync\",\"nonce\":\"{id}\"}}"),
            format!("{{\"ok\": false, \"reason\": \"no handler\", \"nonce\": \"{id}\"}}"),
        )
    };
    assert_stuck(&(0..8).map(sync).collect::<Vec<_>>(), 5);
}

//! Reminders reach a program through its terminal, and disturb nobody who types.

use crate::program::{Place, until};
use crate::terminal::Terminal;
use crate::wrapped::monitor_sees;

#[test]
fn l20_a_reminder_is_typed_when_the_program_reads_and_nobody_else_types() {
    let place = Place::new();
    let monitor = place.start();
    let words = format!(
        "{} run --data-dir {} --agent shell -- env PS1='$ ' bash --norc --noprofile -i",
        env!("CARGO_BIN_EXE_verger"),
        place.data().display()
    );
    let terminal = Terminal::running(&place, "nudge", &words);
    terminal.shows("$");
    until("it answers", || (monitor_sees(&monitor, "shell")["state"] == "HEALTHY").then_some(()));
    assert!(place.run(&["nudge", "shell", "-m", "echo reminder $((40+2))"], &[]).status.success());
    terminal.shows("\nreminder 42");
    monitor.event("shell", "NUDGE_DELIVERED");
    terminal.types(&["half", "Space"]);
    terminal.shows("$ half");
    assert!(place.run(&["nudge", "shell", "-m", "echo second $((40+3))"], &[]).status.success());
    until("it was handed over", || {
        let events = monitor.get("/v1/agents/shell/events?type=NUDGE_DELIVERED");
        (events["items"].as_array().map(Vec::len) == Some(2)).then_some(())
    });
    std::thread::park_timeout(std::time::Duration::from_secs(4));
    assert!(!terminal.screen().contains("second"), "{}", terminal.screen());
    terminal.types(&["C-u"]).shows("\nsecond 43");
}

//! libFuzzer's way to `verger_fuzz::checkpoints`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| verger_fuzz::checkpoints(bytes));

//! libFuzzer's way to `verger_fuzz::events`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| verger_fuzz::events(bytes));

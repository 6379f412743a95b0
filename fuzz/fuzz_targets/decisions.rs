//! libFuzzer's way to `verger_fuzz::decisions`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| verger_fuzz::decisions(bytes));

//! libFuzzer's way to `verger_fuzz::effects`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| verger_fuzz::effects(bytes));

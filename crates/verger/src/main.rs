//! The `verger` program.

fn main() {}

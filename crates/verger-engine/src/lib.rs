//! Orders inputs, steps the core, commits, releases effects.

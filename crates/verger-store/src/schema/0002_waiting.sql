-- Checkpoints that were taken in and could not be written yet, because their store fails (L26).
CREATE TABLE checkpoint_queue (
    id          TEXT PRIMARY KEY,
    task        TEXT NOT NULL,
    agent       TEXT NOT NULL,
    parent      TEXT,
    phase       TEXT,
    observed_ms INTEGER NOT NULL,
    wall_ms     INTEGER NOT NULL,
    body        BLOB NOT NULL
);

-- Up to which event each of those who are told of events has been told.
CREATE TABLE followers (
    name TEXT PRIMARY KEY,
    seen INTEGER NOT NULL
);

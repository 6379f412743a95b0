-- Times end in _ms. wall_ms is Unix time, observed_ms is time for which the monitor was able to see, boot_ms is the
-- machine's own clock.

-- Up to when everything was seen and is on disk: one row.
CREATE TABLE mark (
    one         INTEGER PRIMARY KEY CHECK (one = 1),
    batch       INTEGER NOT NULL,
    observed_ms INTEGER NOT NULL,
    boot_ms     INTEGER NOT NULL,
    wall_ms     INTEGER NOT NULL
);

-- What happened, as it is served. The ids have no gaps within what is kept.
CREATE TABLE events (
    id          INTEGER PRIMARY KEY,
    type        TEXT NOT NULL,
    agent       TEXT,
    incarnation INTEGER,
    task        TEXT,
    observed_ms INTEGER NOT NULL,
    wall_ms     INTEGER NOT NULL,
    body        TEXT NOT NULL
);
CREATE INDEX events_of_agent ON events (agent, id, wall_ms) WHERE agent IS NOT NULL;
CREATE INDEX events_of_task ON events (task, id, wall_ms) WHERE task IS NOT NULL;

-- The core's own memory, which a restart reads. `content` is sealed by the core.
CREATE TABLE state_rows (
    kind      TEXT NOT NULL,
    name      TEXT NOT NULL,
    partition INTEGER,
    content   BLOB NOT NULL,
    UNIQUE (kind, name)
);

-- Things to do, and which are done.
CREATE TABLE effects (
    agent                TEXT NOT NULL,
    incarnation          INTEGER NOT NULL,
    seq                  INTEGER NOT NULL,
    action               TEXT NOT NULL,
    attempts             INTEGER NOT NULL,
    decided_boot_ms      INTEGER NOT NULL,
    decided_wall_ms      INTEGER NOT NULL,
    finished_observed_ms INTEGER,
    content              BLOB NOT NULL,
    UNIQUE (agent, incarnation, seq)
);
CREATE INDEX effects_out ON effects (agent, incarnation, seq) WHERE finished_observed_ms IS NULL;
CREATE INDEX effects_finished ON effects (finished_observed_ms) WHERE finished_observed_ms IS NOT NULL;

-- When the monitor could not see.
CREATE TABLE blind_times (
    id          INTEGER PRIMARY KEY,
    cause       TEXT NOT NULL,
    lasted_ms   INTEGER NOT NULL,
    observed_ms INTEGER NOT NULL,
    wall_ms     INTEGER NOT NULL
);

-- Saved states of tasks. `number` counts them as they were stored and is never used again.
CREATE TABLE checkpoints (
    number      INTEGER PRIMARY KEY AUTOINCREMENT,
    id          TEXT NOT NULL UNIQUE,
    task        TEXT NOT NULL,
    agent       TEXT NOT NULL,
    parent      TEXT,
    phase       TEXT,
    hash        BLOB NOT NULL,
    observed_ms INTEGER NOT NULL,
    wall_ms     INTEGER NOT NULL
);
CREATE INDEX checkpoints_of_task ON checkpoints (task, number);
CREATE INDEX checkpoints_with_body ON checkpoints (hash);

-- Each different state once. `hash` is its BLAKE3; where `content` is NULL it is the file checkpoints/<hash>.
CREATE TABLE checkpoint_bodies (
    hash    BLOB PRIMARY KEY,
    size    INTEGER NOT NULL,
    content BLOB
);

-- What people wrote about tasks. `ended_observed_ms` is set when a task is over.
CREATE TABLE tasks (
    task              TEXT PRIMARY KEY,
    text              TEXT,
    observed_ms       INTEGER NOT NULL,
    wall_ms           INTEGER NOT NULL,
    ended_observed_ms INTEGER
);
CREATE INDEX tasks_ended ON tasks (ended_observed_ms) WHERE ended_observed_ms IS NOT NULL;

-- What agents wrote to each other.
CREATE TABLE messages (
    number      INTEGER PRIMARY KEY AUTOINCREMENT,
    id          TEXT NOT NULL UNIQUE,
    sender      TEXT NOT NULL,
    receiver    TEXT NOT NULL,
    text        TEXT NOT NULL,
    observed_ms INTEGER NOT NULL,
    wall_ms     INTEGER NOT NULL
);
CREATE INDEX messages_sent ON messages (sender, number);
CREATE INDEX messages_received ON messages (receiver, number);

-- Who may do what. Of a token only its hash is known here.
CREATE TABLE tokens (
    id              TEXT PRIMARY KEY,
    hash            BLOB NOT NULL UNIQUE,
    scope           TEXT NOT NULL,
    agent           TEXT,
    label           TEXT,
    created_wall_ms INTEGER NOT NULL,
    expires_wall_ms INTEGER,
    revoked_wall_ms INTEGER
);

-- Who did what. Each line seals the one before it; retention leaves them alone.
CREATE TABLE audit (
    number      INTEGER PRIMARY KEY,
    actor       TEXT NOT NULL,
    action      TEXT NOT NULL,
    target      TEXT NOT NULL,
    detail      TEXT NOT NULL,
    observed_ms INTEGER NOT NULL,
    wall_ms     INTEGER NOT NULL,
    seal        BLOB NOT NULL
);

-- Agents whose vital signs are kept, by number: a name in each of ten million rows would be most of the file.
CREATE TABLE agents (
    number    INTEGER PRIMARY KEY,
    agent     TEXT NOT NULL UNIQUE,
    partition INTEGER NOT NULL,
    last_day  INTEGER NOT NULL
);

-- How agents were, from time to time. `place` is day, agent and second of the day in one number, so that a day of one
-- agent lies together and the oldest days come first; vital_signs below shows the same for people.
CREATE TABLE vitals (
    place        INTEGER PRIMARY KEY,
    agent_number INTEGER NOT NULL,
    state        TEXT NOT NULL,
    observed_ms  INTEGER NOT NULL,
    wall_ms      INTEGER NOT NULL,
    body         TEXT NOT NULL
);

CREATE VIEW vital_signs AS
SELECT agents.agent, datetime(vitals.wall_ms / 1000, 'unixepoch') AS at, vitals.state, vitals.body
FROM vitals JOIN agents ON agents.number = vitals.agent_number;

-- What is wrong, and was. `id` is the event that opened it, `key` tells it from others that are open, `body` is what is
-- shown of it as JSON. The journal may have forgotten the event: an incident stays as long as it is open.
CREATE TABLE incidents (
    id                   INTEGER PRIMARY KEY,
    key                  TEXT NOT NULL,
    agent                TEXT,
    body                 TEXT NOT NULL,
    wall_ms              INTEGER NOT NULL,
    resolved_wall_ms     INTEGER,
    resolved_observed_ms INTEGER
);
CREATE UNIQUE INDEX incidents_open ON incidents (key) WHERE resolved_observed_ms IS NULL;
CREATE INDEX incidents_open_by_id ON incidents (id) WHERE resolved_observed_ms IS NULL;
CREATE INDEX incidents_of_agent ON incidents (agent, id) WHERE agent IS NOT NULL;
CREATE INDEX incidents_resolved ON incidents (resolved_observed_ms) WHERE resolved_observed_ms IS NOT NULL;

-- Events that people called false alarms.
CREATE TABLE wrong_marks (
    event       INTEGER PRIMARY KEY,
    agent       TEXT,
    actor       TEXT NOT NULL,
    reason      TEXT,
    observed_ms INTEGER NOT NULL,
    wall_ms     INTEGER NOT NULL
);

PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE mark (
    one         INTEGER PRIMARY KEY CHECK (one = 1),
    batch       INTEGER NOT NULL,
    observed_ms INTEGER NOT NULL,
    boot_ms     INTEGER NOT NULL,
    wall_ms     INTEGER NOT NULL
);
INSERT INTO mark VALUES(1,11,3096,28517940,1794970504654);
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
INSERT INTO events VALUES(1,'AGENT_REGISTERED','coder-1',1,NULL,302,1794970501861,'{"specversion":"1.0","id":"1","source":"/verger","type":"AGENT_REGISTERED","subject":"coder-1","time":"2026-11-18T02:55:01.861Z","datacontenttype":"application/json","incarnation":1,"data":{"agentId":"coder-1","text":"it is watched from now on"}}');
INSERT INTO events VALUES(2,'TASK_ORDERED','coder-1',1,'issue-42',342,1794970501901,'{"specversion":"1.0","id":"2","source":"/verger","type":"TASK_ORDERED","subject":"coder-1","time":"2026-11-18T02:55:01.901Z","datacontenttype":"application/json","incarnation":1,"taskid":"issue-42","data":{"agentId":"coder-1","taskId":"issue-42","text":"issue-42: it was given to coder-1","by":"admin"}}');
INSERT INTO events VALUES(3,'TASK_ORDERED','coder-1',1,'issue-42',344,1794970501903,'{"specversion":"1.0","id":"3","source":"/verger","type":"TASK_ORDERED","subject":"coder-1","time":"2026-11-18T02:55:01.903Z","datacontenttype":"application/json","incarnation":1,"taskid":"issue-42","data":{"agentId":"coder-1","taskId":"issue-42","text":"issue-42: it is in_progress","by":"admin"}}');
INSERT INTO events VALUES(4,'HEALTH_STATE_CHANGED','coder-1',1,'issue-42',390,1794970501949,'{"specversion":"1.0","id":"4","source":"/verger","type":"HEALTH_STATE_CHANGED","subject":"coder-1","time":"2026-11-18T02:55:01.949Z","datacontenttype":"application/json","incarnation":1,"taskid":"issue-42","data":{"agentId":"coder-1","from":"UNKNOWN","to":"HEALTHY","reason":"it shows life","evidence":[],"taskId":"issue-42"}}');
INSERT INTO events VALUES(5,'agent-healthy','coder-1',1,'issue-42',390,1794970501949,'{"specversion":"1.0","id":"5","source":"/verger","type":"agent-healthy","subject":"coder-1","time":"2026-11-18T02:55:01.949Z","datacontenttype":"application/json","incarnation":1,"taskid":"issue-42","data":{"agent":"coder-1","metrics":{"uptimeSeconds":0,"tokenCount":1200,"errorCount":0,"toolCallCount":0,"interventionCount":0,"missedHeartbeats":0,"totalHeartbeats":1,"disconnectionCount":0,"lastActivity":"2026-11-18T02:55:01.861Z","costUsd":0.0}}}');
INSERT INTO events VALUES(6,'AGENT_REGISTERED','coder-2',1,NULL,897,1794970502455,'{"specversion":"1.0","id":"6","source":"/verger","type":"AGENT_REGISTERED","subject":"coder-2","time":"2026-11-18T02:55:02.455Z","datacontenttype":"application/json","incarnation":1,"data":{"agentId":"coder-2","text":"it is watched from now on"}}');
INSERT INTO events VALUES(7,'HEALTH_STATE_CHANGED','coder-2',1,NULL,921,1794970502480,'{"specversion":"1.0","id":"7","source":"/verger","type":"HEALTH_STATE_CHANGED","subject":"coder-2","time":"2026-11-18T02:55:02.480Z","datacontenttype":"application/json","incarnation":1,"data":{"agentId":"coder-2","from":"UNKNOWN","to":"TERMINATED","reason":"its process ended (0)","evidence":[{"signal":"exit","value":"0","threshold":"0","verdict":"note","text":"its process ended (0)","verified":true}]}}');
INSERT INTO events VALUES(8,'AGENT_TERMINATED','coder-2',1,NULL,921,1794970502480,'{"specversion":"1.0","id":"8","source":"/verger","type":"AGENT_TERMINATED","subject":"coder-2","time":"2026-11-18T02:55:02.480Z","datacontenttype":"application/json","incarnation":1,"data":{"agentId":"coder-2","reason":"exited with code 0","recover":false}}');
INSERT INTO events VALUES(9,'ESCALATION_TRIGGERED','coder-1',1,'issue-42',972,1794970502530,'{"specversion":"1.0","id":"9","source":"/verger","type":"ESCALATION_TRIGGERED","subject":"coder-1","time":"2026-11-18T02:55:02.530Z","datacontenttype":"application/json","incarnation":1,"taskid":"issue-42","data":{"agentId":"coder-1","reason":"look at it","by":"admin","evidence":[],"taskId":"issue-42","checkpoint":"c1","options":["allow-more-time","force-handoff","terminate-and-recover"]}}');
INSERT INTO events VALUES(10,'NUDGE_SENT','coder-1',1,NULL,1024,1794970502583,'{"specversion":"1.0","id":"10","source":"/verger","type":"NUDGE_SENT","subject":"coder-1","time":"2026-11-18T02:55:02.583Z","datacontenttype":"application/json","incarnation":1,"data":{"agentId":"coder-1","attempt":1,"message":"go on","id":"coder-1#1/2","by":"admin"}}');
CREATE TABLE state_rows (
    kind      TEXT NOT NULL,
    name      TEXT NOT NULL,
    partition INTEGER,
    content   BLOB NOT NULL,
    UNIQUE (kind, name)
);
INSERT INTO state_rows VALUES('agent','coder-1',21,X'010764656661756c7407636f6465722d3101000001860300ae0201008603010100000003010869737375652d34320001026331dc0600000000000000000000000000dc06dc060101bb06bb0601d385ff87a198ded7cf0101ae0201010100000001018603dc0608b009000002000108fcb586b0c889ebb1af0195c086b0c8e9ebb1af01e2bc86b0c8c9ebb1af01e3ab86b0c8a9eab1af01b0a886b0c889eab1af01c9b286b0c8e9eab1af0196af86b0c8c9eab1af01c7d486b0c8a9edb1af0100010891d38dadadf7f5fe01abe7c2f9ebcfd2b90bc1ced5aac8eadfb58901f1a5fbe4cfa89395de0193e8d5f6b5d7c8d568c9cdabedafbc9d99c901b18fa4d1e8dbc4938701afa8d797c0d5f79fd40108b18fa4d1e8dbc4938701eaf4b5d1d9e1a9a2ac0100fc05afa8d797c0d5f79fd401aefa8bf2ad91aba0cd0100bb06c1ced5aac8eadfb58901f1a5cfebc491e4ef68009c04f1a5fbe4cfa89395de01c8be8dc4bba8a5d26100d00493e8d5f6b5d7c8d568f4daee85e993aeb0d201008805c9cdabedafbc9d99c901e4f5ab88ba97bdd3f00100c60508000000000000000000000000000000000000000000000000000100bb06080000000000000000000000000000010000000000000000000000000000000000000000000000000000000000000000000000000001b00986030000000001010102800800c0d72401010000018008000000018008000001800801cc0700007ca9c270');
INSERT INTO state_rows VALUES('task','issue-42',NULL,X'01000107636f6465722d31010f6d656e642074686520706172736572ae020001dc06000001dc060000000000000000000000d966a40d');
INSERT INTO state_rows VALUES('agent','coder-2',27,X'010764656661756c7407636f6465722d32010000059907011703000300000081070100e1ae1200000000000100010000000000000081070000000000000000000000000081078107000081070000000000000000000099070000000000000001000000000000019e95a2c9bd68000000fab19234');
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
INSERT INTO effects VALUES('coder-1',1,1,'escalate',1,28515816,1794970502530,988,X'0107636f6465722d310101030a6c6f6f6b20617420697400010869737375652d34320102633100a0f73695f7cc0a');
INSERT INTO effects VALUES('coder-1',1,2,'nudge',1,28515868,1794970502583,NULL,X'0107636f6465722d310102020105676f206f6e1051819e');
CREATE TABLE blind_times (
    id          INTEGER PRIMARY KEY,
    cause       TEXT NOT NULL,
    lasted_ms   INTEGER NOT NULL,
    observed_ms INTEGER NOT NULL,
    wall_ms     INTEGER NOT NULL
);
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
INSERT INTO checkpoints VALUES(1,'c1','issue-42','coder-1',NULL,NULL,X'19c473220ebfa70c95a7f8f18c745c3fa4278f18c732dd06fbfca3222473d6b8',853,1794970502411);
CREATE TABLE checkpoint_bodies (
    hash    BLOB PRIMARY KEY,
    size    INTEGER NOT NULL,
    content BLOB
);
INSERT INTO checkpoint_bodies VALUES(X'19c473220ebfa70c95a7f8f18c745c3fa4278f18c732dd06fbfca3222473d6b8',10,X'7b2273746570223a377d');
CREATE TABLE tasks (
    task              TEXT PRIMARY KEY,
    text              TEXT,
    observed_ms       INTEGER NOT NULL,
    wall_ms           INTEGER NOT NULL,
    ended_observed_ms INTEGER
);
INSERT INTO tasks VALUES('issue-42','mend the parser',352,1794970501911,NULL);
CREATE TABLE messages (
    number      INTEGER PRIMARY KEY AUTOINCREMENT,
    id          TEXT NOT NULL UNIQUE,
    sender      TEXT NOT NULL,
    receiver    TEXT NOT NULL,
    text        TEXT NOT NULL,
    observed_ms INTEGER NOT NULL,
    wall_ms     INTEGER NOT NULL
);
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
INSERT INTO audit VALUES(1,'admin','PUT /v1/tasks/{id}','/v1/tasks/issue-42','{"from":"127.0.0.1","outcome":"done","status":200}',344,1794970501919,X'7db0a5c9605888fe5841b24d496107d6c62b1b3c8968e795cdafefb04e7bd8dc');
INSERT INTO audit VALUES(2,'admin','POST /v1/agents/{id}/escalate','/v1/agents/coder-1/escalate','{"from":"127.0.0.1","outcome":"done","status":202}',972,1794970502547,X'1db4796ce3ab9a1e86801f800304fb97d1e5e4959065ebc8f5331a187f0e885d');
INSERT INTO audit VALUES(3,'admin','POST /v1/agents/{id}/nudge','/v1/agents/coder-1/nudge','{"from":"127.0.0.1","outcome":"done","status":202}',1024,1794970502599,X'ffded5713cc898765606ff54c22c74e402586cae07a2f2684dc963800f817f6b');
CREATE TABLE agents (
    number    INTEGER PRIMARY KEY,
    agent     TEXT NOT NULL UNIQUE,
    partition INTEGER NOT NULL,
    last_day  INTEGER NOT NULL
);
INSERT INTO agents VALUES(1,'coder-1',21,20775);
INSERT INTO agents VALUES(2,'coder-2',27,20775);
CREATE TABLE vitals (
    place        INTEGER PRIMARY KEY,
    agent_number INTEGER NOT NULL,
    state        TEXT NOT NULL,
    observed_ms  INTEGER NOT NULL,
    wall_ms      INTEGER NOT NULL,
    body         TEXT NOT NULL
);
INSERT INTO vitals VALUES(2923821320582080773,1,'HEALTHY',390,1794970501949,'{"at":"2026-11-18T02:55:01.963Z","incarnation":1,"state":"HEALTHY","liveness":"online","waitingOn":null,"taskId":"issue-42","metrics":{"uptimeSeconds":0,"tokenCount":1200,"errorCount":0,"toolCallCount":0,"interventionCount":0,"missedHeartbeats":0,"totalHeartbeats":1,"disconnectionCount":0,"lastActivity":"2026-11-18T02:55:01.861Z","costUsd":0.0}}');
INSERT INTO vitals VALUES(2923821320582211846,2,'TERMINATED',921,1794970502480,'{"at":"2026-11-18T02:55:02.492Z","incarnation":1,"state":"TERMINATED","liveness":"offline","waitingOn":null,"taskId":null,"metrics":{"uptimeSeconds":0,"tokenCount":0,"errorCount":0,"toolCallCount":0,"interventionCount":0,"missedHeartbeats":0,"totalHeartbeats":0,"disconnectionCount":0,"lastActivity":"2026-11-18T02:55:02.481Z","costUsd":0.0}}');
CREATE TABLE meta (name TEXT PRIMARY KEY, value);
INSERT INTO meta VALUES('schema',3);
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
CREATE TABLE followers (
    name TEXT PRIMARY KEY,
    seen INTEGER NOT NULL
);
CREATE TABLE incidents (
    id                   INTEGER PRIMARY KEY,
    key                  TEXT NOT NULL,
    agent                TEXT,
    body                 TEXT NOT NULL,
    wall_ms              INTEGER NOT NULL,
    resolved_wall_ms     INTEGER,
    resolved_observed_ms INTEGER
);
CREATE TABLE wrong_marks (
    event       INTEGER PRIMARY KEY,
    agent       TEXT,
    actor       TEXT NOT NULL,
    reason      TEXT,
    observed_ms INTEGER NOT NULL,
    wall_ms     INTEGER NOT NULL
);
DELETE FROM sqlite_sequence;
INSERT INTO sqlite_sequence VALUES('checkpoints',1);
CREATE INDEX events_of_agent ON events (agent, id, wall_ms) WHERE agent IS NOT NULL;
CREATE INDEX events_of_task ON events (task, id, wall_ms) WHERE task IS NOT NULL;
CREATE INDEX effects_out ON effects (agent, incarnation, seq) WHERE finished_observed_ms IS NULL;
CREATE INDEX effects_finished ON effects (finished_observed_ms) WHERE finished_observed_ms IS NOT NULL;
CREATE INDEX checkpoints_of_task ON checkpoints (task, number);
CREATE INDEX checkpoints_with_body ON checkpoints (hash);
CREATE INDEX tasks_ended ON tasks (ended_observed_ms) WHERE ended_observed_ms IS NOT NULL;
CREATE INDEX messages_sent ON messages (sender, number);
CREATE INDEX messages_received ON messages (receiver, number);
CREATE VIEW vital_signs AS
SELECT agents.agent, datetime(vitals.wall_ms / 1000, 'unixepoch') AS at, vitals.state, vitals.body
FROM vitals JOIN agents ON agents.number = vitals.agent_number;
CREATE UNIQUE INDEX incidents_open ON incidents (key) WHERE resolved_observed_ms IS NULL;
CREATE INDEX incidents_open_by_id ON incidents (id) WHERE resolved_observed_ms IS NULL;
CREATE INDEX incidents_of_agent ON incidents (agent, id) WHERE agent IS NOT NULL;
CREATE INDEX incidents_resolved ON incidents (resolved_observed_ms) WHERE resolved_observed_ms IS NOT NULL;
COMMIT;

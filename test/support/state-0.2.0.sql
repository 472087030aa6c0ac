-- A state that 0.2.0 left (schema 3), as `.dump` prints it: two deltas that were written, a set, and a run that was killed while row 3 of 6 was in flight.
PRAGMA application_id = 1886614388;
PRAGMA user_version = 3;
CREATE TABLE leases (
    pet_id INTEGER NOT NULL,
    service INTEGER NOT NULL,
    owner TEXT NOT NULL,
    run TEXT,
    holder INTEGER,
    boot TEXT,
    expires REAL, lasts REAL,
    PRIMARY KEY (pet_id, service)
  ) STRICT, WITHOUT ROWID;
INSERT INTO "leases" VALUES(5,1,'20261124T002406Z-fkso','20261124T002406Z-fkso',70711273393190,'1b15e2aa-089b-46af-bfe5-e6c3317e28ed',2022030.170717,3.49999240669999271626e+04);
CREATE TABLE limits (
    scope TEXT PRIMARY KEY,
    version INTEGER NOT NULL,
    state TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
CREATE TABLE line (
    ticket INTEGER PRIMARY KEY AUTOINCREMENT,
    place TEXT NOT NULL UNIQUE,
    service INTEGER NOT NULL,
    pet_id INTEGER NOT NULL,
    holder TEXT NOT NULL
  ) STRICT;
CREATE TABLE presence (
    id TEXT PRIMARY KEY,
    identity TEXT NOT NULL,
    os_user TEXT,
    command TEXT NOT NULL,
    since INTEGER NOT NULL,
    boot TEXT NOT NULL,
    expires REAL NOT NULL,
    lasts REAL NOT NULL
  ) STRICT, WITHOUT ROWID;
INSERT INTO "presence" VALUES('70711273393190','{"host":"vm","namespace":"pid:[4026531836]","boot":"1b15e2aa-089b-46af-bfe5-e6c3317e28ed","pid":23669,"startedAt":"198674"}',NULL,'inventory apply',1795479846418,'1b15e2aa-089b-46af-bfe5-e6c3317e28ed',2002010.750472,15000.0);
CREATE TABLE pruned (
    pet_id INTEGER NOT NULL,
    service INTEGER NOT NULL,
    sequence INTEGER NOT NULL,
    PRIMARY KEY (pet_id, service)
  ) STRICT, WITHOUT ROWID;
CREATE TABLE rows (
    run INTEGER NOT NULL,
    row INTEGER NOT NULL,
    line INTEGER NOT NULL,
    service INTEGER NOT NULL,
    pet_id INTEGER NOT NULL,
    before INTEGER,
    after INTEGER NOT NULL,
    reason TEXT,
    ref TEXT,
    result TEXT NOT NULL,
    quantity INTEGER,
    error TEXT,
    at INTEGER,
    boot TEXT,
    expires REAL,
    sequence INTEGER NOT NULL,
    touched INTEGER NOT NULL,
    undone_by TEXT, delta INTEGER, lasts REAL, token TEXT,
    PRIMARY KEY (run, row)
  ) STRICT, WITHOUT ROWID;
INSERT INTO "rows" VALUES(1,1,2,1,1,10,20,NULL,NULL,'applied',20,NULL,1795479845829,'1b15e2aa-089b-46af-bfe5-e6c3317e28ed',2017410.322461,2,3,NULL,10,3.0999561916999984533e+04,'3a2f532a-c637-4929-b8f4-7c6437531534');
INSERT INTO "rows" VALUES(1,2,3,1,2,10,20,NULL,NULL,'applied',20,NULL,1795479845837,'1b15e2aa-089b-46af-bfe5-e6c3317e28ed',2017421.713761,4,5,NULL,10,3.09998534220000728964e+04,'f32a58f1-ad49-4d65-8a80-ecf66380bd9a');
INSERT INTO "rows" VALUES(2,1,1,1,9,NULL,7,NULL,NULL,'applied',7,NULL,1795479846110,'1b15e2aa-089b-46af-bfe5-e6c3317e28ed',2017678.925544,7,8,NULL,NULL,3.09996303489999845627e+04,'6bd4691a-27a4-4187-b23d-4efe4d573bb2');
INSERT INTO "rows" VALUES(3,1,2,1,3,10,15,NULL,NULL,'applied',15,NULL,1795479846433,'1b15e2aa-089b-46af-bfe5-e6c3317e28ed',2022014.799932,10,11,NULL,5,3.49996851309998892255e+04,'9ed5d8c2-1208-4e8b-86cb-0082a69b7d26');
INSERT INTO "rows" VALUES(3,2,3,1,4,10,15,NULL,NULL,'applied',15,NULL,1795479846438,'1b15e2aa-089b-46af-bfe5-e6c3317e28ed',2022025.01696,12,13,NULL,5,3.49998986990000121284e+04,'7ad64b93-e0b3-451c-aa18-62bcd234d2fb');
INSERT INTO "rows" VALUES(3,3,4,1,5,10,15,NULL,NULL,'unknown',NULL,NULL,1795479846438,'1b15e2aa-089b-46af-bfe5-e6c3317e28ed',2022030.170717,14,14,NULL,5,3.49999240669999271626e+04,'52ee27f7-b617-460c-9917-36b0cf7d4c58');
INSERT INTO "rows" VALUES(3,4,5,1,6,10,15,NULL,NULL,'pending',NULL,NULL,NULL,NULL,NULL,8,8,NULL,5,NULL,NULL);
INSERT INTO "rows" VALUES(3,5,6,1,7,10,15,NULL,NULL,'pending',NULL,NULL,NULL,NULL,NULL,8,8,NULL,5,NULL,NULL);
INSERT INTO "rows" VALUES(3,6,7,1,8,10,15,NULL,NULL,'pending',NULL,NULL,NULL,NULL,NULL,8,8,NULL,5,NULL,NULL);
CREATE TABLE runs (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    run TEXT NOT NULL UNIQUE,
    at INTEGER NOT NULL,
    command TEXT NOT NULL,
    env TEXT NOT NULL,
    store TEXT,
    base_url TEXT NOT NULL,
    service INTEGER NOT NULL,
    scope TEXT NOT NULL,
    os_user TEXT,
    host TEXT NOT NULL,
    file TEXT,
    content_hash TEXT,
    has_deltas INTEGER,
    reason TEXT,
    undoes TEXT,
    holder INTEGER,
    head_unchanged INTEGER NOT NULL,
    changes INTEGER NOT NULL,
    units TEXT NOT NULL,
    pets TEXT NOT NULL,
    undone INTEGER NOT NULL DEFAULT 0,
    undone_by TEXT NOT NULL DEFAULT '[]',
    pending INTEGER NOT NULL,
    applied INTEGER NOT NULL,
    unchanged INTEGER NOT NULL,
    failed INTEGER NOT NULL,
    conflict INTEGER NOT NULL,
    differs INTEGER NOT NULL,
    unknown INTEGER NOT NULL
  , head_skipped INTEGER NOT NULL DEFAULT 0, head_not_edited INTEGER NOT NULL DEFAULT 0, token TEXT, began INTEGER NOT NULL DEFAULT 0, sequence INTEGER NOT NULL DEFAULT 0, touched INTEGER NOT NULL DEFAULT 0) STRICT;
INSERT INTO "runs" VALUES(1,'20261124T002405Z-c13b',1795479845805,'inventory apply','staging',NULL,'@url@',1,'3d292aaff8f60f0e0bc0aa3b8ab004f7','root','vm','a.csv','94e98bd5ec23cda40f46f519b94ab4abd6b3c2455551aea887613c056560bca7',1,NULL,NULL,NULL,0,2,'20','["1","2"]',0,'[]',0,2,0,0,0,0,0,0,0,'d56a9ee0-a45d-4a0c-9574-16467e15aba2',0,1,5);
INSERT INTO "runs" VALUES(2,'20261124T002406Z-qbt6',1795479846080,'inventory set','staging',NULL,'@url@',1,'3d292aaff8f60f0e0bc0aa3b8ab004f7','root','vm',NULL,NULL,NULL,NULL,NULL,NULL,0,1,'0','["9"]',0,'[]',0,1,0,0,0,0,0,0,0,'31b13a03-0abc-4c4e-847a-a269b88c63de',5,6,8);
INSERT INTO "runs" VALUES(3,'20261124T002406Z-fkso',1795479846418,'inventory apply','staging',NULL,'@url@',1,'3d292aaff8f60f0e0bc0aa3b8ab004f7','root','vm','b.csv','34672dba88d76521a0b2d2b8acd390a8b3d77767497fdf66cd5f039b3fb57da3',1,NULL,NULL,70711273393190,0,6,'30','["3","4","5","6","7","8"]',0,'[]',3,2,0,0,0,0,1,0,0,'a28e6064-7d3a-430d-a008-43cb4b137bd4',8,9,14);
CREATE TABLE sequence (last INTEGER NOT NULL) STRICT;
INSERT INTO "sequence" VALUES(14);
CREATE TABLE services (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
  ) STRICT;
INSERT INTO "services" VALUES(1,'@service@');
CREATE TABLE sightings (
    boot TEXT NOT NULL,
    of_boot TEXT NOT NULL,
    expires REAL NOT NULL,
    ends REAL NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (boot, of_boot, expires)
  ) STRICT, WITHOUT ROWID;
CREATE INDEX runs_by_time ON runs (at, id);
CREATE INDEX runs_by_content ON runs (content_hash, service) WHERE content_hash IS NOT NULL;
CREATE INDEX rows_of_pet ON rows (pet_id, service, touched);
CREATE INDEX rows_unknown ON rows (pet_id, service) WHERE result = 'unknown';
CREATE INDEX line_of_pet ON line (pet_id, service, ticket);
CREATE INDEX runs_by_end ON runs (substr(run, length(run) - 3));
CREATE INDEX runs_unfinished ON runs (sequence) WHERE pending + unknown > 0;
CREATE INDEX runs_by_sequence ON runs (sequence);
CREATE INDEX runs_by_token ON runs (token) WHERE token IS NOT NULL;
CREATE INDEX rows_by_change ON rows (touched);

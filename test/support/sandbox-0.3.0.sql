-- A sandbox of petstock 0.3.0, served once with --pets 3 and then set, as SQLite dumps it.
PRAGMA application_id = 1885697139;
PRAGMA user_version = 5;
CREATE TABLE keys (
    digest BLOB PRIMARY KEY,
    plan TEXT NOT NULL,
    minute_limit INTEGER NOT NULL,
    day_limit INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    revoked_at INTEGER,
    minute_start INTEGER NOT NULL DEFAULT -1,
    minute_length INTEGER NOT NULL DEFAULT 0,
    minute_used INTEGER NOT NULL DEFAULT 0,
    day_start INTEGER NOT NULL DEFAULT -1,
    day_used INTEGER NOT NULL DEFAULT 0,
    first_refusal_at INTEGER,
    strikes INTEGER NOT NULL DEFAULT 0,
    banned_until INTEGER
  , origin TEXT, name TEXT) STRICT, WITHOUT ROWID;
INSERT INTO "keys" VALUES(X'5E4E049A5C091236C4517706CE05C7E87FDE189E8705C032AA6CF4E36BDBCF7C','business',1000,100000,1795973829358,NULL,-1,0,0,-1,0,NULL,0,NULL,NULL,NULL);
CREATE TABLE orders (position INTEGER PRIMARY KEY, body TEXT NOT NULL) STRICT;
CREATE TABLE pets (
    id INTEGER PRIMARY KEY,
    quantity INTEGER NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('available', 'pending', 'sold'))
  , record TEXT) STRICT;
INSERT INTO "pets" VALUES(1,12,'available',NULL);
INSERT INTO "pets" VALUES(9007199254740993,-7,'sold',NULL);
INSERT INTO "pets" VALUES(9223372036854775807,0,'available',NULL);
CREATE INDEX pets_with_record ON pets (id) WHERE record IS NOT NULL;

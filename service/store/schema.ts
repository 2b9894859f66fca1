/**
 * The tables of a store. Only searched properties have columns; the others share one JSON column. Times are ms since the epoch.
 *
 * Job rows are written by number, without triggers, checks and foreign keys; `queue/job.ts` contains the table of transitions. Most rows are
 * written only twice, so they contain input and output. Progress updates and chunks of running jobs have separate tables. `jobs_over` finds
 * results whose retention has ended. Unfinished jobs have no index, because only a start searches for them (decision 6).
 */
const schema = `
  CREATE TABLE registry_auths (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    username TEXT NOT NULL,
    password TEXT NOT NULL,
    created_at INTEGER NOT NULL
  ) STRICT;

  CREATE TABLE templates (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    registry_auth_id TEXT REFERENCES registry_auths (id),
    content TEXT NOT NULL,
    last_used_at INTEGER,
    created_at INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX templates_by_registry_auth ON templates (registry_auth_id);

  CREATE TABLE volumes (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    size INTEGER NOT NULL,
    data_center_id TEXT NOT NULL,
    type TEXT NOT NULL,
    created_at INTEGER NOT NULL
  ) STRICT;

  CREATE TABLE endpoints (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    template_id TEXT NOT NULL REFERENCES templates (id),
    version INTEGER NOT NULL,
    content TEXT NOT NULL,
    created_at INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX endpoints_by_template ON endpoints (template_id);

  CREATE TABLE releases (
    endpoint_id TEXT NOT NULL,
    version INTEGER NOT NULL,
    container TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (endpoint_id, version)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE secrets (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    value TEXT NOT NULL,
    description TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    value_updated_at INTEGER NOT NULL
  ) STRICT;

  CREATE TABLE delegations (
    id TEXT PRIMARY KEY,
    name TEXT,
    aws_user TEXT NOT NULL,
    repository TEXT NOT NULL,
    tag TEXT NOT NULL,
    aws_region TEXT NOT NULL,
    created_at INTEGER NOT NULL
  ) STRICT;

  CREATE TABLE account_settings (content TEXT NOT NULL) STRICT;

  CREATE TABLE jobs (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    endpoint_id TEXT NOT NULL,
    status TEXT NOT NULL,
    finished_at INTEGER,
    due_at INTEGER,
    record TEXT NOT NULL,
    output TEXT,
    input TEXT NOT NULL,
    s3_config TEXT
  ) STRICT;
  CREATE INDEX jobs_by_endpoint ON jobs (endpoint_id, seq);
  CREATE INDEX jobs_over ON jobs (due_at) WHERE finished_at IS NOT NULL;

  CREATE TABLE job_progress (seq INTEGER PRIMARY KEY, progress TEXT NOT NULL) STRICT;

  CREATE TABLE job_streams (seq INTEGER PRIMARY KEY, chunks INTEGER NOT NULL, chunks_read INTEGER NOT NULL) STRICT;

  CREATE TABLE job_chunks (
    seq INTEGER NOT NULL,
    position INTEGER NOT NULL,
    chunk TEXT NOT NULL,
    PRIMARY KEY (seq, position)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE job_counters (
    endpoint_id TEXT PRIMARY KEY,
    completed INTEGER NOT NULL,
    failed INTEGER NOT NULL,
    cancelled INTEGER NOT NULL,
    timed_out INTEGER NOT NULL,
    retried INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE webhooks (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    endpoint_id TEXT NOT NULL,
    job_id TEXT NOT NULL,
    url TEXT NOT NULL,
    host TEXT NOT NULL,
    body TEXT NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    due_at INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX webhooks_by_due ON webhooks (due_at, host);
  CREATE INDEX webhooks_by_host ON webhooks (host, due_at);

  CREATE TABLE worker_tokens (
    endpoint_id TEXT PRIMARY KEY,
    token TEXT NOT NULL,
    used_elsewhere INTEGER NOT NULL DEFAULT 0
  ) STRICT;
`;

/** The `application_id` of a store: "sclo" in ASCII. */
export const applicationId = 0x73_63_6c_6f;

/** The version of these tables, stored as `user_version`. Versions 1 to 15 were never released. */
export const schemaVersion = 16;

/** SQL that creates the tables in a new file. */
export const createTables = `BEGIN; ${schema} PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${schemaVersion}; COMMIT;`;

/** Names of the tables and indexes. */
export const schemaNames = [...schema.matchAll(/CREATE (?:TABLE|INDEX) (\w+)/g)].map(([, name = ""]) => name);

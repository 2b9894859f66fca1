/**
 * Tables of the job path, as the first release had them; times are ms since the epoch. The CHECK and the triggers held:
 * a job in an impossible state, or on an impossible way, cannot be written. Inputs have a table of their own, because an
 * update writes a row whole and an input may be 20 MB.
 */
export const jobsSchema = `
  CREATE TABLE jobs (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    endpoint_id TEXT NOT NULL,
    operation TEXT NOT NULL CHECK (operation IN ('run', 'runsync', 'openai')),
    status TEXT NOT NULL,
    low_priority INTEGER NOT NULL CHECK (low_priority IN (0, 1)),
    execution_timeout INTEGER,
    created_at INTEGER NOT NULL,
    queued_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    due_at INTEGER NOT NULL,
    started_at INTEGER,
    finished_at INTEGER,
    worker_id TEXT,
    retries INTEGER NOT NULL DEFAULT 0,
    crashes INTEGER NOT NULL DEFAULT 0,
    chunks INTEGER NOT NULL DEFAULT 0,
    chunks_read INTEGER NOT NULL DEFAULT 0 CHECK (chunks_read BETWEEN 0 AND chunks),
    webhook TEXT,
    error TEXT,
    output TEXT,
    CHECK (CASE status
      WHEN 'IN_QUEUE' THEN worker_id IS NULL AND started_at IS NULL AND finished_at IS NULL AND output IS NULL AND error IS NULL
      WHEN 'IN_PROGRESS' THEN worker_id IS NOT NULL AND started_at IS NOT NULL AND finished_at IS NULL AND error IS NULL
      WHEN 'COMPLETED' THEN worker_id IS NOT NULL AND started_at IS NOT NULL AND finished_at IS NOT NULL AND error IS NULL
      WHEN 'FAILED' THEN finished_at IS NOT NULL AND error IS NOT NULL
      WHEN 'CANCELLED' THEN finished_at IS NOT NULL AND error IS NULL
      WHEN 'TIMED_OUT' THEN worker_id IS NOT NULL AND started_at IS NOT NULL AND finished_at IS NOT NULL AND error IS NOT NULL
      ELSE 0 END)
  ) STRICT;
  CREATE INDEX jobs_by_due ON jobs (due_at);
  CREATE INDEX jobs_by_endpoint ON jobs (endpoint_id, status, seq);

  CREATE TRIGGER jobs_begin_in_queue BEFORE INSERT ON jobs WHEN NEW.status <> 'IN_QUEUE'
  BEGIN SELECT RAISE(ABORT, 'a job begins IN_QUEUE'); END;

  CREATE TRIGGER jobs_move_by_the_table BEFORE UPDATE OF status ON jobs WHEN NEW.status <> OLD.status AND NOT (
    (OLD.status = 'IN_QUEUE' AND NEW.status IN ('IN_PROGRESS', 'FAILED', 'CANCELLED'))
    OR (OLD.status = 'IN_PROGRESS' AND NEW.status IN ('COMPLETED', 'FAILED', 'TIMED_OUT', 'IN_QUEUE', 'CANCELLED'))
    OR (OLD.status IN ('FAILED', 'TIMED_OUT') AND NEW.status = 'IN_QUEUE'))
  BEGIN SELECT RAISE(ABORT, 'a job cannot move between these states'); END;

  CREATE TABLE job_inputs (
    seq INTEGER PRIMARY KEY REFERENCES jobs (seq) ON DELETE CASCADE,
    input TEXT NOT NULL,
    s3_config TEXT
  ) STRICT;

  CREATE TABLE job_chunks (
    job_id TEXT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    chunk TEXT NOT NULL,
    PRIMARY KEY (job_id, position)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE job_counters (
    endpoint_id TEXT PRIMARY KEY,
    completed INTEGER NOT NULL DEFAULT 0,
    failed INTEGER NOT NULL DEFAULT 0,
    retried INTEGER NOT NULL DEFAULT 0
  ) STRICT;

  CREATE TABLE webhooks (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    endpoint_id TEXT NOT NULL,
    job_id TEXT NOT NULL,
    url TEXT NOT NULL,
    body TEXT NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    due_at INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX webhooks_by_due ON webhooks (due_at);

  CREATE TABLE worker_tokens (
    endpoint_id TEXT PRIMARY KEY,
    token TEXT NOT NULL
  ) STRICT;
`;

/** The queue's order as a number of its own: it was that of the times, which a clock that is set back confuses. */
export const jobPlaces = `
  ALTER TABLE jobs ADD COLUMN place INTEGER NOT NULL DEFAULT 0;
  UPDATE jobs SET place = ranked.rank
    FROM (SELECT seq, row_number() OVER (ORDER BY queued_at, seq) AS rank FROM jobs) AS ranked
    WHERE ranked.seq = jobs.seq;
`;

/**
 * A host of its own for each notification, so that one slow receiver holds up no other. Those written before keep the
 * empty one and share its turn.
 */
export const webhookHosts = `
  ALTER TABLE webhooks ADD COLUMN host TEXT NOT NULL DEFAULT '';
  DROP INDEX webhooks_by_due;
  CREATE INDEX webhooks_by_due ON webhooks (due_at, host);
  CREATE INDEX webhooks_by_host ON webhooks (host, due_at);
`;

/**
 * Outputs leave the rows of jobs: every change of a job writes its row whole, and an output may be 20 MB. What refers to a
 * job does so by its number, which the service assigns. What is live has an index of its own, so that a start, a purge
 * and a take cost nothing for the history; an endpoint's jobs are read in their order, newest first.
 */
export const jobOutputs = `
  DROP INDEX jobs_by_due;
  DROP INDEX jobs_by_endpoint;
  DROP TRIGGER jobs_begin_in_queue;
  DROP TRIGGER jobs_move_by_the_table;
  ALTER TABLE jobs RENAME TO old_jobs;
  ALTER TABLE job_inputs RENAME TO old_inputs;
  ALTER TABLE job_chunks RENAME TO old_chunks;

  CREATE TABLE jobs (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    endpoint_id TEXT NOT NULL,
    operation TEXT NOT NULL CHECK (operation IN ('run', 'runsync', 'openai')),
    status TEXT NOT NULL,
    low_priority INTEGER NOT NULL CHECK (low_priority IN (0, 1)),
    execution_timeout INTEGER,
    created_at INTEGER NOT NULL,
    queued_at INTEGER NOT NULL,
    place INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    due_at INTEGER NOT NULL,
    started_at INTEGER,
    finished_at INTEGER,
    worker_id TEXT,
    retries INTEGER NOT NULL DEFAULT 0,
    crashes INTEGER NOT NULL DEFAULT 0,
    chunks INTEGER NOT NULL DEFAULT 0,
    chunks_read INTEGER NOT NULL DEFAULT 0 CHECK (chunks_read BETWEEN 0 AND chunks),
    webhook TEXT,
    error TEXT,
    CHECK (CASE status
      WHEN 'IN_QUEUE' THEN worker_id IS NULL AND started_at IS NULL AND finished_at IS NULL AND error IS NULL
      WHEN 'IN_PROGRESS' THEN worker_id IS NOT NULL AND started_at IS NOT NULL AND finished_at IS NULL AND error IS NULL
      WHEN 'COMPLETED' THEN worker_id IS NOT NULL AND started_at IS NOT NULL AND finished_at IS NOT NULL AND error IS NULL
      WHEN 'FAILED' THEN finished_at IS NOT NULL AND error IS NOT NULL
      WHEN 'CANCELLED' THEN finished_at IS NOT NULL AND error IS NULL
      WHEN 'TIMED_OUT' THEN worker_id IS NOT NULL AND started_at IS NOT NULL AND finished_at IS NOT NULL AND error IS NOT NULL
      ELSE 0 END)
  ) STRICT;
  INSERT INTO jobs SELECT seq, id, endpoint_id, operation, status, low_priority, execution_timeout, created_at, queued_at,
    place, expires_at, due_at, started_at, finished_at, worker_id, retries, crashes, chunks, chunks_read, webhook, error
    FROM old_jobs;

  CREATE TABLE job_inputs (
    seq INTEGER PRIMARY KEY REFERENCES jobs (seq) ON DELETE CASCADE,
    input TEXT NOT NULL,
    s3_config TEXT
  ) STRICT;
  INSERT INTO job_inputs SELECT seq, input, s3_config FROM old_inputs;

  CREATE TABLE job_outputs (
    seq INTEGER PRIMARY KEY REFERENCES jobs (seq) ON DELETE CASCADE,
    output TEXT NOT NULL
  ) STRICT;
  INSERT INTO job_outputs SELECT seq, output FROM old_jobs WHERE output IS NOT NULL;

  CREATE TABLE job_chunks (
    seq INTEGER NOT NULL REFERENCES jobs (seq) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    chunk TEXT NOT NULL,
    PRIMARY KEY (seq, position)
  ) STRICT, WITHOUT ROWID;
  INSERT INTO job_chunks SELECT seq, position, chunk FROM old_chunks JOIN old_jobs ON old_jobs.id = old_chunks.job_id;

  DROP TABLE old_chunks;
  DROP TABLE old_inputs;
  DROP TABLE old_jobs;

  CREATE INDEX jobs_by_due ON jobs (due_at);
  CREATE INDEX jobs_by_endpoint ON jobs (endpoint_id, seq);
  CREATE INDEX jobs_live ON jobs (status, endpoint_id, place) WHERE finished_at IS NULL;

  CREATE TRIGGER jobs_begin_in_queue BEFORE INSERT ON jobs WHEN NEW.status <> 'IN_QUEUE'
  BEGIN SELECT RAISE(ABORT, 'a job begins IN_QUEUE'); END;

  CREATE TRIGGER jobs_move_by_the_table BEFORE UPDATE OF status ON jobs WHEN NEW.status <> OLD.status AND NOT (
    (OLD.status = 'IN_QUEUE' AND NEW.status IN ('IN_PROGRESS', 'FAILED', 'CANCELLED'))
    OR (OLD.status = 'IN_PROGRESS' AND NEW.status IN ('COMPLETED', 'FAILED', 'TIMED_OUT', 'IN_QUEUE', 'CANCELLED'))
    OR (OLD.status IN ('FAILED', 'TIMED_OUT') AND NEW.status = 'IN_QUEUE'))
  BEGIN SELECT RAISE(ABORT, 'a job cannot move between these states'); END;
`;

/** Notes for good where workers elsewhere joined: a service that has just started must not think that nobody comes. */
export const tokensElsewhere = `
  ALTER TABLE worker_tokens ADD COLUMN used_elsewhere INTEGER NOT NULL DEFAULT 0;
`;

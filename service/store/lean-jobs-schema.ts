/**
 * What a job costs is mostly what it writes. Its input is in its row, which is written twice; no trigger and no CHECK repeats
 * the table of transitions (jobs/job.ts), and no foreign key looks up what is known. How much of a stream was read is beside
 * the row. What is not over is in memory, so its index is there for a start only; what is over has one for its end.
 */
export const leanJobs = `
  DROP INDEX jobs_by_due;
  DROP INDEX jobs_by_endpoint;
  DROP INDEX jobs_live;
  DROP TRIGGER jobs_begin_in_queue;
  DROP TRIGGER jobs_move_by_the_table;
  ALTER TABLE jobs RENAME TO old_jobs;
  ALTER TABLE job_outputs RENAME TO old_outputs;
  ALTER TABLE job_chunks RENAME TO old_chunks;

  CREATE TABLE jobs (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    endpoint_id TEXT NOT NULL,
    operation TEXT NOT NULL,
    status TEXT NOT NULL,
    low_priority INTEGER NOT NULL,
    execution_timeout INTEGER,
    created_at INTEGER NOT NULL,
    queued_at INTEGER NOT NULL,
    place INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    due_at INTEGER NOT NULL,
    started_at INTEGER,
    finished_at INTEGER,
    worker_id TEXT,
    retries INTEGER NOT NULL,
    crashes INTEGER NOT NULL,
    webhook TEXT,
    error TEXT,
    input TEXT NOT NULL,
    s3_config TEXT
  ) STRICT;
  INSERT INTO jobs SELECT seq, id, endpoint_id, operation, status, low_priority, execution_timeout, created_at, queued_at,
    place, expires_at, due_at, started_at, finished_at, worker_id, retries, crashes, webhook, error, input, s3_config
    FROM old_jobs JOIN job_inputs USING (seq);

  CREATE TABLE job_outputs (seq INTEGER PRIMARY KEY, output TEXT NOT NULL) STRICT;
  INSERT INTO job_outputs SELECT seq, output FROM old_outputs;

  CREATE TABLE job_chunks (
    seq INTEGER NOT NULL,
    position INTEGER NOT NULL,
    chunk TEXT NOT NULL,
    PRIMARY KEY (seq, position)
  ) STRICT, WITHOUT ROWID;
  INSERT INTO job_chunks SELECT seq, position, chunk FROM old_chunks;

  CREATE TABLE job_streams (seq INTEGER PRIMARY KEY, chunks INTEGER NOT NULL, chunks_read INTEGER NOT NULL) STRICT;
  INSERT INTO job_streams SELECT seq, chunks, chunks_read FROM old_jobs WHERE chunks > 0;

  DROP TABLE old_chunks;
  DROP TABLE old_outputs;
  DROP TABLE job_inputs;
  DROP TABLE old_jobs;

  CREATE INDEX jobs_by_endpoint ON jobs (endpoint_id, seq);
  CREATE INDEX jobs_live ON jobs (seq) WHERE finished_at IS NULL;
  CREATE INDEX jobs_over ON jobs (due_at) WHERE finished_at IS NOT NULL;
`;

/**
 * What a row costs grows with its columns: those that no statement looks for are one JSON array (jobs/row.ts). A job's output is
 * in its row, which is mostly written once, when the job is over; what a job sends while it runs is beside it.
 */
export const jobRecords = `
  DROP INDEX jobs_by_endpoint;
  DROP INDEX jobs_live;
  DROP INDEX jobs_over;
  ALTER TABLE jobs RENAME TO old_jobs;
  ALTER TABLE job_counters RENAME TO old_counters;

  CREATE TABLE jobs (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    endpoint_id TEXT NOT NULL,
    status TEXT NOT NULL,
    finished_at INTEGER,
    due_at INTEGER NOT NULL,
    record TEXT NOT NULL,
    output TEXT,
    input TEXT NOT NULL,
    s3_config TEXT
  ) STRICT;
  INSERT INTO jobs SELECT seq, id, endpoint_id, status, finished_at, due_at, json_array(operation, low_priority, execution_timeout,
    created_at, queued_at, place, expires_at, retries, crashes, webhook, worker_id, started_at, error),
    CASE WHEN finished_at IS NOT NULL THEN output END, input, s3_config FROM old_jobs LEFT JOIN job_outputs USING (seq);

  CREATE TABLE job_progress (seq INTEGER PRIMARY KEY, progress TEXT NOT NULL) STRICT;
  INSERT INTO job_progress SELECT seq, output FROM job_outputs JOIN old_jobs USING (seq) WHERE finished_at IS NULL;

  CREATE TABLE job_counters (
    endpoint_id TEXT PRIMARY KEY,
    completed INTEGER NOT NULL,
    failed INTEGER NOT NULL,
    retried INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  INSERT INTO job_counters SELECT endpoint_id, completed, failed, retried FROM old_counters;

  DROP TABLE job_outputs;
  DROP TABLE old_counters;
  DROP TABLE old_jobs;

  CREATE INDEX jobs_by_endpoint ON jobs (endpoint_id, seq);
  CREATE INDEX jobs_live ON jobs (seq) WHERE finished_at IS NULL;
  CREATE INDEX jobs_over ON jobs (due_at) WHERE finished_at IS NOT NULL;
`;

import { StartError } from "../errors";
import { jobOutputs, jobPlaces, jobsSchema, tokensElsewhere, webhookHosts } from "./jobs-schema";
import { jobRecords, leanJobs } from "./lean-jobs-schema";

/** Tables of the management API. What rules look up is a column; what only travels is in `content` (JSON). Times are ms since the epoch. */
const managementSchema = `
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

  CREATE TABLE secrets (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    value TEXT NOT NULL,
    description TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
  ) STRICT;
`;

/** What REST v2 shows beside: the kind of a volume, and the versions of an endpoint with what its workers ran. */
const restV2 = `
  ALTER TABLE volumes ADD COLUMN type TEXT NOT NULL DEFAULT 'STANDARD';

  CREATE TABLE releases (
    endpoint_id TEXT NOT NULL,
    version INTEGER NOT NULL,
    container TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (endpoint_id, version)
  ) STRICT, WITHOUT ROWID;
`;

/** At most one row. */
const accountSettings = "CREATE TABLE account_settings (content TEXT NOT NULL) STRICT;";

/** One row: the number of the last line of the redo log that the tables have. */
const redoLog = "CREATE TABLE redo_log (applied INTEGER NOT NULL) STRICT; INSERT INTO redo_log VALUES (0);";

/** When a secret's value was set last, which REST v2 shows. */
const secretValueTimes = "ALTER TABLE secrets ADD COLUMN value_updated_at INTEGER;";

/** Each entry brings the tables from one version to the next. Entries are only ever added at the end. */
const migrations: string[] = [
  managementSchema,
  jobsSchema,
  jobPlaces,
  webhookHosts,
  jobOutputs,
  tokensElsewhere,
  leanJobs,
  restV2,
  accountSettings,
  jobRecords,
  redoLog,
  secretValueTimes,
];

/** The first version with a redo log. */
export const redoSince = migrations.indexOf(redoLog) + 1;

/** What `migrate` needs of a store. */
export interface MigrationTarget {
  /** How many migrations it has had. */
  version(): number;
  /** Runs one migration and notes the version, whole or not at all. */
  apply(sql: string, version: number): void;
}

/** Brings a store's tables up to date; refuses a store that a newer release has written. */
export function migrate(store: MigrationTarget): void {
  const version = store.version();
  if (version > migrations.length) {
    throw new StartError(
      `the data folder was written by a newer release (store version ${version}, this one knows ${migrations.length}): use that release or another folder`,
    );
  }
  for (const [index, sql] of migrations.slice(version).entries()) store.apply(sql, version + index + 1);
}

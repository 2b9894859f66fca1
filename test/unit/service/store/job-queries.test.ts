import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { createJobCounters } from "../../../../service/queue/counters";
import { createJobList } from "../../../../service/queue/list";
import { createJobStore } from "../../../../service/queue/store";
import type { Database } from "../../../../service/store/database";
import { openJobsRig } from "../queue/support/queue-rig";

const step = z.object({ detail: z.string() });
let rig: ReturnType<typeof openJobsRig>;
const statements: string[] = [];

beforeAll(() => {
  rig = openJobsRig();
  const recordingDatabase: Database = {
    ...rig.database,
    prepare: (sql) => {
      statements.push(sql);
      return rig.database.prepare(sql);
    },
    query: (sql, row) => {
      statements.push(sql);
      return rig.database.query(sql, row);
    },
  };
  createJobCounters(recordingDatabase, rig.groupCommit);
  createJobStore(recordingDatabase, rig.steady);
  createJobList(recordingDatabase, rig.active, rig.store, rig.deadlines.isExpired, rig.steady);
});
afterAll(() => rig.close());

/** Parameters of a statement; a numbered parameter may occur repeatedly. */
const parametersOf = (sql: string): Set<string> =>
  new Set(Array.from(sql.matchAll(/\?\d*/g), ([name], at) => (name === "?" ? `${at}` : name)));

const planOf = (sql: string): string[] =>
  rig.database
    .query(`EXPLAIN QUERY PLAN ${sql}`, step)
    .all(...Array.from(parametersOf(sql), () => 0))
    .map(({ detail }) => detail);

describe("the statements of the job path", () => {
  test("do not sort; only the counters and, at a start, the jobs are scanned", () => {
    const steps = statements.flatMap((sql) => planOf(sql).map((detail) => `${detail}   <- ${sql}`));
    const costly = steps.filter((detail) => /TEMP B-TREE|^SCAN (?!found|job_counters|json_each)/.test(detail));
    expect(steps.length).toBeGreaterThan(10);
    expect(costly).toEqual([expect.stringMatching(/^SCAN jobs .*has_output.*WHERE finished_at IS NULL$/s)]);
  });

  test.each([
    ["a page of /requests", / AS output FROM .*ORDER BY seq DESC/s, "jobs_by_endpoint (endpoint_id=? AND seq<?)"],
    [
      "a search of the console",
      /has_output.*ORDER BY seq DESC/s,
      "jobs_by_endpoint (endpoint_id=? AND seq>? AND seq<?)",
    ],
    ["the range of a search", /^SELECT min\(seq\)/, "COVERING INDEX jobs_by_endpoint (endpoint_id=? AND seq<?)"],
    ["the deletion of expired jobs", /^DELETE FROM jobs .*due_at <= \?/, "jobs_over (due_at<?)"],
    ["the time of the next deletion", /^SELECT min\(due_at\)/, "jobs_over"],
    ["a purge", /DELETE FROM jobs .*json_each/, "INTEGER PRIMARY KEY (rowid=?)"],
    ["a record", /WHERE id = \?/, "(id=?)"],
    ["the endpoints that have jobs", /RECURSIVE/, "jobs_by_endpoint (endpoint_id>?)"],
  ])("%s uses its index", (_what, pattern, index) => {
    const found = statements.filter((sql) => pattern.test(sql));
    expect(found).toHaveLength(1);
    expect(planOf(found[0] ?? "").join("\n")).toContain(index);
  });

  test("write an output only if it is set", () => {
    const writing = statements.filter((sql) => /^\s*(INSERT|UPDATE)/.test(sql) && /\boutput\b/.test(sql));
    expect(writing).toEqual([expect.stringContaining("output = ? WHERE seq")]);
  });
});

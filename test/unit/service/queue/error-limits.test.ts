import { describe, expect, test } from "vitest";
import { maxSeq } from "../../../../service/queue/list";
import { readResult } from "../../../../service/workers/results";
import { useJobs } from "./support/queue-rig";

const megabyte = 1024 * 1024;
const members = (value: Record<string, unknown>): Map<string, string> =>
  new Map(Object.entries(value).map(([name, member]) => [name, JSON.stringify(member)]));

describe("the error of a job", () => {
  test.each([
    ["returned by the handler", "finish"],
    ["of a worker that crashed too often", "requeue"],
    ["of workers that do not start", "reject"],
  ] as const)("%s is kept up to 65536 characters, with its length", async (_source, method) => {
    const { jobs, list, newJob, take, run, worker } = useJobs();
    const error = `🙂${"x".repeat(65_536 - 3)}🙂${"x".repeat(15 * megabyte)}`;
    let id: string;
    if (method === "reject") {
      const job = newJob();
      await jobs.submit(job);
      id = job.id;
      await jobs.reject(id, error);
    } else {
      id = await run();
      if (method === "finish") await jobs.finish(id, worker, { error, output: undefined });
      else
        for (let crashes = 0; crashes < 3; crashes++) {
          await jobs.requeue(id, worker, "crashed", error);
          await take("endpoint", "w");
        }
    }
    expect(list.find("endpoint", id)?.job).toMatchObject({
      status: "FAILED",
      error: `🙂${"x".repeat(65_536 - 3)}… (the error has ${error.length} characters; only the first 65536 are kept)`,
    });
  });

  test("is not changed if it has 65536 characters", async () => {
    const { jobs, list, run, worker } = useJobs();
    const id = await run();
    const error = "x".repeat(65_536);
    await jobs.finish(id, worker, { error, output: undefined });
    expect(list.find("endpoint", id)?.job.error).toBe(error);
  });

  test("is read into lists with its beginning only, also if an older release stored 15 MB", async () => {
    const { jobs, list, database, run, worker } = useJobs();
    const id = await run();
    await jobs.finish(id, worker, { error: "short", output: undefined });
    const large = await run();
    await jobs.finish(large, worker, { error: "large", output: undefined });
    database
      .prepare("UPDATE jobs SET record = json_set(record, '$[12]', 'start ' || printf('%.*c', ?, 'x')) WHERE id = ?")
      .run(15 * megabyte, large);
    const { jobs: listed } = await list.search("endpoint", {}, maxSeq, 10);
    expect(listed.map(({ error }) => error)).toEqual([`start ${"x".repeat(294)}`, "short"]);
    expect((await list.search("endpoint", { text: "start" }, maxSeq, 10)).jobs).toHaveLength(1);
  });
});

describe("a result", () => {
  const large = "x".repeat(11 * megabyte);

  test("with an error keeps an output up to the limit, and no larger one", () => {
    expect(readResult(members({ error: "e", output: "small" }), "run")).toMatchObject({
      error: "e",
      output: '"small"',
    });
    expect(readResult(members({ error: "e", output: large }), "run")).toMatchObject({
      error: "e",
      output: undefined,
    });
    expect(readResult(members({ error: "e", output: large }), "runsync")).toMatchObject({ error: "e" });
    expect(readResult(members({ output: large }), "run")).toMatchObject({
      error: expect.stringContaining("the output has 11534338 bytes, more than the limit of 10485760 for /run"),
    });
  });
});

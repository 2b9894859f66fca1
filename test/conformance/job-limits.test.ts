import { describe, expect, test } from "vitest";
import { expectResponse, send, stringAt } from "../support/raw-http";
import { useTarget } from "../support/target";
import { useAccount } from "./support/account";
import { postOversized } from "./support/oversize";
import { useWorker } from "./support/raw-worker";

const target = await useTarget();
const account = useAccount(target);
const joined = useWorker(target, account);

/** A submission of `bytes` bytes. */
function submission(bytes: number): string {
  const empty = JSON.stringify({ input: { text: "" } });
  return JSON.stringify({ input: { text: "x".repeat(bytes - empty.length) } });
}

// "MB" may mean 10^6 or 2^20 bytes, so tests use sizes below both or above both.
const limit = (megabytes: number) => ({ below: megabytes * 1_000_000, above: megabytes * 1024 * 1024 + 1 });

const tooLarge = ["reading:megabyte", "reading:body-too-large"];

describe("Limits: payload and timing", () => {
  test.each([
    ["/run", 10, ""],
    ["/runsync", 20, "?wait=1000"],
  ])(
    "%s maximum payload: %i MB are accepted; more return 413 and queue nothing",
    { tags: tooLarge },
    async (path, megabytes, query) => {
      const jobs = await account.parked();
      const post = (bytes: number) =>
        send("POST", `${jobs.root}${path}${query}`, { key: target.apiKey, text: submission(bytes) });
      const tooMuch = await post(limit(megabytes).above);
      expectResponse(tooMuch, 413);
      expect(tooMuch.text).toContain(String(megabytes));
      expect(await jobs.health()).toMatchObject({ jobs: { inQueue: 0 } });
      expectResponse(await post(limit(megabytes).below), 200, { status: "IN_QUEUE" });
    },
  );

  test.each([
    ["/run", 10],
    ["/runsync", 20],
  ])(
    "%s maximum payload: a client that is still sending receives the 413, not a broken connection",
    { tags: ["reading:body-too-large"] },
    async (path, megabytes) => {
      const jobs = await account.parked();
      const results = await postOversized(`${jobs.root}${path}`, target.apiKey, limit(megabytes).above);
      expect(results).toEqual(Array.from({ length: 10 }, () => "413 with a body"));
    },
  );

  test.for([["/run", 10] as const, ["/runsync", 20] as const])(
    "%s maximum payload: an output of up to %i MB is stored, a larger output fails its job",
    {
      tags: ["reading:output-limit"],
    },
    async ([path, megabytes], context) => {
      const worker = await joined(context);
      for (const bytes of [limit(megabytes).below, limit(megabytes).above]) {
        const submitting = worker.jobs.call("POST", path, { input: {} });
        const id = stringAt(await worker.take(), "id");
        expectResponse(await worker.done(id, { output: "x".repeat(bytes - 2) }), 200);
        await submitting;
        const status = bytes === limit(megabytes).below ? "COMPLETED" : "FAILED";
        expect(await worker.jobs.reaches(id)).toMatchObject({ status });
      }
    },
  );
});

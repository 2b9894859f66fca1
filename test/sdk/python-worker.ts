import { type Clients, streamResponse } from "serverless-compute-api";
import type { Service } from "serverless-compute-local";
import { describe, expect, it, type TestContext } from "vitest";
import type { HandlerName } from "./rig";

/** A local service whose workers run the handlers of the SDK's tests. */
interface PythonRig {
  service: Service;
  clients: Clients;
  /** Id of a new endpoint with one worker that runs the handler. */
  endpoint(handler: HandlerName): Promise<string>;
}

const wait = 60_000;

/** Tests of a worker built with the Python SDK, for any environment. */
export function describePythonWorker(title: string, useRig: (context: TestContext) => Promise<PythonRig>): void {
  describe(title, () => {
    it("runs a plain handler", async (context) => {
      const rig = await useRig(context);
      const endpoint = await rig.endpoint("plain.py");
      const job = await rig.clients.jobs.runsync(endpoint, { input: { text: "hello" } }, { wait });
      expect(job).toMatchObject({ status: "COMPLETED", output: { echo: { text: "hello" }, id: job.id } });
    });

    it("keeps every integer in a job's input and output, however large", async (context) => {
      const rig = await useRig(context);
      const endpoint = await rig.endpoint("plain.py");
      const integers = "[12345678901234567891, -9223372036854775808, 9007199254740993, 18446744073709551616]";
      const output = await fetch(`${rig.service.serverlessUrl}/v2/${endpoint}/runsync?wait=${wait}`, {
        method: "POST",
        headers: { authorization: `Bearer ${rig.service.apiKey}`, "content-type": "application/json" },
        body: `{"input": {"integers": ${integers}, "__proto__": {"one": 1.0}}}`,
      });
      const text = await output.text();
      expect(text).toContain(`"integers": ${integers}`);
      expect(text).toContain('"__proto__": {"one": 1.0}');
    });

    it("fails the job with the text of an exception or of a returned error", async (context) => {
      const rig = await useRig(context);
      const endpoint = await rig.endpoint("plain.py");
      const raised = await rig.clients.jobs.runsync(endpoint, { input: { do: "raise" } }, { wait });
      expect(raised.status).toBe("FAILED");
      expect(JSON.stringify(raised.error)).toContain("the handler refused");
      const returned = await rig.clients.jobs.runsync(endpoint, { input: { do: "error" } }, { wait });
      expect(returned.status).toBe("FAILED");
      expect(JSON.stringify(returned.error)).toContain("the handler says no");
    });

    it("streams a generator's chunks and collects them as the output", async (context) => {
      const rig = await useRig(context);
      const endpoint = await rig.endpoint("generator.py");
      const { id } = await rig.clients.jobs.run(endpoint, { input: { count: 3 } });
      const statusOf = async () => (await rig.clients.jobs.status(endpoint, id)).status;
      await expect.poll(statusOf, { timeout: wait }).toBe("COMPLETED");
      const response = await fetch(`${rig.service.serverlessUrl}/v2/${endpoint}/stream/${id}`, {
        headers: { authorization: `Bearer ${rig.service.apiKey}` },
      });
      const chunks = streamResponse.parse(await response.json()).stream.map(({ output }) => output);
      expect(chunks).toEqual([{ index: 0 }, { index: 1 }, { index: 2 }]);
      expect((await rig.clients.jobs.status(endpoint, id)).output).toEqual(chunks);
    });

    it("runs an async handler", async (context) => {
      const rig = await useRig(context);
      const endpoint = await rig.endpoint("async.py");
      const job = await rig.clients.jobs.runsync(endpoint, { input: { number: 21 } }, { wait });
      expect(job).toMatchObject({ status: "COMPLETED", output: { doubled: 42 } });
    });

    it("is replaced after a job that requests a refresh", async (context) => {
      const rig = await useRig(context);
      const endpoint = await rig.endpoint("refresh.py");
      const first = await rig.clients.jobs.runsync(endpoint, { input: { turn: 1 } }, { wait });
      const second = await rig.clients.jobs.runsync(endpoint, { input: { turn: 2 } }, { wait });
      expect([first.status, second.status]).toEqual(["COMPLETED", "COMPLETED"]);
      // The SDK removes refresh_worker and sends the remaining output.
      expect(first.output).toEqual({ job_results: { process: expect.any(String) } });
      expect(second.output).not.toEqual(first.output);
    });

    it("shows its progress in /status while the job runs", async (context) => {
      const rig = await useRig(context);
      const endpoint = await rig.endpoint("plain.py");
      const { id } = await rig.clients.jobs.run(endpoint, { input: { do: "progress", seconds: 5 } });
      await expect
        .poll(() => rig.clients.jobs.status(endpoint, id), { timeout: wait, interval: 50 })
        .toMatchObject({ status: "IN_PROGRESS", output: "half way" });
      await expect
        .poll(() => rig.clients.jobs.status(endpoint, id), { timeout: wait, interval: 50 })
        .toMatchObject({ status: "COMPLETED", output: { id } });
    });
  });
}

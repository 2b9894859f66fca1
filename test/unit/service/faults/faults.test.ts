import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createService, type EndpointFaults } from "serverless-compute-local";
import { describe, expect, test } from "vitest";
import { apiKey as key, useLocalService, useSharedService } from "../../../support/local-service";
import { ManualClock } from "../../../support/manual-clock";
import { isPending } from "../../../support/pending";
import { at, pollUntil, type RawResponse, send } from "../../../support/raw-http";
import { runLine } from "../cli/command";
import { images, scratchFile, shortTimings } from "../workers/support/programs";

const rig = await useSharedService({ images, timings: shortTimings, logLevel: "info" });
const { service, dataFolder } = rig;
const call = (method: string, path: string, json?: unknown): Promise<RawResponse> =>
  send(method, `${rig.root}${path}`, { key, json });

/** A new endpoint with these faults. */
async function endpointWith(faults: EndpointFaults) {
  const jobs = await rig.jobsOn("tool");
  service.faults(jobs.id, faults);
  return jobs;
}

/** Expects that both logs contain an injected fault of an endpoint. */
function expectMarked(id: string, text: string): void {
  expect(readFileSync(join(dataFolder, "logs", `${id}.log`), "utf8")).toContain(`Z ${text}`);
  const lines = readFileSync(join(dataFolder, "service.log"), "utf8").trim().split("\n");
  const endpointLines = lines.map((line) => JSON.parse(line)).filter(({ endpoint }) => endpoint === id);
  expect(endpointLines.map(({ msg }) => msg).join("\n")).toContain(text);
}

describe("an injected fault", () => {
  test("tooManyRequests and serverErrors reject only the next requests of the job API", async () => {
    const { id } = await endpointWith({ tooManyRequests: 1, serverErrors: 2 });
    const responses: RawResponse[] = [];
    for (let request = 0; request < 4; request++) responses.push(await call("GET", `/v2/${id}/health`));
    expect(responses.map(({ status }) => status)).toEqual([429, 500, 500, 200]);
    expect(responses[0]?.headers.get("retry-after")).toBe("1");
    expect(responses[1]?.json).toEqual({ error: "injected fault: internal server error" });
    expect(service.faults(id)).toEqual({ tooManyRequests: 0, serverErrors: 0 });
    expectMarked(id, "injected fault: a request gets 429; remaining tooManyRequests: 0");
    expectMarked(id, "injected fault: a request gets 500; remaining serverErrors: 1");
    expect((await call("GET", `/v2/serverless/${id}`)).status, "the management API is not affected").toBe(200);
  });

  test("dropResponses processes a request and drops its response", async () => {
    const { id, reaches } = await endpointWith({ dropResponses: 1 });
    await expect(call("POST", `/v2/${id}/run`, { input: {} })).rejects.toThrow();
    const { json } = await call("GET", `/v2/${id}/requests`);
    await reaches(String(at(json, "requests", 0, "id")));
    expect(at(json, "requests")).toHaveLength(1);
    expectMarked(id, "injected fault: a response is dropped; remaining dropResponses: 0");
  });

  test("failJobs fails the next jobs, and no more", async () => {
    const { id, submit, reaches } = await endpointWith({ failJobs: 1 });
    const job = await submit({});
    expect(await reaches(job)).toMatchObject({ status: "FAILED", error: "injected fault: the job fails" });
    await reaches(await submit({}), "COMPLETED");
    expectMarked(id, `injected fault: job ${job} fails; remaining failJobs: 0`);
  });

  test("crashJobs kills the worker of a job, which runs again", async () => {
    const { id, submit, reaches } = await endpointWith({ crashJobs: 1 });
    const job = await submit({});
    expect(await reaches(job)).toMatchObject({ status: "COMPLETED", retries: 1 });
    expectMarked(id, `injected fault: a worker crashes at job ${job}; remaining crashJobs: 0`);
  });

  test("workers: crash fails jobs with a reason", async () => {
    const { id, submit, reaches } = await endpointWith({ workers: "crash" });
    const { status, error } = await reaches(await submit({}));
    expect(status).toBe("FAILED");
    expect(error).toContain("injected fault: the worker crashes");
    expectMarked(id, 'injected fault: a worker starts with the fault "crash"');
    expect(await rig.workerLog(id)).toMatch(/Z local-[0-9a-f]+ injected fault: the worker crashes\n/);
  });

  test("workers: hang leaves the job in the queue and the worker initializing", async () => {
    const { id, submit, reaches, healthBecomes } = await endpointWith({ workers: "hang" });
    const job = await submit({});
    await healthBecomes(({ jobs, workers }) => workers["initializing"] === 1 && jobs["inQueue"] === 1);
    await reaches(job, "IN_QUEUE");
    expectMarked(id, 'injected fault: a worker starts with the fault "hang"');
  });

  test("stripEmptyInput withholds an empty input from workers, and no other", async () => {
    const { submit, reaches } = await endpointWith({ stripEmptyInput: true });
    expect(await reaches(await submit({}))).toMatchObject({
      status: "FAILED",
      error: expect.stringContaining("undefined"),
    });
    expect(await reaches(await submit({ do: "echo" }))).toMatchObject({ output: { input: { do: "echo" } } });
  });

  test("noStock prevents worker starts until it is removed", async () => {
    const { id, submit, reaches, healthBecomes } = await endpointWith({ noStock: true });
    const job = await submit({});
    await healthBecomes(({ jobs, workers }) => workers["throttled"] === 1 && jobs["inQueue"] === 1);
    expectMarked(id, "injected fault: no stock, so no worker starts");
    service.faults(id, {});
    await reaches(job, "COMPLETED");
  });

  describe("delay", () => {
    /** Sends a request that is delayed by a minute. */
    async function sendDelayed() {
      const clock = new ManualClock();
      const rig = await useLocalService({ clock });
      const { id, call: callJobs } = await rig.jobsOn("none:1", { workersMax: 0 });
      const path = `${rig.root}/local/endpoints/${id}/faults`;
      expect((await send("PUT", path, { key, json: { delay: 60_000 } })).json).toEqual({ delay: 60_000 });
      const health = callJobs("GET", "/health");
      await pollUntil(
        () => send("GET", path, { key }),
        () =>
          readFileSync(join(rig.dataFolder, "logs", `${id}.log`), "utf8").includes("a request is delayed by 60000 ms"),
      );
      expect(await isPending(health)).toBe(true);
      return { clock, rig, health };
    }

    test("delays a request of the job API by the given time", async () => {
      const { clock, health } = await sendDelayed();
      await clock.advance(60_000);
      expect((await health).status).toBe(200);
    });

    test("ends when the service stops", async () => {
      const { clock, rig, health } = await sendDelayed();
      await rig.stop();
      expect(await health).toMatchObject({ status: 503, json: { error: "the service is stopping" } });
      expect(clock.waiting).toBe(0);
    });
  });
});

describe("faults", () => {
  test("are set and printed by the command line, and removed with {}", async () => {
    const { id } = await rig.jobsOn("tool", { name: "named" });
    const faults = (...words: string[]) => runLine("faults", "named", ...words, "--data", dataFolder);
    expect(await faults('{"failJobs":2,"workers":"crash"}')).toEqual({
      code: 0,
      err: "",
      out: '{"failJobs":2,"workers":"crash"}',
    });
    expect(service.faults(id)).toEqual({ failJobs: 2, workers: "crash" });
    expect((await faults()).out).toBe('{"failJobs":2,"workers":"crash"}');
    expect((await faults("{}")).out).toBe("{}");
    expect((await faults('{"failJobs":-1,"explode":true}')).err).toMatch(
      /^serverless-compute-local: failJobs: -1 is not allowed; must be [^;]+; explode: unknown property; expected one of delay, [a-zA-Z, ]+$/,
    );
    expect((await faults("[]")).code).toBe(2);
  });

  test("require the key and an existing endpoint", async () => {
    const { id } = await endpointWith({});
    expect((await send("GET", `${rig.root}/local/endpoints/${id}/faults`)).status).toBe(401);
    expect((await call("PUT", "/local/endpoints/absent/faults", {})).json).toEqual({
      message: 'endpoint "absent" not found',
    });
    expect(() => service.faults("absent", {})).toThrow('endpoint "absent" not found');
    expect(() => service.faults(id, JSON.parse('{"workers":"explode"}'))).toThrow(
      /^workers: "explode" is not allowed; must be "crash" or "hang"$/,
    );
  });

  test("of a seed file are injected from the start", async () => {
    const seed = scratchFile("endpoints.yaml");
    const text = (workers: string) =>
      `endpoints: { down: { image: "tool", type: QUEUE, gpu: { pools: [AMPERE_24] }, scaling: { type: QUEUE_DELAY, queueDelay: 1 }, faults: { noStock: true, workers: ${workers} } } }`;
    writeFileSync(seed, text("stop"));
    const options = { port: 0, ephemeral: true, seed };
    await expect(createService(options)).rejects.toThrow(
      `${seed}: endpoints.down.faults.workers: "stop" is not allowed; must be "crash" or "hang"`,
    );
    writeFileSync(seed, text("hang"));
    const seeded = await createService(options);
    expect(seeded.faults(String(seeded.endpointIds["down"]))).toEqual({ noStock: true, workers: "hang" });
    await seeded.stop(0);
  });
});

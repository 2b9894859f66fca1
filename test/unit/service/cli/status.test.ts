import type { RequestListener } from "node:http";
import { join } from "node:path";
import { createService } from "serverless-compute-local";
import { describe, expect, onTestFinished, test } from "vitest";
import { writeServiceAddress } from "../../../../service/store/service-address";
import { createEndpoint } from "../../../support/endpoint";
import { serve } from "../../../support/loopback";
import { at, pollUntil, send, stringAt } from "../../../support/raw-http";
import { handlerFile } from "../../../support/target";
import { command, runLine, startService, useFolder } from "./command";

const folder = useFolder();
const slow = handlerFile("slow");

test("status prints endpoints with queues, and workers, of a service in another process; logs and token use the same folder", async () => {
  const data = join(folder, "busy");
  const service = await startService(data, "--image", `acme/slow:1=${slow}`);
  const { addresses, apiKey: key } = service;
  const access = { url: addresses.serverlessUrl, apiKey: key };
  const id = await createEndpoint(access, "acme/slow:1", { name: "busy" });
  const idleId = await createEndpoint(access, "acme/slow:1", { name: "idle\u001b[31m", workers: { max: 0 } });
  const post = async (path: string, json: object): Promise<string> =>
    stringAt(await send("POST", `${addresses.baseUrl}${path}`, { key, json }), "id");
  const templateId = await post("/templates", { name: "base", imageName: "acme/slow:1", isServerless: true });
  const sharingId = await post("/endpoints", { name: "sharing", templateId, workersMax: 0 });
  const jobs = `${addresses.serverlessUrl}/v2/${id}`;
  for (let sent = 0; sent < 3; sent++) await send("POST", `${jobs}/run`, { key, json: { input: { ms: 30_000 } } });
  await pollUntil(
    () => send("GET", `${jobs}/health`, { key }),
    (response) => at(response.json, "jobs", "inProgress") === 1,
  );

  const result = await command(["status", "--data", data]).ended;
  expect(result).toMatchObject({ code: 0, stderr: "" });
  const lines = result.stdout.trimEnd().split("\n");
  const cells = (start: string): string[] | undefined => lines.find((line) => line.startsWith(start))?.split(/ {2,}/);
  expect(lines[0]).toBe(`The service runs on ${addresses.serverlessUrl}.`);
  expect(cells("ENDPOINT")?.slice(0, 8)).toEqual([
    "ENDPOINT",
    "NAME",
    "IMAGE",
    "CONTAINER",
    "WORKERS",
    "MIN–MAX",
    "IN QUEUE",
    "IN PROGRESS",
  ]);
  expect(cells(id)).toEqual([id, "busy", "acme/slow:1", "own", "1", "0–1", "2", "1", "0", "0", "0"]);
  expect(cells(idleId)).toEqual([idleId, "idle?[31m", "acme/slow:1", "own", "0", "0–0", "0", "0", "0", "0", "0"]);
  expect(cells(sharingId)?.slice(1, 4)).toEqual(["sharing", "acme/slow:1", "template base"]);
  expect(result.stdout).toMatch(/\nWORKER +ENDPOINT +STATUS +UP FOR\nlocal-[0-9a-f]+ +busy +running +\d+ s\n/);
  expect(result.stdout).toMatch(/\nENDPOINT +PROBLEM\nbusy +the only worker is busy, and workersMax is 1$/m);
  expect(result.stdout).not.toContain(key);
  const { endpoints, url } = JSON.parse((await runLine("status", "--json", "--data", data)).out);
  expect(url).toBe(addresses.serverlessUrl);
  expect(endpoints).toMatchObject([
    {
      id,
      name: "busy",
      image: "acme/slow:1",
      workersMin: 0,
      workersMax: 1,
      jobs: { inQueue: 2, inProgress: 1, completed: 0, failed: 0, retried: 0 },
      workers: [{ id: expect.stringMatching(/^local-/), status: "running", startedAt: expect.any(String) }],
    },
    { id: idleId, name: "idle\u001b[31m", workers: [] },
    { id: sharingId, template: { id: templateId, name: "base" } },
  ]);
  expect(endpoints[0]).not.toHaveProperty("template");

  expect((await runLine("logs", "busy", "--data", data)).out).toMatch(
    /^\S+ local-[0-9a-f]+ worker starts for the image acme\/slow:1/,
  );

  const { out: jsonLog } = await runLine("logs", "busy", "--json", "--lines", "1", "--data", data);
  expect(JSON.parse(jsonLog)).toEqual({
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
    worker: expect.stringMatching(/^local-[0-9a-f]+$/),
    line: expect.stringMatching(/\w/),
  });

  const unknown = await runLine("logs", "other\u001b[31m", "--data", data);
  expect(unknown.err).toBe(
    `serverless-compute-local: no endpoint has the id or name "other?[31m"; there are "busy" (${id}), "idle\\u001b[31m" (${idleId}), "sharing" (${sharingId})`,
  );

  const token = (await runLine("token", idleId, "--data", data)).out;
  expect(token).not.toBe(key);
  const idleJobs = `${addresses.serverlessUrl}/v2/${idleId}`;
  const ping = await send("GET", `${idleJobs}/ping/far-away`, { headers: { authorization: token } });
  expect(ping.status, "a worker elsewhere signs in with the token").toBe(200);
  service.child.kill("SIGKILL");
  await service.ended;
});

test("status describes a service without endpoints and workers, also after the retirement of REST v1", async () => {
  const options = { port: 0, dataFolder: join(folder, "empty"), retire: ["v1", "graphql"] } as const;
  const { serverlessUrl, stop } = await createService(options);
  onTestFinished(() => stop(0));
  const result = await runLine("status", "--data", join(folder, "empty"));
  expect(result).toEqual({
    code: 0,
    err: "",
    out: `The service runs on ${serverlessUrl}.\n\nThere are no endpoints.\n\nNo workers are running.`,
  });
});

describe("status exits with 1 and one line with the next step", () => {
  const data = join(folder, "key");
  const fails = async (result: string | RegExp): Promise<void> => {
    const { code, out, err } = await runLine("status", "--data", data);
    expect(err).toMatch(result);
    expect(err).toMatch(/^serverless-compute-local: [^\n]*$/);
    expect({ code, out }).toEqual({ code: 1, out: "" });
  };
  /** Starts a server on a free port, and records it as the service of the folder. */
  const startAsService = async (listener: RequestListener): Promise<string> => {
    const serverlessUrl = await serve(listener);
    writeServiceAddress(data, { serverlessUrl, pid: process.pid });
    return serverlessUrl;
  };

  test("if no service runs on the folder", async () => {
    await fails(/no service uses the folder \S+key; start one, or pass its folder with --data/);
    const { stop } = await createService({ port: 0, dataFolder: data });
    await stop(0);
    await fails(/no service uses the folder \S+key; start one, or pass its folder with --data/);
  });

  test("if the service rejects the key, stops or does not respond", async () => {
    const other = await createService({ port: 0, dataFolder: join(folder, "other") });
    onTestFinished(() => other.stop(0));
    writeServiceAddress(data, { serverlessUrl: other.url, pid: process.pid });
    await fails(/rejects the key in .*api-key; pass that service's folder with --data/);

    await startAsService((_request, response) => response.writeHead(503).end('{"message":"the service is stopping"}'));
    await fails("the service is stopping");

    const url = await startAsService(({ socket }) => socket.destroy());
    await fails(`the service on ${url} does not respond; stop its process ${process.pid} and start it again`);
  });
});

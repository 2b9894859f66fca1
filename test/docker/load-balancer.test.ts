import { expect, test } from "vitest";
import { z } from "zod";
import { httpServerEndpoint, startHttpLoad } from "../support/http-load";
import { send, stringAt } from "../support/raw-http";
import { startRig } from "./rig";

/** Minimum number of requests of a load; higher in full runs. */
const least = process.env["FULL"] ? 10_000 : 200;

const workerList = z.object({ workers: z.array(z.looseObject({ isStale: z.boolean(), status: z.string() })) });

test("16 clients see no error while a change replaces the containers of a load balancer", async (context) => {
  const { service, image, containers, log } = await startRig(context, { timings: { healthInterval: 50 } });
  const call = (method: string, path: string, json?: object) =>
    send(method, `${service.url}/v2/serverless${path}`, { key: service.apiKey, json });
  const endpoint = httpServerEndpoint(image, { min: 2, max: 3 });
  const created = await call("POST", "", endpoint);
  const id = stringAt(created, "id");
  const load = startHttpLoad(`${stringAt(created, "requestUrls", "base")}/?ms=1`, service.apiKey);
  const startTime = performance.now();
  await load.waitForVersion("1");
  await load.waitForCount(least / 4);
  await expect.poll(containers).toMatchObject([{ State: "running" }, { State: "running" }]);
  await call("PATCH", `/${id}`, { env: { ...endpoint.env, VERSION: "2" } });
  await load.waitForVersion("2");
  const isRolledOut = async () =>
    workerList
      .parse((await call("GET", `/${id}/workers`)).json)
      .workers.every(({ isStale, status }) => !isStale && status !== "INITIALIZING");
  await expect.poll(isRolledOut).toBe(true);
  await load.waitForCount(least);
  const counts = await load.stop();
  if (process.env["FULL"])
    console.info(`containers: ${JSON.stringify(counts)} in ${Math.round(performance.now() - startTime)} ms`);
  expect(counts).toEqual({ "200 1": expect.any(Number), "200 2": expect.any(Number) });
  expect(await log(id)).not.toContain(service.apiKey);
});

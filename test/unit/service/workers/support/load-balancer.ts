import { fileURLToPath } from "node:url";
import type { ServiceOptions } from "serverless-compute-local";
import { expect } from "vitest";
import { z } from "zod";
import type { ServiceTimings } from "../../../../../service/timings";
import { apiKey, useLocalService } from "../../../../support/local-service";
import { at, stringAt } from "../../../../support/raw-http";
import { shortTimings } from "./programs";

/** A program that serves HTTP on its PORT. */
const serverFile = fileURLToPath(new URL("../../../../support/handlers/http-server.mjs", import.meta.url));

/** The workers of an endpoint as REST v2 lists them. */
export const workerList = z.array(
  z.looseObject({ id: z.string(), status: z.string(), isStale: z.boolean(), version: z.number() }),
);
const seenShape = z.looseObject({
  version: z.string(),
  pid: z.number(),
  port: z.string(),
  method: z.string(),
  url: z.string(),
  headers: z.record(z.string(), z.unknown()),
  env: z.record(z.string(), z.string()),
  body: z.object({ bytes: z.number(), text: z.string() }),
});

/** A load balancing endpoint of a service on a free port. */
export type LoadBalancer = Awaited<ReturnType<typeof useLoadBalancer>>;

/** Fields of an endpoint with `requestCount` requests for each worker. */
const endpointOf = (fields: object): object => ({
  name: "balancer",
  image: "acme/server:1",
  type: "LOAD_BALANCER",
  cpu: [{ id: "cpu3c", vcpuCount: 2 }],
  scaling: { type: "REQUEST_COUNT", requestCount: 1 },
  workers: { min: 0, max: 1, idleTimeout: 30 },
  ...fields,
});

/** Creates a service with a load balancing endpoint. */
export async function useLoadBalancer(
  fields: object = {},
  timings: Partial<ServiceTimings> = {},
  options: ServiceOptions = {},
) {
  const rig = await useLocalService({
    images: { "acme/server": serverFile },
    timings: { ...shortTimings, rolloutPause: 300, healthInterval: 20, ...timings },
    ...options,
  });
  const { call } = rig.jobs("serverless");
  const created = await call("POST", "", endpointOf(fields));
  expect(created.status, JSON.stringify(created.json)).toBe(201);
  const id = stringAt(created, "id");
  const url = z.string().parse(at(created.json, "requestUrls", "base"));
  const request = (path: string, init: RequestInit = {}): Promise<Response> =>
    fetch(`${url}${path}`, { ...init, headers: { authorization: `Bearer ${apiKey}`, ...init.headers } });
  const workers = async () => workerList.parse(at((await call("GET", `/${id}/workers`)).json, "workers"));
  return {
    rig,
    id,
    /** Address of the endpoint's requests. */
    url,
    /** Sends a request with the key. */
    request,
    workers,
    /** Properties of a request as the worker received it. */
    async received(path: string, init?: RequestInit) {
      const response = await request(path, init);
      const text = await response.text();
      expect(response.status, text).toBe(200);
      return seenShape.parse(JSON.parse(text));
    },
    /** Changes fields of the endpoint. */
    async change(changed: object): Promise<void> {
      const { status, json } = await call("PATCH", `/${id}`, changed);
      expect(status, JSON.stringify(json)).toBe(200);
    },
    /** Waits until all workers run the endpoint's version `version`. */
    async rolledOut(version: number): Promise<void> {
      const shown = async () =>
        (await workers()).map((worker) => `${worker.version} ${worker.isStale} ${worker.status}`);
      const isUp = (text: string): boolean => text === `${version} false IDLE` || text === `${version} false RUNNING`;
      await expect.poll(shown).toSatisfy((all: string[]) => all.length > 0 && all.every(isUp));
    },
  };
}

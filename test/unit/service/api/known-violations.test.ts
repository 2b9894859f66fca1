import { expect, test } from "vitest";
import { at, expectResponse, send } from "../../../support/raw-http";
import { useService } from "../resources/service-rig";

const rig = await useService();
const strict = await useService({ strict: true });
const request = ({ service }: typeof rig, query: string) => {
  const headers = { "user-agent": "runpod-mcp-server/4.0.0" };
  return send("GET", `${service().serverlessUrl}/v2${query}`, { key: service().apiKey, headers });
};

/** Queries that published clients send although the contract forbids them. */
const known = ["gpus", "gpus/NVIDIA%20A40", "cpus", "cpus/cpu3c"].map(
  (path) => `/catalog/${path}?include=AVAILABILITY`,
);

test.each(known)("GET %s is accepted and logged as a contract violation", async (query) => {
  expectResponse(await request(rig, query), 200);
  const route = `/v2${query.replace(/\?.*/, "").replace(/(NVIDIA.*|cpu3c)$/, ":id")}`;
  const lines = (await rig.log()).split("\n").filter((line) => line.includes("contract violation"));
  const logged = lines.map((line): unknown => JSON.parse(line)).find((line) => at(line, "route") === route);
  expect(logged).toMatchObject({ level: 40, client: "runpod-mcp-server/4.0.0" });
  expect(at(logged, "msg")).toBe("contract violation: include: requires product; start --strict rejects the request");
});

test.each(known)("GET %s is 400 with the option strict", async (query) => {
  expectResponse(await request(strict, query), 400, { detail: "include: requires product" });
});

test.each(["gpus?product=POD", "gpus?count=2", "cpus?vcpuCount=4", "gpus?include=AVAILABILITY&cudaVersions=12"])(
  "GET /catalog/%s is rejected even without the option",
  async (query) => {
    expect((await request(rig, `/catalog/${query}`)).status).toBeGreaterThanOrEqual(400);
  },
);

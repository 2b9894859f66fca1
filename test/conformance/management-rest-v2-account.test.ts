import { describe, expect, test } from "vitest";
import { at, expectResponse, send } from "../support/raw-http";
import { useTarget } from "../support/target";
import { useAccount } from "./support/account";
import { expectProblem, useRestV2 } from "./support/rest-v2";

const target = await useTarget();
const account = useAccount(target);
const { call } = useRestV2(target, account);

describe("REST v2: SSH keys of the account", () => {
  const key = (comment: string) => `ssh-ed25519 AAAAC3NzaC1lZDI1NTE5 ${comment}`;

  test("PUT replaces all keys, GET returns them, and an empty list removes them", async () => {
    const keys = [key("me@example.com"), "ecdsa-sha2-nistp256 AAAAE2VjZHNh"];
    expectResponse(await call("PUT", "/account/ssh-keys", { keys }), 200, { keys });
    expectResponse(await call("GET", "/account/ssh-keys"), 200, { keys });
    expectResponse(await account.graphql("{ myself { pubKey } }"), 200, {
      data: { myself: { pubKey: keys.join("\n") } },
    });
    const none = await call("PUT", "/account/ssh-keys", { keys: [] });
    expectResponse(none, 200);
    expect(none.json).toEqual({ keys: [] });
  });

  test.each([{ keys: ["AAAA"] }, { keys: [`${key("a")}\n${key("b")}`] }])("PUT with %j is 422", async (body) => {
    expectProblem(await call("PUT", "/account/ssh-keys", body), 422);
  });
});

describe("REST v2: billing without costs", () => {
  const metadata = async (path: string): Promise<unknown> => {
    const response = await call("GET", `/billing${path}`);
    expectResponse(response, 200, { records: [] });
    return at(response.json, "metadata");
  };

  test.each([
    ["", {}],
    ["/pods", { uniquePodCount: 0 }],
    ["/serverless", { uniqueServerlessCount: 0 }],
    ["/endpoints", {}],
    ["/network-volumes", { uniqueNetworkVolumeCount: 0 }],
    ["/clusters", { uniqueClusterCount: 0 }],
  ])("GET /billing%s has no records, and totals of 0", async (path, counts) => {
    const totals = { totalAmount: 0 };
    expect(await metadata(path)).toMatchObject({ recordCount: 0, totals, query: { bucketSize: "day" }, ...counts });
  });

  test.each([
    ["hour", "2026-03-04T05:00:00.000Z", "2026-03-05T07:00:00.000Z"],
    ["day", "2026-03-04T00:00:00.000Z", "2026-03-06T00:00:00.000Z"],
    ["week", "2026-03-02T00:00:00.000Z", "2026-03-09T00:00:00.000Z"],
    ["month", "2026-03-01T00:00:00.000Z", "2026-04-01T00:00:00.000Z"],
    ["year", "2026-01-01T00:00:00.000Z", "2027-01-01T00:00:00.000Z"],
  ])("a window is extended to whole buckets of a %s", async (bucketSize, startTime, endTime) => {
    const window = "startTime=2026-03-04T05:06:07Z&endTime=2026-03-05T06:07:08Z";
    const query = await metadata(`/serverless?${window}&bucketSize=${bucketSize}&serverlessId=ep`);
    expect(query).toMatchObject({ query: { startTime, endTime, bucketSize, serverlessId: "ep" } });
  });

  test("an end on a boundary is unchanged; lastN counts buckets up to the current bucket", async () => {
    const whole = await metadata("?startTime=2026-03-04T00:00:00Z&endTime=2026-03-06T00:00:00Z");
    expect(whole).toMatchObject({ query: { endTime: "2026-03-06T00:00:00.000Z" } });
    const query = at(await metadata("?lastN=3&bucketSize=hour"), "query");
    const [start, end] = [at(query, "startTime"), at(query, "endTime")].map((time) => Date.parse(String(time)));
    expect(Number(end) - Number(start)).toBe(3 * 3_600_000);
    expect(await metadata("?lastN=900000000000&bucketSize=year")).toMatchObject({
      query: { startTime: "1970-01-01T00:00:00.000Z" },
    });
  });

  test("lastN cannot be combined with startTime or endTime", async () => {
    for (const name of ["startTime", "endTime"])
      expectProblem(await call("GET", `/billing?lastN=2&${name}=2026-03-04T00:00:00Z`), 400, /^lastN: /);
  });
});

describe("REST v2: unknown paths", () => {
  const v2 = `${target.serverlessUrl}/v2`;
  const paths = [
    "",
    "/nosuch",
    "/nosuch?limit=1",
    "/hub/listings",
    "/billing/nosuch",
    "/account/nosuch",
    "/catalog/nosuch",
    "/serverless/a/b",
  ];

  test.each(paths)("GET /v2%s is 401 without a key and 404 with a key", async (path) => {
    expectProblem(await send("GET", `${v2}${path}`), 401, "missing bearer token");
    expectProblem(await send("POST", `${v2}${path}`, { key: "wrong", text: "{" }), 401, "invalid API key");
    expectProblem(await send("GET", `${v2}${path}`, { key: target.apiKey }), 404, "resource not found");
  });

  test("unknown operations of an endpoint are errors of the job API", async () => {
    const id = await account.endpoint();
    const message = `route GET /v2/${id}/nosuch not found`;
    expectResponse(await send("GET", `${v2}/${id}/nosuch`, { key: target.apiKey }), 404, { error: message });
  });
});

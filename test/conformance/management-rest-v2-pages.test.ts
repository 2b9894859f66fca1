import { randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import { at, expectResponse, type RawResponse, stringAt } from "../support/raw-http";
import { useTarget } from "../support/target";
import { uniqueName, useAccount } from "./support/account";
import { expectProblem, useRestV2 } from "./support/rest-v2";

const target = await useTarget();
const { call, make, endpointBody } = useRestV2(target, useAccount(target));
const template = () => ({ name: uniqueName("template"), image: "conformance/none:1" });

const lists = {
  "/serverless": ["endpoints", endpointBody],
  "/templates": ["templates", template],
  "/network-volumes": ["networkVolumes", () => ({ name: uniqueName("volume"), size: 10, dataCenter: "EU-RO-1" })],
  "/registries": ["registries", () => ({ name: uniqueName("registry"), username: "reader", password: "hush" })],
  "/account/secrets": ["secrets", () => ({ name: `page_${randomBytes(6).toString("hex")}`, value: "hush" })],
} as const;
type ListPath = keyof typeof lists;
const paths: ListPath[] = ["/serverless", "/templates", "/network-volumes", "/registries", "/account/secrets"];

const idsIn = ({ json }: RawResponse, member: string): unknown[] => {
  const list = at(json, member);
  return Array.isArray(list) ? list.map((element) => at(element, "id")) : [];
};

describe("REST v2: pages", () => {
  test.each(paths)("GET %s follows its cursors, newest first", async (path) => {
    const [member, body] = lists[path];
    const created: string[] = [];
    for (let count = 0; count < 3; count++) created.push(await make(path, body()));
    const received: unknown[] = [];
    for (let query = "?limit=1"; ; ) {
      const response = await call("GET", `${path}${query}`);
      expectResponse(response, 200);
      received.push(...idsIn(response, member));
      if (at(response.json, "pagination", "hasNextPage") !== true) {
        expect(at(response.json, "pagination", "nextCursor")).toBeNull();
        break;
      }
      query = `?limit=1&cursor=${encodeURIComponent(stringAt(response, "pagination", "nextCursor"))}`;
    }
    expect(received.filter((id) => created.some((createdId) => createdId === id))).toEqual(created.reverse());
    expect(new Set(received).size).toBe(received.length);
    expectResponse(await call("GET", path), 200, { pagination: { nextCursor: null, hasNextPage: false } });
  });

  test("the releases of an endpoint are paged, and its builds are empty", async () => {
    const own = `/serverless/${await make("/serverless", endpointBody())}`;
    await call("PATCH", own, { image: "conformance/second:2" });
    const first = await call("GET", `${own}/releases?limit=1`);
    expectResponse(first, 200, { releases: [{ version: 2 }], pagination: { hasNextPage: true }, endpointVersion: 2 });
    const next = encodeURIComponent(stringAt(first, "pagination", "nextCursor"));
    const last = { nextCursor: null, hasNextPage: false };
    const second = await call("GET", `${own}/releases?limit=1&cursor=${next}`);
    expectResponse(second, 200, { releases: [{ version: 1 }], pagination: last, endpointVersion: 2 });
    expect((await call("GET", `${own}/builds`)).json).toEqual({ builds: [], pagination: last });
    expectProblem(await call("GET", `${own}/builds/nosuch`), 404, "resource not found");
    for (const path of ["releases", "builds"])
      expectProblem(await call("GET", `/serverless/nosuch/${path}`), 404, "resource not found");
    expectProblem(await call("GET", `${own}/builds?limit=101`), 422);
  });
});

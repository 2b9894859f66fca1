import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { differences, openApiOperations } from "../../../scripts/contract/differences.mjs";
import { scratchFolder } from "../../support/folders";

const volumes = (size: object, extra: object = {}) => ({
  openapi: "3.1.0",
  paths: {
    "/network-volumes": {
      get: {
        parameters: [{ in: "query", name: "limit", schema: { type: "integer" } }],
        responses: { 200: { content: { "application/json": { schema: { $ref: "#/components/schemas/List" } } } } },
      },
      ...extra,
    },
  },
  components: {
    schemas: {
      List: {
        type: "object",
        required: ["networkVolumes"],
        properties: { networkVolumes: { type: "array", items: size } },
      },
      Named: { type: "object", required: ["name"], properties: { name: { type: "string" } } },
    },
  },
});
const compared = (ourDocument: object, theirDocument: object) =>
  Object.fromEntries(differences(openApiOperations(ourDocument), openApiOperations(theirDocument)));

test("documents that describe the same requests and responses do not differ", () => {
  const flat = volumes({ type: "object", properties: { name: { type: "string" } }, required: ["name"] });
  const composed = volumes({ allOf: [{ $ref: "#/components/schemas/Named" }] });
  expect(compared(flat, composed)).toEqual({});
});

test("a difference names route and property, and the rules of both sides", () => {
  const ourDocument = volumes({ type: "object", properties: { size: { type: "integer", minimum: 10 } } });
  const theirDocument = volumes({
    type: "object",
    properties: { size: { type: "integer", minimum: 1 }, tier: { type: "string" } },
  });
  expect(compared(ourDocument, theirDocument)).toEqual({
    "GET /network-volumes": [
      '200 networkVolumes[].size: contract optional, type "integer", minimum 10; file optional, type "integer", minimum 1',
      '200 networkVolumes[].tier: only in the file (optional, type "string")',
    ],
  });
});

test("routes of only one side are named, routes of other families are ignored", () => {
  const create = { post: { responses: { 201: {}, 422: {} } } };
  const changedDocument = {
    ...volumes({}),
    paths: { ...volumes({}, create).paths, "/pods": { get: { responses: {} } } },
  };
  expect(compared(volumes({}), changedDocument)).toEqual({ "POST /network-volumes": ["only in the file"] });
  expect(compared(changedDocument, volumes({}))).toMatchObject({ "POST /network-volumes": ["only in the contract"] });
});

test("the command reads YAML and JSON, prints the contract's revision and exits with 1 on a difference", async () => {
  const folder = scratchFolder();
  const script = fileURLToPath(new URL("../../../scripts/contract/compare.mjs", import.meta.url));
  const pinned = new URL("../../contract/rest-v2.json", import.meta.url);
  const { revision } = JSON.parse(await readFile(pinned, "utf8"));
  const run = (...args: string[]) =>
    promisify(execFile)(process.execPath, [script, ...args]).then(
      ({ stdout }) => ({ code: 0, stdout, stderr: "" }),
      ({ code, stdout, stderr }) => ({ code, stdout, stderr }),
    );
  await writeFile(
    join(folder, "api.yaml"),
    "openapi: 3.1.0\npaths:\n  /templates:\n    get: {responses: {'200': {}}}\n",
  );
  await writeFile(join(folder, "other.json"), "{}");
  const differing = await run(join(folder, "api.yaml"));
  expect(differing.code).toBe(1);
  expect(differing.stdout).toContain(`Contract: ${revision}\n`);
  expect(differing.stdout).toMatch(/\nGET \/templates\n {2}200: only in the contract/);
  expect(differing.stdout).toContain("\nPOST /serverless\n  only in the contract\n");
  expect(await run(join(folder, "other.json"))).toMatchObject({ code: 1, stderr: expect.stringContaining("openapi") });
  expect(await run()).toMatchObject({ code: 2, stderr: expect.stringContaining("usage:") });
});

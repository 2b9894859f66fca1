import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { readSubmission } from "../../../../service/api/submission";
import { steadyClock } from "../../../../service/steady-clock";
import { apiKey, useSharedService } from "../../../support/local-service";
import { ManualClock } from "../../../support/manual-clock";

const lists = (depth: number): string => `{"input":{"a":${"[".repeat(depth)}${"]".repeat(depth)}}}`;

test.each([
  ["a body that is not JSON", '{"input":{"password":"hush}', /^body: must be valid JSON(?!.*hush)/],
  ["100,000 nested lists", lists(100_000), /^body: must not nest deeper than 1000 levels$/],
  [
    "a webhook with a password and another protocol",
    '{"input":{},"webhook":"ftp://user:hush@127.0.0.1"}',
    /^webhook: must be an address that begins with http:\/\/ or https:\/\/$/,
  ],
  [
    "a long webhook with a password",
    `{"input":{},"webhook":"http://user:hush@127.0.0.1/${"x".repeat(9000)}"}`,
    /^webhook: must have 8192 characters or fewer$/,
  ],
  [
    "a duplicate input, the last of which is not an object",
    '{"input":{},"\\u0069nput":1}',
    /^input: must be an object/,
  ],
])("a submission rejects %s", (_what, body, message) => {
  const error = expect.objectContaining({ code: "invalid", message: expect.stringMatching(message) });
  expect(() => readSubmission("endpoint", "run", body, steadyClock(new ManualClock()))).toThrow(error);
});

const rig = await useSharedService();
const { id } = await rig.jobsOn("no-image", { workersMax: 0 });
const latin1 = Buffer.from('{"input":{"name":"Andr\xe9"}}', "latin1");
const encodingRule = "header Content-Encoding: must be absent or identity";

test.each([
  ["is not UTF-8, instead of changing it", latin1, {}, "body: must be UTF-8 text"],
  ["is declared as compressed", '{"input":{}}', { "content-encoding": "gzip" }, encodingRule],
  ["is compressed", gzipSync('{"input":{}}'), { "content-encoding": "gzip" }, encodingRule],
])("every API rejects a body that %s", async (_what, body, header, message) => {
  const headers = { authorization: `Bearer ${apiKey}`, "content-type": "application/json", ...header };
  const paths = ["run", "runsync", "openai/v1/models"].map((operation) => `/v2/${id}/${operation}`);
  for (const path of [...paths, "/v1/templates", "/v2/templates", "/graphql"]) {
    const response = await fetch(`${rig.root}${path}`, { method: "POST", headers, body });
    expect([path, response.status, await response.text()]).toEqual([path, 400, expect.stringContaining(message)]);
  }
  const health = await fetch(`${rig.root}/v2/${id}/health`, { headers });
  expect(await health.json()).toMatchObject({ jobs: { inQueue: 0 } });
});

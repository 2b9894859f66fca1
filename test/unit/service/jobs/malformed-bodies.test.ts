import { expect, test } from "vitest";
import { at } from "../../../support/raw-http";
import { useJobRig } from "./support/job-rig";

const lists = (depth: number): string => `{"input":{"a":${"[".repeat(depth)}${"]".repeat(depth)}}}`;

test.each([
  ["a body that is no JSON", '{"input":{"password":"hush}', /^body: must be valid JSON/],
  ["a list", "[1]", /^body: must be a JSON object$/],
  ["100,000 nested lists", lists(100_000), /^body: must not nest deeper than 1000 levels$/],
  ["no input", '{"other":1}', /^input: is required/],
  ["an input that is no object", '{"input":[1]}', /^input: must be an object/],
  ["two inputs, the last of which is no object", '{"input":{},"\\u0069nput":1}', /^input: must be an object/],
])("/run and /runsync reject %s with 400", async (_what, body, message) => {
  const jobs = await (await useJobRig()).endpoint("no-image", { workersMax: 0 });
  for (const path of ["/run", "/runsync"]) {
    const answer = await jobs.call("POST", path, body);
    expect(answer.status).toBe(400);
    expect(answer.text("error")).toMatch(message);
    expect(answer.text("error")).not.toContain("hush");
  }
});

test("/openai rejects a body that is not a JSON object with 400", async () => {
  const jobs = await (await useJobRig()).endpoint("no-image", { workersMax: 0 });
  for (const body of ["{", "[1]", lists(100_000)]) {
    const answer = await jobs.call("POST", "/openai/v1/models", body);
    expect(answer.status).toBe(400);
    expect(at(answer.json, "error", "message")).toMatch(/^body: must/);
  }
});

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { checkOptions } from "../../../../service/settings";
import { scratchFolder } from "../../../support/folders";
import { runLine } from "./command";

const label = 'must be a name of up to 63 lowercase letters, digits and "-"';
const domain = 'must be a name of up to 253 lowercase letters, digits, "-" and "."';

describe("manifest", () => {
  test.each([
    ["--image", " acme/service:1", '" acme/service:1" is not allowed; must be an image name without spaces'],
    ["--namespace", "Foo Bar", `"Foo Bar" is not allowed; ${label}`],
    ["--namespace", "-a", `"-a" is not allowed; ${label}`],
    ["--namespace", "a.b", `"a.b" is not allowed; ${label}`],
    ["--namespace", "ä", `"ä" is not allowed; ${label}`],
    ["--namespace", "a".repeat(64), `is not allowed; ${label}`],
    ["--storage-class", "Fast", `"Fast" is not allowed; ${domain}`],
    ["--storage-class", "a..b", `"a..b" is not allowed; ${domain}`],
  ])("%s %j is reported with what is allowed", async (flag, value, text) => {
    const { code, out, err } = await runLine("manifest", "--image", "acme/service:1", flag, value);
    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(err).toContain(`${flag}: `);
    expect(err).toContain(text);
  });

  test("a seed file that kubectl apply would reject is reported", async () => {
    const file = join(scratchFolder(), "endpoints.yaml");
    writeFileSync(file, `endpoints: {}\n${"# a comment\n".repeat(25_000)}`);
    const { code, err } = await runLine("manifest", "--image", "acme/service:1", "--seed", file);
    expect(code).toBe(1);
    expect(err).toContain(`--seed ${file}: is too large for kubectl apply; must be 250000 bytes or less`);
  });

  test("accepts the longest names", async () => {
    const flags = ["--namespace", "a".repeat(63), "--storage-class", `${"a".repeat(100)}.${"b".repeat(152)}`];
    expect(await runLine("manifest", "--image", "acme/service:1", ...flags)).toMatchObject({ code: 0, err: "" });
  });
});

test("the name of an image with a space is reported with what is allowed", () => {
  expect(() => checkOptions({ images: { "a b": "node worker.mjs" } })).toThrow("must be an image name without spaces");
});

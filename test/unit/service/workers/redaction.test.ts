import { expect, test } from "vitest";
import { createRedaction } from "../../../../service/workers/redaction";
import { longSecrets } from "../../../support/long-secrets";

const { pem, jwt, text } = longSecrets();
const redact = createRedaction([pem, jwt, text, 'quo"ted-4d1f']);

test("a secret is redacted in a worker's line, also in JSON", () => {
  for (const secret of [jwt, text, 'quo"ted-4d1f']) {
    expect(redact(`env ${secret}.`)).toBe("env [secret].");
    expect(redact(`env {"A":${JSON.stringify(secret)}}`)).toBe('env {"A":"[secret]"}');
  }
  expect(redact(JSON.stringify({ pem }))).toBe('{"pem":"[secret]"}');
});

test("overlapping secrets are redacted from the start of the first to the end of the last", () => {
  const redact = createRedaction(["first-middle", "middle-last", "aaaa"]);
  expect(redact("x first-middle-last y aaaaaaa z")).toBe("x [secret] y [secret] z");
});

test("a secret is redacted in JSON with ASCII characters only", () => {
  expect(createRedaction(["schlüssel–1\n"])('{"error": "schl\\u00fcssel\\u20131\\n"}')).toBe('{"error": "[secret]"}');
});

test("a secret that contains another secret is redacted completely, and short values are ignored", () => {
  const redact = createRedaction(["hunter2", "hunter2-long", "ab"]);
  expect(redact("x hunter2-long y hunter2 z ab")).toBe("x [secret] y [secret] z ab");
});

test("a multi-line secret is redacted line by line, except short lines", () => {
  const lines = pem.trim().split("\n");
  expect(new Set(lines.map(redact))).toEqual(new Set(["[secret]"]));
  expect(createRedaction(["MIIEvQIBADAN\nend"])("the end of MIIEvQIBADAN")).toBe("the end of [secret]");
});

test("the beginning of a secret in a truncated line is redacted", () => {
  for (const length of [8, 100, jwt.length - 1]) expect(redact(`env ${jwt.slice(0, length)}…`)).toBe("env [secret]…");
  expect(redact(`${pem.split("\n")[1]?.slice(0, 40)}…`)).toBe("[secret]…");
  expect(redact("an env…")).toBe("an env…");
});

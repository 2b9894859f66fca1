import { inspect } from "node:util";
import { expect, test } from "vitest";
import { createRedaction, redactFault } from "../../../api/redaction";

const redact = createRedaction(["key+1", "key+1-longer", "", 'two\n"lines"']);

test("every form of a secret is taken out, the longest first, and nothing else", () => {
  expect(redact("a key+1 b key%2B1 c key+1-longer d")).toBe("a [redacted] b [redacted] c [redacted] d");
  expect(redact('{"value":"two\\n\\"lines\\""}')).toBe('{"value":"[redacted]"}');
  expect(redact("keyboard")).toBe("keyboard");
});

test("a fault is copied with its name and code, without secrets and without what libraries attach", () => {
  const inner = Object.assign(new Error("inner key+1"), { code: "ECONNRESET", socket: { header: "Bearer key+1" } });
  const copy = redactFault(new AggregateError([inner], "outer key+1"), redact);
  const seen = inspect(copy, { depth: 9, showHidden: true });
  expect(seen).not.toContain("key+1");
  expect(seen).not.toContain("socket");
  expect(copy.cause).toMatchObject({ message: "inner [redacted]", code: "ECONNRESET" });
});

test("a fault that is no error becomes one", () => {
  expect(redactFault("key+1 thrown", redact).message).toBe("[redacted] thrown");
});

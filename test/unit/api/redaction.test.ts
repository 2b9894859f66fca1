import { inspect } from "node:util";
import { describe, expect, test } from "vitest";
import { createRedaction, redactFault } from "../../../api/redaction";
import { longSecrets } from "../../support/long-secrets";

const long = longSecrets();
const redact = createRedaction(["key+1", "key+1-longer", "", 'two\n"lines"']);

/** Parts of a text that are long enough to be useful to an attacker. */
const partsOf = (secret: string): string[] =>
  Array.from({ length: Math.ceil(secret.length / 20) }, (_, index) => secret.slice(index * 20, index * 20 + 20)).filter(
    (part) => part.length === 20,
  );

test("a secret in base64 or base64url is redacted up to its end, wherever the two differ", () => {
  for (let length = 12; length < 60; length++) {
    for (let at = 0; at < length; at++) {
      // "??" and ">>" have characters in which base64 and base64url differ.
      const secret = `${"0123456789".repeat(6).slice(0, at)}??>>${"abcdefghij".repeat(6).slice(0, length - at)}`;
      for (const encoding of ["base64", "base64url"] as const) {
        const text = Buffer.from(secret).toString(encoding).replace(/=+$/, "");
        const redacted = createRedaction([secret])(`x ${text} y`);
        // The last character depends on the adjacent text.
        expect(redacted.replace(/\[secret\]\S?/, "[secret]"), `${secret} in ${encoding}`).toBe("x [secret] y");
      }
    }
  }
});

test("every occurrence of a secret is redacted, the longest secret first, and nothing else", () => {
  expect(redact("a key+1 b key%2B1 c key+1-longer d")).toBe("a [secret] b [secret] c [secret] d");
  expect(redact('{"value":"two\\n\\"lines\\""}')).toBe('{"value":"[secret]"}');
  expect(redact("keyboard")).toBe("keyboard");
});

describe.each(Object.entries({ ...long, quoted: 'quoted"-line\n-9b2e/ä+&1', path: "C:\\new\\100%25" }))(
  "a secret (%s)",
  (_name, secret) => {
    const redactSecret = createRedaction([secret]);

    test.each<[how: string, text: string]>([
      ["verbatim", secret],
      ["in JSON", JSON.stringify({ a: secret })],
      ["in JSON within JSON", JSON.stringify(JSON.stringify({ a: secret }))],
      ["in ASCII-only JSON", JSON.stringify(secret).replaceAll("ä", "\\u00e4")],
      ["in a URL", encodeURIComponent(secret)],
      ["in a form body", new URLSearchParams({ a: secret }).toString()],
      ["in a URL with lowercase escapes", encodeURIComponent(secret).replaceAll(/%../g, (code) => code.toLowerCase())],
      ["in JSON in a URL", encodeURIComponent(JSON.stringify({ a: secret }))],
      ["in HTML", secret.replaceAll("&", "&amp;").replaceAll('"', "&quot;")],
      ["with CRLF line breaks", secret.replaceAll("\n", "\r\n")],
      ["on one line", secret.replaceAll(/\s*\n\s*/g, " ")],
      ["indented", secret.replaceAll("\n", "\n\t    ")],
    ])("is found %s", (_how, text) => {
      const remaining = redactSecret(`before ${text} after`);
      expect(remaining).toMatch(/^before .*\[secret\].* after$/s);
      for (const part of partsOf(secret)) expect(remaining.includes(part), remaining).toBe(false);
      // Only the quotes and brackets of the encoding remain around it.
      expect(remaining.length).toBeLessThan(60);
    });

    test.each([0, 1, 2])("is found in base64 at offset %i", (offset) => {
      const encoded = Buffer.from(`${"me:".slice(0, offset)}${secret}:`).toString("base64");
      expect(redactSecret(`Basic ${encoded} is wrong`)).toMatch(/^Basic \S{0,4}\[secret\]\S{0,6} is wrong$/);
    });
  },
);

describe.each(Object.entries(long))("a long secret (%s)", (_name, secret) => {
  const redactSecret = createRedaction([secret]);

  test("is found if it is cut at either end", () => {
    for (const length of [16, 77, 300, secret.length - 1]) {
      expect(redactSecret(`"${secret.trim().slice(0, length)}…`)).toMatch(/^"\[secret\]\s?…$/);
      expect(redactSecret(`…${secret.trim().slice(-length)}"`)).toMatch(/^…\s?\[secret\]"$/);
    }
  });

  test("is found if it is wrapped over lines", () => {
    const remaining = redactSecret(secret.replaceAll(/.{64}/gs, "$&\n  | "));
    for (const part of partsOf(secret)) expect(remaining.includes(part)).toBe(false);
  });
});

test("the lines of a secret are also redacted separately", () => {
  const redactSecret = createRedaction(["first-line\nsecond-l\nab"]);
  expect(redactSecret("stderr: second-l\nstdout: first-line\nab")).toBe("stderr: [secret]\nstdout: [secret]\nab");
});

test("a secret of under 4 characters is not redacted, because it occurs in any text", () => {
  expect(createRedaction(["a", "is", "abc"])("this is a cab, abc")).toBe("this is a cab, abc");
});

test("a secret that is a common word is redacted everywhere", () => {
  expect(createRedaction(["name", "true"])("the name is taken: true")).toBe("the [secret] is taken: [secret]");
});

test("the time to redact a repetitive secret grows linearly with its length", () => {
  const secret = "x".repeat(200_000);
  const startTime = performance.now();
  expect(createRedaction([secret])(`a${secret}b${"x".repeat(100)}c`)).toBe("a[secret]b[secret]c");
  // Linear steps take 0.1 s on an idle machine, quadratic steps minutes.
  expect(performance.now() - startTime).toBeLessThan(10_000);
});

test("accepts unusual secrets, and ignores a secret of line breaks only", () => {
  expect(
    createRedaction(["\ud800-lone-half", "%", "%zz%", "\n\n\n\n\n", "\\\\\\\\"])("100% of %zz% x\n\n\n\n\ny"),
  ).toBe("100% of [secret] x\n\n\n\n\ny");
});

test("copies an error with its name and code, without secrets and library fields", () => {
  const inner = Object.assign(new Error("inner key+1"), { code: "ECONNRESET", socket: { header: "Bearer key+1" } });
  const copy = redactFault(new AggregateError([inner], "outer key+1"), redact);
  const inspected = inspect(copy, { depth: 9, showHidden: true });
  expect(inspected).not.toContain("key+1");
  expect(inspected).not.toContain("socket");
  expect(copy.cause).toMatchObject({ message: "inner [secret]", code: "ECONNRESET" });
});

test("turns a thrown string into an error without secrets", () => {
  expect(redactFault("key+1 thrown", redact).message).toBe("[secret] thrown");
});

import { expect, it } from "vitest";
import { useEngineService } from "../support/engine-service";
import type { Run } from "../support/pulumi";
import { dynamicWay as way } from "./way";

const warningsOf = ({ diagnostics }: Run): string[] =>
  diagnostics.filter(({ severity }) => severity === "warning").map(({ message }) => message.trim());

it("a key without --secret and an address without encryption are warnings of the preview; with --secret the exported state does not contain the key", async () => {
  const service = await useEngineService();
  const { SERVERLESS_COMPUTE_API_KEY: _key, ...environment } = service.environment;
  const stack = await way.createStack(environment);
  // The removal of the stack fails if a file contains the real key.
  const set = (...words: string[]) => stack.command(["config", "set", ...words]);
  await stack.writeProgram(`
    const { NetworkVolume } = require("${way.module}");
    for (const name of ["a", "b"]) new NetworkVolume(name, { size: 10, dataCenterId: "EU-RO-1" });
  `);
  try {
    await set("--plaintext", "serverless-compute:apiKey", "a-plain-key");
    await set("serverless-compute:url", "http://service.invalid:8080");
    expect(warningsOf(await stack.preview())).toEqual([
      expect.stringMatching(/^serverless-compute:apiKey: is plain text in the stack's config.*config set --secret/),
      "serverless-compute:url: the API key is sent to http://service.invalid:8080 unencrypted; use https://",
    ]);
    await stack.command(["config", "rm", "serverless-compute:url"]);
    await set("--secret", "serverless-compute:apiKey", service.service.apiKey);
    const up = await stack.up();
    expect(warningsOf(up)).toEqual([]);
    const { output } = await stack.command(["stack", "export"]);
    expect(output).toContain('"serverless-compute:apiKey": {');
    expect(output).not.toContain(service.service.apiKey);
  } finally {
    await stack.remove();
  }
});

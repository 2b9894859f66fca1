import { readdirSync, statSync } from "node:fs";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { createService } from "serverless-compute-local";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { serviceFolder } from "../../support/folders";
import { listenOnLoopback } from "../../support/loopback";

let folder: string;
beforeEach(() => {
  folder = serviceFolder();
  vi.stubEnv("TMPDIR", folder);
});
afterEach(() => void vi.unstubAllEnvs());

describe("an ephemeral service", () => {
  const ephemeral = { ephemeral: true, runtime: "none", logLevel: "info" } as const;

  test("leaves nothing on disk after its end", async () => {
    const service = await createService({ ...ephemeral, port: 0 });
    const used = dirname(service.apiKeyFile);
    expect([dirname(used), statSync(used).mode & 0o777]).toEqual([folder, 0o700]);
    await service.stop(0);
    expect(readdirSync(folder)).toEqual([]);
  });

  test("names the folder for temporary files if that cannot be used", async () => {
    vi.stubEnv("TMPDIR", join(folder, "none"));
    await expect(createService({ ...ephemeral, port: 0 })).rejects.toThrow(
      `the folder for temporary files ${folder}/none: cannot be used (ENOENT); set TMPDIR to a writable folder`,
    );
  });

  test("leaves nothing on disk if it cannot start", async () => {
    const server = createServer();
    const port = Number(new URL(await listenOnLoopback(server)).port);
    await expect(createService({ ...ephemeral, port })).rejects.toThrow(/is taken/);
    server.close();
    await expect(createService({ ephemeral: true, dataFolder: join(folder, "data") })).rejects.toThrow(
      "ephemeral: true is not allowed with a dataFolder; remove one of them",
    );
    expect(readdirSync(folder)).toEqual([]);
  });
});

import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { expect, onTestFinished, test, vi } from "vitest";
import { isAlive, program, scratchFile } from "./support/programs";

// Real processes on a busy machine.
vi.setConfig({ testTimeout: 30_000 });

const root = fileURLToPath(new URL("../../../../", import.meta.url));

/** Runs a program that is killed at this moment of the start of a worker; answers the process id that it prints. */
function killedWhen(moment: string, file: string, ...args: string[]): number {
  const loader = pathToFileURL(join(root, "node_modules/tsx/dist/loader.mjs")).href;
  const starter = ["--import", loader, program("killed-starter.ts"), moment, file, ...args];
  const TSX_TSCONFIG_PATH = join(root, "test/unit/service/main/source-paths.json");
  const { signal, stdout, stderr } = spawnSync(process.execPath, starter, {
    env: { PATH: process.env["PATH"], TSX_TSCONFIG_PATH },
    encoding: "utf8",
  });
  expect({ signal, stderr }).toEqual({ signal: "SIGKILL", stderr: "" });
  const worker = Number(stdout);
  onTestFinished(() => {
    if (isAlive(worker)) process.kill(worker, "SIGKILL");
  });
  return worker;
}

test.each(["spawned", "told"])("a worker whose service is killed when it was just %s ends too", async (moment) => {
  const worker = killedWhen(moment, process.execPath, program("stays.mjs"), scratchFile());
  expect(worker).toBeGreaterThan(0);
  await expect.poll(() => isAlive(worker), { timeout: 20_000, interval: 20 }).toBe(false);
});

test("the shell that waits for the service's end ends itself when no worker came", async () => {
  const shell = killedWhen("before", process.execPath, program("stays.mjs"), scratchFile());
  expect(shell).toBeGreaterThan(0);
  await expect.poll(() => isAlive(shell), { timeout: 20_000, interval: 20 }).toBe(false);
});

import { chromium } from "playwright-core";
import type { TestProject } from "vitest/node";
import { findChromium } from "../../scripts/chromium.mjs";

declare module "vitest" {
  interface ProvidedContext {
    /** Address of the browser; undefined if none is available. */
    browser: string | undefined;
  }
}

/** Starts a browser for all files, and returns the function that closes it. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const executablePath = findChromium();
  if (executablePath === undefined) {
    project.provide("browser", undefined);
    return async () => undefined;
  }
  const server = await chromium.launchServer({
    executablePath,
    host: "127.0.0.1",
    // Pages may load only from this machine.
    args: ["--no-sandbox", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost"],
    timeout: 60_000,
  });
  project.provide("browser", server.wsEndpoint());
  return () => server.close();
}

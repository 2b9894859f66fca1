import { readFileSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { createService, type Service } from "serverless-compute-local";
import { afterAll, expect, inject, onTestFinished, type TestContext } from "vitest";
import { z } from "zod";
import { freePort } from "../support/loopback";
import { send, stringAt } from "../support/raw-http";
import { noteSecret } from "../support/secret-scan";
import { discardServiceFolder } from "../support/service-artefacts";

export const handler = fileURLToPath(new URL("./programs/handler.mjs", import.meta.url));

/** Timeout for content of the page, ms, for a busy machine. */
export const patience = 30_000;

/** A service with its console, and a browser. */
export interface ConsoleRig {
  readonly service: Service;
  readonly dataFolder: string;
  /** Makes an endpoint whose workers run the handler; resolves with its id. */
  endpoint(name: string, fields?: object, image?: string): Promise<string>;
  /** Submits a job through the job API; resolves with its id. */
  run(endpointId: string, input: object): Promise<string>;
  /** The state of a job. */
  status(endpointId: string, jobId: string): Promise<string>;
  /** A page in its own browser context, with a session, at `hash`. */
  open(hash?: string, options?: BrowserContextOptions): Promise<Page>;
  /** A page in its own browser context, without a session. */
  visit(url: string, options?: BrowserContextOptions): Promise<Page>;
  /** Stops the service, calls `between`, and starts it again at the same address. */
  restart(between: () => Promise<void>): Promise<void>;
}

let launched: Promise<Browser> | undefined;
afterAll(async () => (await launched)?.close());

/** One browser for the tests of a file; the test is skipped where the machine has none. */
function useBrowser(context: TestContext): Promise<Browser> {
  const executablePath = inject("chromium");
  if (executablePath === undefined) return context.skip("no Chromium is installed");
  launched ??= chromium.launch({
    executablePath,
    // Pages may load from this machine only.
    args: ["--no-sandbox", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost"],
    timeout: 60_000,
  });
  return launched;
}

/** Starts a service on a free port with its own folder; removed after the test. */
export async function useConsole(context: TestContext, images: Record<string, string> = {}): Promise<ConsoleRig> {
  const browser = await useBrowser(context);
  const dataFolder = await mkdtemp(join(tmpdir(), "console-"));
  const start = (port: number): Promise<Service> =>
    createService({
      port,
      dataFolder,
      runtime: "none",
      rateLimits: "off",
      watch: true,
      logLevel: "info",
      images: { "acme/greeter": handler, ...images },
    });
  let service = await start(await freePort());
  const { serverlessUrl } = service;
  onTestFinished(async () => {
    await service.stop(0);
    await discardServiceFolder(dataFolder);
  });

  async function post(url: string, json: object): Promise<string> {
    return stringAt(await send("POST", url, { key: service.apiKey, json }), "id");
  }
  async function visit(url: string, options: BrowserContextOptions = {}): Promise<Page> {
    const own = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
    onTestFinished(() => own.close());
    const page = await own.newPage();
    page.setDefaultTimeout(patience);
    await page.goto(url);
    return page;
  }

  return {
    get service() {
      return service;
    },
    dataFolder,
    async endpoint(name, fields = {}, imageName = "acme/greeter:1") {
      const template = { name, imageName, isServerless: true, env: { GREETING: "Hello" } };
      const templateId = await post(`${service.baseUrl}/templates`, template);
      return post(`${service.baseUrl}/endpoints`, { name, templateId, workersMax: 1, idleTimeout: 60, ...fields });
    },
    run: (endpointId, input) => post(`${serverlessUrl}/v2/${endpointId}/run`, { input }),
    status: async (endpointId, jobId) =>
      stringAt(
        await send("GET", `${serverlessUrl}/v2/${endpointId}/status/${jobId}`, { key: service.apiKey }),
        "status",
      ),
    visit,
    async open(hash = "", options) {
      const sent = await send("POST", `${serverlessUrl}/console/links`, { key: service.apiKey });
      const link = stringAt(sent, "url");
      noteSecret(new URL(link).searchParams.get("t") ?? "", "the token of a link");
      const page = await visit(link, options);
      await page.goto(`${serverlessUrl}/${hash}`);
      await page.getByText("Live", { exact: true }).waitFor();
      return page;
    },
    async restart(between) {
      await service.stop(0);
      await between();
      service = await start(Number(new URL(serverlessUrl).port));
    },
  };
}

/** Submits an input by the form. */
export async function submit(page: Page, input: object, way = "run"): Promise<void> {
  await page.getByLabel("Input (JSON)").fill(JSON.stringify(input));
  await page.getByRole("radio", { name: way, exact: true }).check();
  await page.getByRole("button", { name: "Run job" }).click();
}

/** Waits until the form's result is in a state. */
export const resultIs = (page: Page, state: string): Promise<void> =>
  page.locator("#result .state").filter({ hasText: state }).waitFor();

/** Waits until an element has a text. */
export const shows = (page: Page, selector: string, text: string | RegExp): Promise<void> =>
  page.locator(selector).filter({ hasText: text }).first().waitFor();

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const found = z.array(z.object({ id: z.string(), nodes: z.array(z.string()) }));

/** Accessibility problems of the page by axe-core's rules, each with its elements. */
export async function accessibilityProblems(page: Page): Promise<string[]> {
  await page.evaluate(axe);
  const problems = found.parse(
    await page.evaluate(`axe.run().then(({ violations }) => violations
      .map(({ id, nodes }) => ({ id, nodes: nodes.map(({ html }) => html.slice(0, 150)) })))`),
  );
  return problems.map(({ id, nodes }) => `${id}: ${nodes.join("; ")}`);
}

/** Asserts that the page does not scroll horizontally. */
export const expectNoOverflow = async (page: Page): Promise<void> =>
  expect(await page.evaluate("document.documentElement.scrollWidth - innerWidth")).toBeLessThanOrEqual(0);

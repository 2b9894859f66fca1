import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Page,
  type Request,
} from "playwright-core";
import type { Service } from "serverless-compute-local";
import { afterAll, beforeEach, expect, inject, onTestFinished } from "vitest";
import { z } from "zod";
import type { AtEnd } from "../support/folders";
import { serviceDefaults, startLocalService } from "../support/local-service";
import { freePort } from "../support/loopback";
import { send, stringAt } from "../support/raw-http";
import { registerSecret } from "../support/secret-scan";

const handler = fileURLToPath(new URL("./programs/handler.mjs", import.meta.url));

/** Timeout for content of the page, ms, for a busy machine. */
export const contentTimeout = 100_000;

/** A service with its console, and a browser. */
export interface ConsoleRig {
  readonly service: Service;
  readonly dataFolder: string;
  /** Creates an endpoint whose workers run the handler, and returns its id. */
  endpoint(name: string, fields?: object, image?: string): Promise<string>;
  /** Submits a job through the job API, and returns its id. */
  run(endpointId: string, input: object): Promise<string>;
  /** The state of a job. */
  status(endpointId: string, jobId: string): Promise<string>;
  /** Creates a single-use link of the console. */
  newLink(): Promise<string>;
  /** Opens a page at `hash` in its own browser context, with a session. */
  open(hash?: string, options?: BrowserContextOptions): Promise<Page>;
  /** Opens a page in its own browser context, without a session. */
  visit(url: string): Promise<Page>;
  /** Stops the service, calls `between`, and starts it again at the same address. */
  restart(between: () => Promise<void>): Promise<void>;
}

let connected: Promise<Browser> | undefined;
afterAll(async () => (await connected)?.close());
beforeEach((context) => {
  if (inject("browser") === undefined) context.skip("no Chromium is installed");
});

/** The browser of all test files. */
function useBrowser(): Promise<Browser> {
  connected ??= chromium.connect(inject("browser") ?? "");
  return connected;
}

/**
 * Loads an address. Chromium aborts all requests when the machine's network interfaces change, as when another test starts a
 * container. The page is then loaded again.
 */
async function load(page: Page, url: string): Promise<void> {
  let isAborted = false;
  const onFailure = (request: Request): void => {
    isAborted ||= request.failure()?.errorText === "net::ERR_NETWORK_CHANGED";
  };
  page.on("requestfailed", onFailure);
  const rejectOthers = (error: unknown): void => {
    if (!isAborted) throw error;
  };
  await page.goto(url).catch(rejectOthers);
  while (isAborted) {
    isAborted = false;
    await page.reload().catch(rejectOthers);
  }
  page.off("requestfailed", onFailure);
}

/** Starts a service on a free port with its own folder; both end with the file (`afterAll`) or the test (`onTestFinished`). */
export async function useConsole(atEnd: AtEnd): Promise<ConsoleRig> {
  const local = await startLocalService({
    ...serviceDefaults,
    port: await freePort(),
    runtime: "none",
    rateLimits: "off",
    watch: true,
    images: { "acme/greeter": handler },
  });
  atEnd(local.close);
  const serverlessUrl = local.root;

  async function newLink(): Promise<string> {
    const link = stringAt(await local.call("POST", "/console/links"), "url");
    registerSecret(new URL(link).searchParams.get("t") ?? "", "the token of a link");
    return link;
  }
  async function newPage(options: BrowserContextOptions, cookies: Parameters<BrowserContext["addCookies"]>[0]) {
    const own = await (await useBrowser()).newContext({ viewport: { width: 1280, height: 900 }, ...options });
    onTestFinished(() => own.close());
    await own.addCookies(cookies);
    const page = await own.newPage();
    page.setDefaultTimeout(contentTimeout);
    return page;
  }

  return {
    get service() {
      return local.service;
    },
    dataFolder: local.dataFolder,
    async endpoint(name, fields = {}, image = "acme/greeter:1") {
      const { id } = await local.jobsOn(
        image,
        { name, idleTimeout: 60, ...fields },
        { name, env: { GREETING: "Hello" } },
      );
      return id;
    },
    run: (endpointId, input) => local.jobs(endpointId).submit(input),
    status: async (endpointId, jobId) => stringAt(await local.jobs(endpointId).status(jobId), "status"),
    newLink,
    async visit(url) {
      const page = await newPage({}, []);
      await load(page, url);
      return page;
    },
    async open(hash = "", options = {}) {
      const { headers } = await send("GET", await newLink());
      const [, name = "", value = ""] = /^([^=]+)=([^;]+);/.exec(headers.get("set-cookie") ?? "") ?? [];
      registerSecret(value, "a session of the console");
      const page = await newPage(options, [{ name, value, url: serverlessUrl, httpOnly: true, sameSite: "Strict" }]);
      await load(page, `${serverlessUrl}/${hash}`);
      await page.getByText("Live", { exact: true }).waitFor();
      return page;
    },
    restart: (between) => local.restart(0, between),
  };
}

/** Submits an input through the form. */
export async function submit(page: Page, input: object, operation = "run"): Promise<void> {
  await page.getByLabel("Input (JSON)").fill(JSON.stringify(input));
  await page.getByRole("radio", { name: operation, exact: true }).check();
  await page.getByRole("button", { name: "Run job" }).click();
}

/** Waits until the form's result is in a state. */
export const resultIs = (page: Page, state: string): Promise<void> =>
  page.locator("#result .state").filter({ hasText: state }).waitFor();

/** Waits until an element has a text. */
export const shows = (page: Page, selector: string, text: string | RegExp): Promise<void> =>
  page.locator(selector).filter({ hasText: text }).first().waitFor();

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const problemShape = z.array(z.object({ id: z.string(), nodes: z.array(z.string()) }));

/** Accessibility problems of the page under all or some of axe-core's rules, each with its elements. */
export async function accessibilityProblems(page: Page, ...rules: string[]): Promise<string[]> {
  if (!(await page.evaluate("'axe' in window"))) await page.evaluate(axe);
  const options = rules.length > 0 ? { runOnly: rules } : {};
  const problems = problemShape.parse(
    await page.evaluate(`axe.run(${JSON.stringify(options)}).then(({ violations }) => violations
      .map(({ id, nodes }) => ({ id, nodes: nodes.map(({ html }) => html.slice(0, 150)) })))`),
  );
  return problems.map(({ id, nodes }) => `${id}: ${nodes.join("; ")}`);
}

/** Asserts that the page does not scroll horizontally. */
export const expectNoOverflow = async (page: Page): Promise<void> =>
  expect(await page.evaluate("document.documentElement.scrollWidth - innerWidth")).toBeLessThanOrEqual(0);

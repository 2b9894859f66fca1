import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { runJob } from "../../service/cli/jobs";
import { openDatabase } from "../../service/store/database";
import { send } from "../support/raw-http";
import { openJobs } from "../unit/service/jobs/support/jobs-rig";
import { accessibilityProblems, resultIs, shows, submit, useConsole } from "./rig";

test("charts have axes, a label for screen readers, the values of a step at the pointer, and ranges up to a day", async (context) => {
  const rig = await useConsole(context);
  const page = await rig.open(`#/endpoints/${await rig.endpoint("greeter")}`);
  await submit(page, { name: "you" });
  await resultIs(page, "COMPLETED");
  const chart = page.locator(".chart").filter({ hasText: "Jobs per minute" });
  const step = chart.locator(".slot").filter({ hasText: "1 completed, 0 failed" });
  await step.waitFor({ state: "attached" });
  expect(await step.textContent()).toMatch(/^\d\d:\d\d:\d\d.* – .*: 1 completed, 0 failed$/);
  expect(await chart.locator(".values").textContent()).toBe("60");
  const image = page.getByRole("img", { name: /^Jobs per minute over the last 15 min: now \d.*, at most 6$/ });
  await image.waitFor();
  await page.getByRole("button", { name: "24 h" }).click();
  await page.getByRole("img", { name: /^Jobs per minute over the last 24 h: / }).waitFor();
  await shows(page, ".scale", "−24 h");
  expect(await page.getByRole("button", { name: "24 h" }).getAttribute("aria-pressed")).toBe("true");
  expect(await step.count()).toBe(1);
  expect(await accessibilityProblems(page)).toEqual([]);
});

test("an empty page contains the commands of the next step, which can be copied and run", async (context) => {
  const rig = await useConsole(context);
  const page = await rig.open("", { permissions: ["clipboard-read", "clipboard-write"] });
  const copied = async (name: RegExp): Promise<string> => {
    await page.getByRole("button", { name }).click();
    return String(await page.evaluate("navigator.clipboard.readText()"));
  };
  await shows(page, ".empty", "There is no endpoint yet");
  expect(await copied(/^Copy: pulumi/)).toBe("pulumi up");
  expect(await copied(/--seed/)).toBe("npx --no serverless-compute-local start --seed endpoints.yaml");
  const id = await rig.endpoint("greeter");
  await page.getByRole("link", { name: /greeter/ }).click();
  await shows(page, ".panel", "No jobs yet: run one with the form above");
  expect(page.url()).toContain(id);
  const command = await copied(/^Copy: npx/);
  const [, words = ""] = /^npx --no serverless-compute-local run (.*)$/.exec(command) ?? [];
  expect(words).toBe(`greeter '{"prompt":"Hello"}' --sync`);
  const lines: string[] = [];
  const printed = { out: (text: string) => void lines.push(text), err: (text: string) => void lines.push(text) };
  await runJob("greeter", '{"prompt":"Hello"}', { data: rig.dataFolder, sync: true, stream: false }, printed);
  expect(lines.join("")).toContain("Hello, world!");
  await shows(page, ".jobs .state", "COMPLETED");
  await page.goto(`${rig.service.serverlessUrl}/#/resources`);
  await shows(page, ".panel", "new Secret(…) makes one");
});

test("the keyboard alone opens an endpoint, runs a job and opens it, and keeps the focus across updates", async (context) => {
  const rig = await useConsole(context);
  const id = await rig.endpoint("greeter");
  const page = await rig.open();
  await page.getByRole("link", { name: /greeter/ }).waitFor();
  const focused = () =>
    page.evaluate(`(({ tagName, textContent, id }) => /^(A|BUTTON|TEXTAREA)$/.test(tagName) ? textContent + id : "")
      (document.activeElement)`);
  const tabTo = async (text: string): Promise<void> => {
    for (let presses = 0; presses < 40; presses++) {
      if (String(await focused()).includes(text)) return;
      await page.keyboard.press("Tab");
    }
    throw new Error(`no Tab leads to ${text}, but to ${await focused()}`);
  };
  await tabTo("greeter");
  await page.keyboard.press("Enter");
  await page.getByLabel("Input (JSON)").waitFor();
  await tabTo("input");
  await page.keyboard.press("Control+a");
  // Slowly, so that the page is redrawn in between.
  await page.keyboard.type('{"name": "keys"}', { delay: 150 });
  await page.keyboard.press("Control+Enter");
  await resultIs(page, "COMPLETED");
  await page.locator(".jobs .id").waitFor();
  await tabTo(String(await page.locator(".jobs .id").textContent()));
  await page.keyboard.press("Enter");
  await shows(page, ".detail", "Hello, keys!");
  await rig.run(id, { name: "other" });
  await page.locator(".jobs .id").nth(1).waitFor();
  expect(await page.evaluate("document.activeElement.getAttribute('aria-expanded')")).toBe("true");
});

test("a saved handler is reported in the log, and the next job runs the new version", async (context) => {
  const folder = await mkdtemp(join(tmpdir(), "handler-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = join(folder, "own.mjs");
  await writeFile(file, 'export default () => "one";');
  const rig = await useConsole(context, { "acme/own": file });
  const page = await rig.open(`#/endpoints/${await rig.endpoint("own", {}, "acme/own:1")}`);
  await submit(page, {});
  await shows(page, "#result pre", "one");
  await writeFile(file, 'export default () => "two";');
  await shows(page, ".log p", "own.mjs was saved: its workers restart after their jobs");
  await submit(page, {});
  await shows(page, "#result pre", "two");
});

const isFull = Boolean(process.env["FULL"]);

/** Puts waiting jobs into the store of a service that is stopped. */
async function queueJobs(dataFolder: string, endpointId: string, count: number): Promise<void> {
  const database = openDatabase(dataFolder);
  const now = Date.now();
  const same = { endpointId, operation: "run", lowPriority: false, executionTimeout: undefined } as const;
  const times = { createdAt: now, expiresAt: now + 3600_000, webhook: undefined, s3Config: undefined };
  const { jobs } = openJobs(database);
  await Promise.all(
    Array.from({ length: count }, (_, at) =>
      jobs.submit({ ...same, ...times, id: `${String(at).padStart(8, "0")}-job`, input: `{"name":"job ${at}"}` }),
    ),
  );
  database.close();
}

/** Times between the page's frames while `work` is done, ms, the longest first. */
async function framesDuring(page: Page, work: () => Promise<unknown>): Promise<number[]> {
  await page.evaluate(`{
    window.gaps = [];
    let last = performance.now();
    const frame = (now) => { window.gaps.push(now - last); last = now; requestAnimationFrame(frame); };
    requestAnimationFrame(frame);
  }`);
  await work();
  const gaps = z.array(z.number()).parse(await page.evaluate("window.gaps"));
  return gaps.sort((one, other) => other - one);
}

const median = (sorted: number[]): number => sorted[Math.floor(sorted.length / 2)] ?? Number.POSITIVE_INFINITY;

test("10,000 jobs stay responsive: painted within a second, in pages of 50, updated live", async (context) => {
  const rig = await useConsole(context);
  const id = await rig.endpoint("greeter", { workersMax: 0 });
  const page = await rig.open(`#/endpoints/${id}`);
  await rig.restart(() => queueJobs(rig.dataFolder, id, 10_000));
  await shows(page, ".count", /^in queue10000$/);
  const { baseUrl, apiKey: key } = rig.service;
  // Frame gaps of an idle page are the baseline, so that a busy machine cannot fail the test.
  const atRest = median(await framesDuring(page, () => page.waitForTimeout(1000)));
  const gaps = await framesDuring(page, async () => {
    await send("PATCH", `${baseUrl}/endpoints/${id}`, { key, json: { workersMax: 1 } });
    // All of them take half a minute on a busy machine.
    await shows(page, ".count", isFull ? /^completed10000$/ : /^completed[1-9]\d{2,}$/);
  });
  expect(median(gaps), "ms between two frames, mostly").toBeLessThanOrEqual(Math.max(50, 2 * atRest));
  // The fastest of some: what else the machine does only ever adds.
  const paints: number[] = [];
  while (paints.length < 3 || (paints.length < 10 && Math.min(...paints) > 1000)) {
    await page.reload();
    await page.locator(".jobs tbody tr").first().waitFor();
    paints.push(Number(await page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")));
  }
  expect(Math.min(...paints), `first paints after ${paints.join(", ")} ms`).toBeLessThanOrEqual(1000);
  expect(await page.locator(".jobs tbody tr").count()).toBe(50);
  const first = await page.locator(".jobs .id").first().getAttribute("title");
  await page.getByRole("button", { name: "Older" }).click();
  await shows(page, ".pages", "Page 2");
  expect(await page.locator(".jobs .id").first().getAttribute("title")).not.toBe(first);
  await page.getByRole("button", { name: "Newest" }).click();
  await shows(page, ".pages", "Page 1, live");
  expect(await page.locator(".jobs .id").first().getAttribute("title")).toBe(first);
});

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, expect, test } from "vitest";
import { scratchFolder } from "../support/folders";
import { send } from "../support/raw-http";
import { accessibilityProblems, contentTimeout, resultIs, shows, submit, useConsole } from "./rig";

const rig = await useConsole(afterAll);

/** Ids of the rows, in order. */
const shownIds = (page: Page): Promise<(string | null)[]> =>
  page.locator(".jobs .id").evaluateAll((buttons) => buttons.map((button) => button.getAttribute("title")));

const expectIds = (page: Page, ids: string[]): Promise<void> => expect.poll(() => shownIds(page)).toEqual(ids);

/** Runs a job that fails; returns its id. */
async function failed(endpointId: string, input: object): Promise<string> {
  const id = await rig.run(endpointId, input);
  await expect.poll(() => rig.status(endpointId, id), { timeout: contentTimeout }).toBe("FAILED");
  return id;
}

test("the list is filtered by state, id and error over all pages, live, and the address contains the filter", async () => {
  const id = await rig.endpoint("filtered");
  const oom = await failed(id, { fail: "CUDA out of memory" });
  const missing = await failed(id, { fail: "the model is not there" });
  // The failed jobs are beyond the first page.
  const done = await Promise.all(Array.from({ length: 60 }, (_, at) => rig.run(id, { name: `job ${at}` })));
  const page = await rig.open(`#/endpoints/${id}`);
  await shows(page, ".pages", "Page 1, live");
  expect(await page.locator(".jobs .id").first().textContent()).toMatch(/^…[0-9a-f]{8}$/);
  await page.getByRole("button", { name: "Older" }).click();
  await shows(page, ".pages", "Page 2");
  expect((await shownIds(page)).slice(-2)).toEqual([missing, oom]);
  await page.getByRole("button", { name: "Newest" }).click();
  await shows(page, ".pages", "Page 1, live");
  expect(await shownIds(page)).toHaveLength(50);

  await page.getByLabel("State", { exact: true }).selectOption("Failed");
  await expectIds(page, [missing, oom]);
  expect(new URL(page.url()).hash).toBe(`#/endpoints/${id}?state=FAILED`);
  const search = page.getByLabel("Search", { exact: true });
  await search.fill("cuda OUT");
  await expectIds(page, [oom]);
  const again = await failed(id, { fail: "CUDA out of memory, again" });
  await failed(id, { fail: "another error" });
  await expectIds(page, [again, oom]);
  expect(new URL(page.url()).hash).toBe(`#/endpoints/${id}?state=FAILED&search=cuda+OUT`);

  await page.reload();
  await expectIds(page, [again, oom]);
  expect(await search.inputValue()).toBe("cuda OUT");
  await page.goBack();
  await expect.poll(async () => (await shownIds(page)).length).toBe(4);
  expect([await search.inputValue(), await page.getByLabel("State", { exact: true }).inputValue()]).toEqual([
    "",
    "FAILED",
  ]);
  await page.getByLabel("State", { exact: true }).selectOption("All states");
  const first = done[0] ?? "";
  await search.fill(first.slice(-6));
  await expectIds(page, [first]);
  await search.fill("no such job");
  await shows(page, ".next", "No job matches the filter.");
  await page.getByRole("button", { name: "Show all jobs" }).click();
  await shows(page, ".pages", "Page 1, live");
  expect(new URL(page.url()).hash).toBe(`#/endpoints/${id}`);
});

test("a row shows both times and the error, and links to the stack in the log and to the job", async () => {
  const endpointId = await rig.endpoint("listed");
  const page = await rig.open("#/endpoints/listed", { permissions: ["clipboard-read", "clipboard-write"] });
  const file = join(scratchFolder(), "go-on");
  await submit(page, { waitFor: file, fail: `the model is not there: ${"x".repeat(200)}` });
  await resultIs(page, "IN_PROGRESS");
  await writeFile(file, "");
  await resultIs(page, "FAILED");
  const row = page.locator(".jobs tbody tr").first();
  const cell = row.locator(".error span");
  await cell.waitFor();
  const jobId = String(await row.locator(".id").getAttribute("title"));
  expect(await page.locator(".jobs thead th").allTextContents()).toEqual([
    "State",
    "Job",
    "Submitted",
    "Queue time",
    "Execution",
    "Error",
    "Actions",
  ]);
  const [, queued, executed] = await row.locator(".time").allTextContents();
  for (const time of [queued, executed]) expect(time).toMatch(/^\d[\d.]* (ms|s)$/);
  expect(await cell.textContent()).toMatch(/^Error: the model is not there: x+$/);
  expect(await cell.getAttribute("title")).toContain("the model is not there");
  const cut = await cell.evaluate((span) => span.scrollWidth > span.clientWidth && span.getClientRects().length === 1);
  expect(cut, "one truncated line").toBe(true);

  await row.getByRole("button", { name: "Log" }).click();
  await shows(page, ".log .found", `job ${jobId} failed: Error: the model is not there`);
  await shows(page, ".log .found", /at .*handler\.mjs:\d+/);
  expect(await page.evaluate("document.activeElement.className")).toBe("log");

  await row.locator(".id").click();
  await page.getByRole("button", { name: "Copy id" }).click();
  expect(await page.evaluate("navigator.clipboard.readText()")).toBe(jobId);
  await rig.run(endpointId, { name: "other" });
  await page.getByRole("link", { name: "Link to this job" }).click();
  await expectIds(page, [jobId]);
  expect(new URL(page.url()).hash).toBe(`#/endpoints/listed/jobs/${jobId}`);
  await page.reload();
  await shows(page, ".detail .bad", "the model is not there");
  await expectIds(page, [jobId]);
  await page.goto(`${rig.service.serverlessUrl}/#/endpoints/listed/jobs/no-such-job`);
  await shows(page, ".next", "No job has the id no-such-job");
});

test("all failed jobs of the filter are retried after a confirmation, with progress, until stopped; failures are reported", async () => {
  const id = await rig.endpoint("retried");
  const file = join(scratchFolder(), "fixed");
  const other = await failed(id, { fail: "another error" });
  const oom = Array.from({ length: 220 }, () => rig.run(id, { fail: "CUDA out of memory", unless: file }));
  const [first = "", ...others] = await Promise.all(oom);
  const page = await rig.open(`#/endpoints/${id}?search=CUDA`);
  await shows(page, ".count", /^failed221$/);
  const open = page.getByRole("button", { name: "Retry all failed…" });
  await open.click();
  const confirmation = page.getByRole("dialog", { name: "Retry 220 jobs?" });
  await confirmation.waitFor();
  await page.keyboard.press("Escape");
  await confirmation.waitFor({ state: "hidden" });
  expect(await page.evaluate("document.activeElement.textContent"), "the focus returns").toBe("Retry all failed…");
  expect(await rig.status(id, first)).toBe("FAILED");

  await open.click();
  await confirmation.waitFor();
  await writeFile(file, "");
  const { serverlessUrl, apiKey: key } = rig.service;
  await send("POST", `${serverlessUrl}/v2/${id}/retry/${first}`, { key });
  await expect.poll(() => rig.status(id, first), { timeout: contentTimeout }).toBe("COMPLETED");
  // The second of the requests waits until the button has been pressed.
  let pass = (): void => undefined;
  const passed = new Promise<void>((resolve) => {
    pass = resolve;
  });
  let requests = 0;
  await page.route("**/retries", async (route) => {
    if (++requests === 2) await passed;
    await route.continue();
  });
  await page.getByRole("button", { name: "Retry 220 jobs" }).click();
  await shows(page, "dialog", "100 of 220");
  expect(await page.getByRole("progressbar", { name: "Retried jobs" }).getAttribute("value")).toBe("100");
  expect(await accessibilityProblems(page)).toEqual([]);
  await page.getByRole("button", { name: "Stop" }).click();
  pass();
  await page.getByRole("dialog", { name: "199 of 220 jobs requeued" }).waitFor();
  await shows(page, "dialog", "Stopped. 20 jobs not retried.");
  await shows(page, ".failures li", `${first} is COMPLETED; only a FAILED or TIMED_OUT job can be retried`);
  await page.getByRole("button", { name: "Close" }).click();

  await open.click();
  await page.getByRole("button", { name: "Retry 20 jobs" }).click();
  await page.getByRole("dialog", { name: "20 of 20 jobs requeued" }).waitFor();
  await page.getByRole("button", { name: "Close" }).click();
  const states = () => Promise.all(others.map((job) => rig.status(id, job)));
  await expect.poll(async () => new Set(await states()), { timeout: contentTimeout }).toEqual(new Set(["COMPLETED"]));
  expect(await rig.status(id, other), "it does not match the filter").toBe("FAILED");
  await open.click();
  await page.getByRole("dialog", { name: "No job to retry" }).waitFor();
});

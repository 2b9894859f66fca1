import type { Page } from "playwright-core";
import { expect, onTestFinished, test } from "vitest";
import { send } from "../support/raw-http";
import { resultIs, shows, submit, useConsole } from "./rig";

/** Texts of the active faults. */
const active = (page: Page): Promise<string[]> => page.locator(".faults li span").allTextContents();

test("faults of an endpoint are set, counted down live and removed", async () => {
  const rig = await useConsole(onTestFinished);
  const { serverlessUrl, apiKey: key } = rig.service;
  const id = await rig.endpoint("greeter");
  const page = await rig.open("#/endpoints/greeter");
  await shows(page, "h2", "Injected faults none");
  await page.getByText("Inject a fault").click();
  const fault = page.getByLabel("Fault", { exact: true });
  async function inject(kind: string, unit?: string, value?: number): Promise<void> {
    await fault.selectOption(kind);
    if (unit !== undefined) await page.getByLabel(unit, { exact: true }).fill(String(value));
    await page.getByRole("button", { name: "Inject" }).click();
  }
  await inject("Delay requests", "ms", 5);
  await inject("Reject requests with 429", "requests", 2);
  await inject("Reject requests with 500", "requests", 1);
  await inject("Drop responses", "responses", 3);
  await inject("Fail jobs", "jobs", 2);
  await inject("Crash workers when they begin a job", "jobs", 4);
  await inject("Workers never request a job");
  await inject("Workers crash at their start");
  await inject("No stock: workers cannot start");
  await shows(page, "h2", "Injected faults 8");
  expect(rig.service.faults(id)).toEqual({
    delay: 5,
    tooManyRequests: 2,
    serverErrors: 1,
    dropResponses: 3,
    failJobs: 2,
    crashJobs: 4,
    workers: "crash",
    noStock: true,
  });
  for (const name of [
    "No stock",
    "Workers crash",
    "Crash workers",
    "Drop responses",
    "Delay",
    "Reject requests with 500",
  ])
    await page.getByRole("button", { name: `Remove: ${name}` }).click();
  await shows(page, "h2", "Injected faults 2");
  expect(await page.evaluate("document.activeElement.tagName"), "the focus stays in the panel").toBe("SUMMARY");
  expect((await send("GET", `${serverlessUrl}/v2/${id}/health`, { key })).status).toBe(429);
  await submit(page, { name: "you" });
  await resultIs(page, "FAILED");
  await shows(page, "#result .bad", "injected fault: the job fails");
  await expect.poll(() => active(page)).toEqual(["Reject requests with 429: next 1", "Fail jobs: next 1"]);

  await fault.selectOption("Delay requests");
  await page.getByLabel("ms", { exact: true }).evaluate((input) => input.removeAttribute("max"));
  await page.getByLabel("ms", { exact: true }).fill("600001");
  await page.getByRole("button", { name: "Inject" }).click();
  await page.getByRole("alert").filter({ hasText: "delay: 600001 is not allowed" }).waitFor();
  expect(rig.service.faults(id)).toEqual({ tooManyRequests: 1, failJobs: 1 });
});

import { runJob } from "serverless-compute-api/job-commands";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { connectToJobs } from "../../service/cli/jobs";
import { send } from "../support/raw-http";
import { lockStore } from "../unit/service/store/support/sqlite-file";
import { resultIs, shows, submit, useConsole } from "./rig";

const rig = await useConsole(afterAll);

test("charts have axes, a label for screen readers, the values at the pointer, and ranges up to a day", async () => {
  const page = await rig.open(`#/endpoints/${await rig.endpoint("measured")}`);
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
});

test("charts keep their history over a restart of the service", async () => {
  const rig = await useConsole(onTestFinished);
  const id = await rig.endpoint("remembered");
  const page = await rig.open(`#/endpoints/${id}`);
  await submit(page, { name: "you" });
  await resultIs(page, "COMPLETED");
  const step = page.locator(".chart").filter({ hasText: "Jobs per minute" }).locator(".slot");
  await step.filter({ hasText: "1 completed, 0 failed" }).waitFor({ state: "attached" });
  await rig.restart(() => page.getByText("Reconnecting…").waitFor());
  await page.reload();
  await step.filter({ hasText: "1 completed, 0 failed" }).waitFor({ state: "attached" });
});

test("jobs that wait for busy workers show the reason, with workersMax", async () => {
  const id = await rig.endpoint("busy");
  for (let count = 0; count < 3; count++) await rig.run(id, { waitFor: `${rig.dataFolder}/released` });
  const page = await rig.open(`#/endpoints/${id}`);
  const reason = "the only worker is busy, and workersMax is 1";
  await shows(page, ".warning", reason);
  await page.getByRole("link", { name: "Endpoints" }).first().click();
  await shows(page, ".card .warning", reason);
});

test("an empty page contains the commands of the next step, which can be copied", async () => {
  const rig = await useConsole(onTestFinished);
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
  const jobs = connectToJobs(rig.dataFolder);
  await runJob(jobs, "greeter", '{"prompt":"Hello"}', { sync: true, stream: false }, printed);
  expect(lines.join("")).toContain("Hello, world!");
  await shows(page, ".jobs .state", "COMPLETED");
  await page.goto(`${rig.service.serverlessUrl}/#/resources`);
  await shows(page, ".panel", "new Secret(…) creates one");
});

test("a store that cannot be written is shown on every view until it can be written again", async () => {
  const id = await rig.endpoint("unwritable");
  const page = await rig.open(`#/endpoints/${id}`);
  const unlock = lockStore(rig.dataFolder);
  const { serverlessUrl, apiKey } = rig.service;
  await send("POST", `${serverlessUrl}/v2/${id}/run`, { key: apiKey, json: { input: {} } });
  await shows(page, "#problem", "store is locked: another program uses");
  await page.getByRole("link", { name: "Resources" }).click();
  await page.getByRole("alert").filter({ hasText: "store is locked" }).waitFor();
  unlock();
  await page.locator("#problem").waitFor({ state: "hidden" });
});

test("the keyboard alone opens an endpoint, runs a job and opens it, and keeps the focus across updates", async () => {
  const id = await rig.endpoint("keyboard");
  const page = await rig.open();
  await page.getByRole("link", { name: /keyboard/ }).waitFor();
  const focused = () =>
    page.evaluate(`(({ tagName, textContent, id }) => /^(A|BUTTON|TEXTAREA)$/.test(tagName) ? textContent + id : "")
      (document.activeElement)`);
  const tabTo = async (text: string): Promise<void> => {
    for (let presses = 0; presses < 40; presses++) {
      if (String(await focused()).includes(text)) return;
      await page.keyboard.press("Tab");
    }
    throw new Error(`Tab does not reach ${text}; the focus is on ${await focused()}`);
  };
  await tabTo("keyboard");
  await page.keyboard.press("Enter");
  await page.getByLabel("Input (JSON)").waitFor();
  await tabTo("input");
  await page.keyboard.press("Control+a");
  await page.keyboard.type('{"name": ');
  // A job of another client, so that the page is updated.
  await rig.run(id, { name: "other" });
  await page.locator(".jobs .id").waitFor();
  await page.keyboard.type('"keys"}');
  await page.keyboard.press("Control+Enter");
  await resultIs(page, "COMPLETED");
  await page.locator(".jobs .id").nth(1).waitFor();
  await tabTo(String(await page.locator(".jobs .id").first().textContent()));
  await page.keyboard.press("Enter");
  await shows(page, ".detail", "Hello, keys!");
  await rig.run(id, { name: "other" });
  await page.locator(".jobs .id").nth(2).waitFor();
  expect(await page.evaluate("document.activeElement.getAttribute('aria-expanded')")).toBe("true");
});

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { run } from "../../scripts/child.mjs";
import { scratchFolder } from "../support/folders";
import { at, send } from "../support/raw-http";
import { contentTimeout, resultIs, shows, submit, useConsole } from "./rig";

const rig = await useConsole(afterAll);

describe("a job run from the console", () => {
  test("is shown as queued, running and finished, with its input and output on demand; /runsync requires one request; an invalid input is not sent", async () => {
    const id = await rig.endpoint("shown");
    const page = await rig.open();
    await page.getByRole("link", { name: /shown/ }).click();
    const file = join(scratchFolder(), "go-on");
    await submit(page, { waitFor: file, name: "you" });
    await resultIs(page, "IN_PROGRESS");
    await shows(page, ".jobs .state", "IN_PROGRESS");
    await writeFile(file, "");
    await resultIs(page, "COMPLETED");
    await shows(page, "#result pre", '"text": "Hello, you!"');
    await shows(page, ".jobs .state", "COMPLETED");
    await page.locator(".jobs .id").click();
    await shows(page, ".detail", '"name": "you"');
    await shows(page, ".detail", "Hello, you!");
    expect(page.url()).toBe(`${rig.service.serverlessUrl}/#/endpoints/${id}`);

    await submit(page, { name: "sync" }, "runsync");
    await shows(page, "#result code", /^sync-/);
    await resultIs(page, "COMPLETED");
    await shows(page, "#result pre", "Hello, sync!");
    for (const [text, fault] of [
      ["{", "is not JSON"],
      ["[1]", "must be a JSON object"],
    ] as const) {
      await page.getByLabel("Input (JSON)").fill(text);
      await page.getByRole("button", { name: "Run job" }).click();
      await shows(page, "#input-fault", fault);
    }
    await expect.poll(() => page.locator(".jobs .state").allTextContents()).toEqual(["COMPLETED", "COMPLETED"]);
  });

  test("is cancelled while it runs, and retried after a failure", async () => {
    const page = await rig.open(`#/endpoints/${await rig.endpoint("cancelled")}`);
    await submit(page, { ms: 60_000 });
    await resultIs(page, "IN_PROGRESS");
    await page.locator("#result").getByRole("button", { name: "Cancel" }).click();
    await resultIs(page, "CANCELLED");
    await shows(page, ".jobs .state", "CANCELLED");

    await submit(page, { fail: "the model is not there" });
    await resultIs(page, "FAILED");
    await shows(page, "#result .bad", "the model is not there");
    await page.locator(".jobs").getByRole("button", { name: "Retry" }).click();
    await page.locator(".jobs .id").first().click();
    await shows(page, ".detail", "requeued 1×");
    await shows(page, ".detail .bad", "the model is not there");
    await resultIs(page, "FAILED");
  });

  test("shows the final state of a retried job in its open details, even if the list never shows it running", async () => {
    const id = await rig.endpoint("retried");
    const job = await rig.run(id, { fail: "the model is not there" });
    await expect.poll(() => rig.status(id, job), { timeout: contentTimeout }).toBe("FAILED");
    const page = await rig.open(`#/endpoints/${id}`);
    await shows(page, ".jobs .state", "FAILED");
    const running = JSON.stringify({ id: job, status: "IN_PROGRESS", delayTime: 0, executionTime: 0 });
    await page.route(`**/status/${job}`, (route) => route.fulfill({ body: running }), { times: 1 });
    await page.locator(".jobs .id").click();
    await shows(page, ".detail", "the model is not there");
    expect(await page.locator(".detail .bad").count(), "the job runs").toBe(0);
    const { serverlessUrl, apiKey: key } = rig.service;
    await send("POST", `${serverlessUrl}/v2/${id}/retry/${job}`, { key });
    await shows(page, ".detail .bad", "the model is not there");
  });

  test("shows the newest state in its open details, even if an earlier request ends later", async () => {
    const id = await rig.endpoint("delayed");
    const page = await rig.open(`#/endpoints/${id}`);
    const file = join(scratchFolder(), "delayed");
    await submit(page, { waitFor: file, name: "late" });
    await shows(page, ".jobs .state", "IN_PROGRESS");
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.route(
      "**/status/*",
      async (route) => {
        const response = await route.fetch();
        await released;
        await route.fulfill({ response });
      },
      { times: 1 },
    );
    await page.locator(".jobs .id").click();
    await shows(page, ".detail", "Loading…");
    await writeFile(file, "");
    await shows(page, ".detail", "Hello, late!");
    const late = page.waitForResponse("**/status/*");
    release();
    await (await late).finished();
    await page.evaluate("new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))");
    expect(await page.locator(".detail").textContent()).toContain("Hello, late!");
  });

  test("loads open details again after the connection was lost", async () => {
    const id = await rig.endpoint("reconnected");
    const job = await rig.run(id, { name: "again" });
    await expect.poll(() => rig.status(id, job), { timeout: contentTimeout }).toBe("COMPLETED");
    const page = await rig.open(`#/endpoints/${id}`);
    await page.route(`**/status/${job}`, (route) => route.abort(), { times: 1 });
    await page.locator(".jobs .id").click();
    await shows(page, ".detail", "Failed to fetch");
    await rig.restart(async () => undefined);
    await shows(page, ".detail", "Hello, again!");
  });

  test("streams yielded chunks and log lines immediately", async () => {
    const page = await rig.open(`#/endpoints/${await rig.endpoint("streamed")}`);
    const file = join(scratchFolder(), "end");
    await submit(page, { until: file, say: `${"one line\n".repeat(40)}a line of the log` }, "stream");
    await shows(page, ".chunks li", "first");
    await resultIs(page, "IN_PROGRESS");
    await shows(page, ".log p", "a line of the log");
    const toEnd =
      "(({ scrollHeight, scrollTop, clientHeight }) => scrollHeight - scrollTop - clientHeight)(document.querySelector('.log'))";
    expect(Number(await page.evaluate(toEnd)), "the log scrolls to its end").toBeLessThan(10);
    expect(await page.locator(".chunks li").count()).toBe(1);
    await writeFile(file, "");
    await shows(page, ".chunks li", "second");
    await resultIs(page, "COMPLETED");
  });
});

test("the last input of an endpoint is restored without its secrets, and can be copied as a curl command without the key", async () => {
  const { serverlessUrl, apiKey } = rig.service;
  const id = await rig.endpoint("remembered");
  const page = await rig.open(`#/endpoints/${id}`, { permissions: ["clipboard-read", "clipboard-write"] });
  await submit(page, { name: "it's me", hub: { token: "not-for-storage" } });
  await resultIs(page, "COMPLETED");
  await page.getByRole("button", { name: "Copy as curl" }).first().click();
  const command = String(await page.evaluate("navigator.clipboard.readText()"));
  expect(command).toContain('"Authorization: Bearer $SERVERLESS_COMPUTE_API_KEY"');
  expect(command).not.toContain(apiKey);
  const env = { PATH: process.env["PATH"], SERVERLESS_COMPUTE_API_KEY: apiKey };
  const ran = await run("sh", ["-c", `${command} --silent`], { env });
  const job = String(at(JSON.parse(ran.stdout), "id"));
  const record = await send("GET", `${serverlessUrl}/v2/${id}/status-sync/${job}`, { key: apiKey });
  expect(at(record.json, "output", "text")).toBe("Hello, it's me!");

  await page.reload();
  const input = page.getByLabel("Input (JSON)");
  await input.waitFor();
  expect(JSON.parse(await input.inputValue())).toEqual({ name: "it's me", hub: { token: "" } });
  const stored = String(
    await page.evaluate("JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie])"),
  );
  expect(stored).not.toMatch(new RegExp(`${apiKey}|not-for-storage|serverless-compute-console`));
  expect(await page.content()).not.toContain(apiKey);
});

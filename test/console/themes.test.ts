import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { send } from "../support/raw-http";
import {
  accessibilityProblems,
  type ConsoleRig,
  contentTimeout,
  expectNoOverflow,
  resultIs,
  shows,
  submit,
  useConsole,
} from "./rig";

/** Folder for the pictures of docs/console.md, which are written only on request. */
const pictures = process.env["SCREENSHOTS"];

/** Creates an object of every kind. Returns the id of the endpoint `greeter`, which has no jobs. */
async function createObjects(rig: ConsoleRig): Promise<string> {
  const { baseUrl, graphqlUrl, apiKey: key } = rig.service;
  const volume = { name: "models", size: 100, dataCenterId: "EU-RO-1" };
  const { text } = await send("POST", `${baseUrl}/networkvolumes`, { key, json: volume });
  const query = `mutation { secretCreate(input: { name: "hub-token", value: "hf_not-to-be-shown" }) { id } }`;
  expect((await send("POST", graphqlUrl, { key, json: { query } })).text).not.toContain("errors");
  const auth = { name: "ghcr", username: "somebody", password: "pass-not-to-be-shown" };
  await send("POST", `${baseUrl}/containerregistryauth`, { key, json: auth });
  const lost = await rig.endpoint("chat", {}, "ghcr.io/acme/chat:1.4.2");
  await rig.run(lost, { prompt: "waits for ever" });
  return rig.endpoint("greeter", { networkVolumeId: JSON.parse(text).id });
}

/** Runs jobs of an endpoint that complete or fail. */
async function runJobs(rig: ConsoleRig, id: string): Promise<void> {
  const memory =
    "CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 47.54 GiB of which 1.19 GiB is free";
  for (const name of ["Ada", "Grace", "Edsger"]) await rig.run(id, { name, ms: 40 });
  for (const fail of [memory, "the model is not there", memory]) await rig.run(id, { fail, say: "loading the model" });
  const last = await rig.run(id, { name: "Barbara", ms: 80 });
  await expect.poll(() => rig.status(id, last), { timeout: contentTimeout }).toBe("COMPLETED");
}

const isFull = Boolean(process.env["FULL"]) || pictures !== undefined;

test("has no accessibility problem in both themes and fits widths of 400 and 1280 pixels in every state", async () => {
  const rig = await useConsole(onTestFinished);
  const page = await rig.open();
  const goTo = (hash: string) => page.goto(`${rig.service.serverlessUrl}/${hash}`);
  async function inspect(state: string, picture?: "whole" | "viewport"): Promise<void> {
    for (const width of [400, 1280]) {
      await page.setViewportSize({ width, height: 900 });
      await expectNoOverflow(page);
      for (const colorScheme of ["light", "dark"] as const) {
        // Themes differ only in colours.
        const rules = isFull || colorScheme === "light" ? [] : ["color-contrast"];
        if (!isFull && width === 400) continue;
        await page.emulateMedia({ colorScheme });
        expect(await accessibilityProblems(page, ...rules), `${state}, ${colorScheme}, at ${width} px`).toEqual([]);
        if (pictures === undefined || picture === undefined) continue;
        const path = join(pictures, `console-${state}-${width}-${colorScheme}.png`);
        await page.screenshot({ path, fullPage: picture === "whole", animations: "disabled" });
        expect(existsSync(path)).toBe(true);
      }
    }
  }
  await shows(page, ".empty", "There is no endpoint yet");
  await inspect("no-endpoint");
  const greeter = await createObjects(rig);
  await shows(page, ".card .warning", "ghcr.io/acme/chat:1.4.2");
  await inspect("endpoints");

  await goTo("#/endpoints/greeter");
  await shows(page, ".next", "No jobs yet");
  if (isFull) await inspect("no-job");
  await runJobs(rig, greeter);
  rig.service.faults(greeter, { delay: 250, tooManyRequests: 3 });
  await submit(page, { until: "." }, "stream");
  await resultIs(page, "COMPLETED");
  await page.getByText("Inject a fault").click();
  await shows(page, ".faults", "Delay requests by 250 ms");
  await shows(page, ".jobs .error", "CUDA out of memory");
  await inspect("endpoint", "whole");
  await page.getByRole("button", { name: "Log" }).first().click();
  await page.locator(".found").first().waitFor();
  await page.locator(".jobs tr").filter({ hasText: "the model is not there" }).locator(".id").click();
  await shows(page, ".detail .bad", "the model is not there");
  await inspect("an open job");
  await goTo("#/endpoints/greeter?search=nothing");
  await shows(page, ".next", "No job matches the filter");
  if (isFull) await inspect("no match");

  await goTo("#/endpoints/greeter?state=FAILED&search=CUDA");
  await page.getByRole("button", { name: "Retry all failed…" }).click();
  await page.getByRole("dialog", { name: "Retry 2 jobs?" }).waitFor();
  await inspect("retry", "viewport");
  await page.getByRole("button", { name: "Retry 2 jobs" }).click();
  await page.getByRole("dialog", { name: "2 of 2 jobs requeued" }).waitFor();
  await inspect("result of retries");

  await goTo("#/resources");
  for (const name of ["models", "hub-token", "ghcr", "GREETING"]) await shows(page, "td", name);
  expect(await page.content()).not.toMatch(/not-to-be-shown|somebody/);
  await inspect("resources");
});

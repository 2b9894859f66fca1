import { afterAll, expect, test } from "vitest";
import { createEndpoint } from "../support/endpoint";
import { send } from "../support/raw-http";
import { accessibilityProblems, shows, submit, useConsole } from "./rig";

const rig = await useConsole(afterAll);

test("an endpoint's page contains its URL, scaling, container and volume, local times and a skip link; the title names each page", async () => {
  const { baseUrl, serverlessUrl, apiKey: key } = rig.service;
  const volume = { name: "models", size: 100, dataCenterId: "EU-RO-1" };
  const { text } = await send("POST", `${baseUrl}/networkvolumes`, { key, json: volume });
  const id = await rig.endpoint("mounted", { networkVolumeId: JSON.parse(text).id });
  const page = await rig.open(`#/endpoints/${id}`, { timezoneId: "Asia/Tokyo", locale: "en-GB" });
  await shows(page, ".facts", `${serverlessUrl}/v2/${id}`);
  await shows(page, ".facts", "0 to 1 workers, QUEUE_DELAY 4 s, idle timeout 60 s");
  for (const fact of ["template mounted (", "models"]) await shows(page, ".facts dd", fact);
  await submit(page, { name: "you" });
  const time = page.locator(".log time").first();
  await time.waitFor();
  const utc = String(await time.getAttribute("title"));
  expect(utc).toMatch(/Z$/);
  const local = new Date(utc).toLocaleTimeString("en-GB", { timeZone: "Asia/Tokyo" });
  expect(await time.textContent()).toBe(local);

  // The skip link moves the focus and keeps the address; navigation and title name the page.
  await page.evaluate("document.querySelector('.skip').focus()");
  await page.keyboard.press("Enter");
  expect(new URL(page.url()).hash).toBe(`#/endpoints/${id}`);
  expect(await page.evaluate("document.activeElement.id")).toBe("main");
  await expect.poll(() => page.title()).toBe("mounted · Serverless Compute, local");
  await page.getByRole("link", { name: "Resources" }).click();
  await expect.poll(() => page.title()).toBe("Resources · Serverless Compute, local");
  expect(await page.locator("[aria-current='page']").allTextContents()).toEqual(["Resources"]);
});

test("a load balancer's page contains its URL, its container and a sample request, but no job controls", async () => {
  const { serverlessUrl } = rig.service;
  const balancer = { type: "LOAD_BALANCER", scaling: { type: "REQUEST_COUNT", requestCount: 1 } };
  const id = await createEndpoint(rig.service, "acme/greeter:1", balancer);
  const page = await rig.open(`#/endpoints/${id}`);
  for (const fact of [`${serverlessUrl}/load-balancers/${id}`, "the endpoint's own"])
    await shows(page, ".facts dd", fact);
  await shows(
    page,
    ".command",
    `curl -H "Authorization: Bearer $(npx --no serverless-compute-local key)" ${serverlessUrl}/load-balancers/${id}/`,
  );
  expect(await page.getByRole("heading", { level: 2 }).allTextContents()).toEqual([
    "Send a request",
    expect.stringMatching(/^Workers/),
    expect.stringMatching(/^Injected faults/),
  ]);
  expect(await accessibilityProblems(page)).toEqual([]);
});

test("the address of an endpoint's page contains its name; an ambiguous name shows a list of endpoints", async () => {
  const id = await rig.endpoint("my chat");
  const page = await rig.open("#/endpoints/my%20chat");
  await shows(page, ".title code", id);
  const other = await rig.endpoint("another template", { name: "my chat" });
  await page.reload();
  await shows(page, "h1", "2 endpoints are named my chat");
  expect(await accessibilityProblems(page)).toEqual([]);
  await page.locator(".card").filter({ hasText: other }).click();
  await shows(page, ".title code", other);
  expect(new URL(page.url()).hash).toBe(`#/endpoints/${other}`);
  await page.goBack();
  await shows(page, "h1", "2 endpoints are named my chat");
  const { baseUrl, apiKey: key } = rig.service;
  await send("PATCH", `${baseUrl}/endpoints/${other}`, { key, json: { name: "renamed" } });
  await shows(page, ".title code", id);
  await page.goto(`${rig.service.serverlessUrl}/#/endpoints/unknown`);
  await shows(page, "main", "No endpoint has the id or name unknown");
});

import { expect, test } from "vitest";
import { send } from "../support/raw-http";
import { shows, submit, useConsole } from "./rig";

test("the skip link moves the focus and keeps the address; navigation and title name the page", async (context) => {
  const rig = await useConsole(context);
  const id = await rig.endpoint("greeter");
  const page = await rig.open(`#/endpoints/${id}`);
  await shows(page, "h1", "greeter");
  await page.evaluate("document.querySelector('.skip').focus()");
  await page.keyboard.press("Enter");
  expect(new URL(page.url()).hash).toBe(`#/endpoints/${id}`);
  expect(await page.evaluate("document.activeElement.id")).toBe("main");
  await expect.poll(() => page.title()).toBe("greeter · Serverless Compute, local");
  await page.getByRole("link", { name: "Resources" }).click();
  await expect.poll(() => page.title()).toBe("Resources · Serverless Compute, local");
  expect(await page.locator("[aria-current='page']").allTextContents()).toEqual(["Resources"]);
});

test("an endpoint's page contains its URL, scaling, template and volume, and local times with UTC in the tooltip", async (context) => {
  const rig = await useConsole(context);
  const { baseUrl, serverlessUrl, apiKey: key } = rig.service;
  const volume = { name: "models", size: 100, dataCenterId: "EU-RO-1" };
  const { text } = await send("POST", `${baseUrl}/networkvolumes`, { key, json: volume });
  const id = await rig.endpoint("greeter", { networkVolumeId: JSON.parse(text).id });
  const page = await rig.open(`#/endpoints/${id}`, { timezoneId: "Asia/Tokyo", locale: "en-GB" });
  await shows(page, ".facts", `${serverlessUrl}/v2/${id}`);
  await shows(page, ".facts", "0 to 1 workers, QUEUE_DELAY 4 s, idle timeout 60 s");
  for (const fact of ["greeter (", "models"]) await shows(page, ".facts dd", fact);
  await submit(page, { name: "you" });
  const time = page.locator(".log time").first();
  await time.waitFor();
  const utc = String(await time.getAttribute("title"));
  expect(utc).toMatch(/Z$/);
  const local = new Date(utc).toLocaleTimeString("en-GB", { timeZone: "Asia/Tokyo" });
  expect(await time.textContent()).toBe(local);
});

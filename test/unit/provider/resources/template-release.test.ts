import { isApiError } from "serverless-compute-api";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import type { Context } from "../../../../provider/framework/contract";
import { kinds } from "../../../../provider/resources";
import { pollInterval } from "../../../../provider/resources/template/release";
import { configNames } from "../../../../provider/settings/setting-names";
import { propertiesIn, useLifecycleBench } from "../../../support/lifecycle-bench";
import { naming } from "../../../support/naming";

const release = 120_000;
const bench = await useLifecycleBench({ templateRelease: release });
const { Template, ServerlessEndpoint } = kinds;

// Only waits advance the clock, so that the duration of requests does not matter.
beforeEach(() => onTestFinished(bench.clock.freeze()));

const makeTemplate = (name: string, context: Context) =>
  Template.create(Template.check({}, { imageName: "acme/chat:1" }, naming(name)).inputs, context);

/** Creates an unmanaged endpoint. */
async function createUnmanagedEndpoint(templateId: string, name: string): Promise<string> {
  return bench.create("/endpoints", { name, templateId, workersMax: 0 });
}
const names = async (): Promise<unknown[]> =>
  (await bench.listObjects("templates")).map((template) => propertiesIn(template)["name"]);

test("the delete of a template that receives a new endpoint during the wait fails at the limit and names the endpoint", async () => {
  const context = bench.context({ settings: { templateReleaseLimit: 40_000, names: configNames } });
  const { id, outputs } = await makeTemplate("late-dev", context);
  const first = await createUnmanagedEndpoint(id, "first");
  await bench.rest("DELETE", `/endpoints/${first}`);
  let bound: Promise<string> | undefined;
  const progress = (text: string): void => {
    if (text.includes(" 20 s ")) bound ??= createUnmanagedEndpoint(id, "latecomer");
  };
  await expect(Template.delete(id, outputs, { ...context, progress })).rejects.toThrow(
    /template "late-dev" is still in use after 40 s: endpoint "latecomer" \(\w+\) started to use it in the meantime\. It stays in the state/,
  );
  expect(await bound).toBeDefined();
});

test("a template's wait for its release ends at the timeout of the delete, and the template stays in state", async () => {
  const { id, outputs } = await makeTemplate("timed-dev", bench.context());
  await bench.rest("DELETE", `/endpoints/${await createUnmanagedEndpoint(id, "gone")}`);
  const startTime = bench.clock.now();
  const failure = await Template.delete(id, outputs, bench.context({ timeout: 20_000 })).catch(String);
  expect(failure).toMatch(
    /is still in use after 1\d s: no endpoint uses it, but a pod may; the service releases a template up to 120 s after its last use\. It[\s\S]*delete timed out after 20 s/,
  );
  expect(bench.clock.now() - startTime).toBeLessThanOrEqual(20_000);
});

test("a cancellation ends the wait with its reason, and the next destroy continues it", async () => {
  const { id, outputs } = await makeTemplate("kept-dev", bench.context());
  await bench.rest("DELETE", `/endpoints/${await createUnmanagedEndpoint(id, "gone")}`);
  const stop = new AbortController();
  const progress = (text: string): void => {
    if (text.includes("waiting for the service to release")) stop.abort(new Error("stopped by its user"));
  };
  const context = bench.context({ signal: stop.signal, progress });
  await expect(Template.delete(id, outputs, context)).rejects.toThrow("stopped by its user");
  expect(await names()).toContain("kept-dev");
  await Template.delete(id, outputs, bench.context());
  expect(await names()).not.toContain("kept-dev");
});

test("a template is deleted within 1.2 s of its release, with at most 60 requests and progress every 5 s", async () => {
  const context = bench.context();
  const { id, outputs } = await makeTemplate("freed-dev", context);
  const endpoint = await ServerlessEndpoint.create(
    ServerlessEndpoint.check({}, { templateId: id }, naming("freed-dev")).inputs,
    context,
  );
  await ServerlessEndpoint.delete(endpoint.id, endpoint.outputs, context);
  const freed = bench.clock.now();
  const requests = bench.proxy.requests.length;
  await Template.delete(id, outputs, context);
  expect(bench.proxy.requests.length - requests).toBeLessThanOrEqual(60);
  const delay = bench.clock.now() - freed - release;
  expect(delay).toBeGreaterThanOrEqual(0);
  expect(delay).toBeLessThanOrEqual(1200);
  expect(await names()).not.toContain("freed-dev");
  expect(context.progressMessages).toContain(
    'waiting for the service to release template "freed-dev": 10 s of at most 150 s',
  );
  expect(context.progressMessages.length, "a line every 5 s").toBeLessThanOrEqual(26);
  expect(context.progressMessages.length).toBeGreaterThan(20);
});

test("a template that was renamed outside the stack is deleted under its new name", async () => {
  const context = bench.context();
  const { id, outputs } = await makeTemplate("before-dev", context);
  await bench.rest("PATCH", `/templates/${id}`, { name: "after-dev" });
  await Template.delete(id, outputs, context);
  expect(await names()).not.toContain("after-dev");
});

describe("an unmanaged template with the same name is not deleted", () => {
  const body = (name: string) => ({ name, imageName: "theirs:1", isServerless: true });
  const createOtherTemplate = (name: string): Promise<string> => bench.create("/templates", body(name));
  const ids = async (): Promise<unknown[]> =>
    (await bench.listObjects("templates")).map((template) => propertiesIn(template)["id"]);

  test("if the stack's template is already deleted", async () => {
    const { id, outputs } = await makeTemplate("again-dev", bench.context());
    await Template.delete(id, outputs, bench.context());
    const other = await createOtherTemplate("again-dev");
    await Template.delete(id, outputs, bench.context());
    expect(await ids()).toContain(other);
  });

  test("if the response to the delete is lost", async () => {
    const { id, outputs } = await makeTemplate("lost-dev", bench.context());
    let other: string | undefined;
    const clock = {
      now: () => bench.clock.now(),
      sleep: async (): Promise<void> => {
        other ??= await createOtherTemplate("lost-dev");
      },
    };
    bench.proxy.inject({ body: /mutation deleteTemplate/ }, { kind: "reset", applied: true });
    await Template.delete(id, outputs, bench.context({ clock }));
    expect(other).toBeDefined();
    expect(await ids()).toContain(other);
    expect(await ids()).not.toContain(id);
  });

  test("if the stack's template is renamed during the wait", async () => {
    const context = bench.context();
    const { id, outputs } = await makeTemplate("moved-dev", context);
    await bench.rest("DELETE", `/endpoints/${await createUnmanagedEndpoint(id, "gone")}`);
    let other: Promise<string> | undefined;
    const rename = async (): Promise<string> => {
      await bench.rest("PATCH", `/templates/${id}`, { name: "elsewhere-dev" });
      return createOtherTemplate("moved-dev");
    };
    const progress = (text: string): void => {
      if (text.includes(" 5 s ")) other ??= rename();
    };
    await Template.delete(id, outputs, { ...context, progress });
    expect(other).toBeDefined();
    expect(await ids()).toContain(await other);
    expect(await names()).not.toContain("elsewhere-dev");
  });
});

test("an error other than 'in use' ends the delete without a wait", async () => {
  const context = bench.context();
  const { id, outputs } = await makeTemplate("faulty-dev", context);
  bench.proxy.inject({ body: /deleteTemplate/ }, { kind: "status", status: 500 }, 20);
  const failure = await Template.delete(id, outputs, context).catch((error: Error) => error);
  expect(failure?.message).toMatch(/^Template "faulty-dev": .* failed with HTTP 500/);
  expect(isApiError(failure?.cause, "server")).toBe(true);
});

test("polls every second at first and around the documented limit, and at least every 10 s otherwise", () => {
  expect([0, 7999].map(pollInterval)).toEqual([1000, 1000]);
  expect([8000, 60_000].map(pollInterval)).toEqual([10_000, 10_000]);
  expect([110_000, 111_999].map(pollInterval)).toEqual([2000, 1]);
  expect([112_000, 119_000, 149_000].map(pollInterval)).toEqual([1000, 1000, 1000]);
});

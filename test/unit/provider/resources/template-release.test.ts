import { isApiError } from "serverless-compute-api";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import type { Context } from "../../../../provider/lifecycle/contract";
import { kinds } from "../../../../provider/resources";
import { pollInterval } from "../../../../provider/resources/template/release";
import { propertiesIn, useLifecycleBench } from "../../../support/lifecycle-bench";
import { naming } from "../../../support/naming";
import { stringAt } from "../../../support/raw-http";

const release = 120_000;
const bench = await useLifecycleBench({ templateRelease: release });
const { Template, ServerlessEndpoint } = kinds;

// What is counted in seconds here passes by waits alone: how long requests take is the machine's affair.
beforeEach(() => onTestFinished(bench.clock.hold()));

const makeTemplate = (name: string, context: Context) =>
  Template.create(Template.check({}, { imageName: "acme/chat:1" }, naming(name)).inputs, context);

/** Creates an unmanaged endpoint. */
async function foreignEndpoint(templateId: string, name: string): Promise<string> {
  return stringAt(await bench.rest("POST", "/endpoints", { name, templateId, workersMax: 0 }), "id");
}
const names = async (): Promise<unknown[]> => (await bench.held("templates")).map((one) => propertiesIn(one)["name"]);

describe("a template that another endpoint uses", () => {
  test("is refused within 3 s, naming the endpoint and its id, and stays", async () => {
    const context = bench.context();
    const { id, outputs } = await makeTemplate("bound-dev", context);
    const endpoint = await foreignEndpoint(id, "theirs");
    const started = bench.clock.now();
    const refusal = Template.delete(id, outputs, context);
    await expect(refusal).rejects.toThrow(
      `template "bound-dev" cannot be deleted: endpoint "theirs" (${endpoint}) still uses it`,
    );
    expect(bench.clock.now() - started).toBeLessThan(3000);
    expect(await names()).toContain("bound-dev");
  });

  test("is taken into use while its release is waited for: the message at the limit names who did", async () => {
    const context = bench.context({ settings: { templateReleaseLimit: 40_000 } });
    const { id, outputs } = await makeTemplate("late-dev", context);
    const first = await foreignEndpoint(id, "first");
    await bench.rest("DELETE", `/endpoints/${first}`);
    let bound: Promise<string> | undefined;
    const progress = (text: string): void => {
      if (text.includes(" 20 s ")) bound ??= foreignEndpoint(id, "latecomer");
    };
    await expect(Template.delete(id, outputs, { ...context, progress })).rejects.toThrow(
      /template "late-dev" is still in use after 40 s: endpoint "latecomer" \(\w+\) took it into use meanwhile\. It stays in the state/,
    );
    expect(await bound).toBeDefined();
  });
});

describe("a template that was in use", () => {
  test("is waited for, with the seconds shown every 5 s, and deleted within 1.2 s of its release with at most 60 requests", async () => {
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
    const late = bench.clock.now() - freed - release;
    expect(late).toBeGreaterThanOrEqual(0);
    expect(late).toBeLessThanOrEqual(1200);
    expect(await names()).not.toContain("freed-dev");
    expect(context.shown).toContain('waiting for the service to release template "freed-dev": 10 s of at most 150 s');
    expect(context.shown.length, "a line every 5 s").toBeLessThanOrEqual(26);
    expect(context.shown.length).toBeGreaterThan(20);
  });

  test("is given up at the limit with what to do, and stays", async () => {
    const context = bench.context({ settings: { templateReleaseLimit: 10_000 } });
    const { id, outputs } = await makeTemplate("slow-dev", context);
    await bench.rest("DELETE", `/endpoints/${await foreignEndpoint(id, "gone")}`);
    const started = bench.clock.now();
    await expect(Template.delete(id, outputs, context)).rejects.toThrow(
      /template "slow-dev" is still in use after 10 s: no endpoint uses it, perhaps a pod does\. It stays in the state: .*templateReleaseLimit/,
    );
    expect(bench.clock.now() - started).toBeLessThan(12_000);
    expect(await names()).toContain("slow-dev");
  });

  test("the limit that the user set for the delete counts", async () => {
    const context = bench.context({ timeout: 5000 });
    const { id, outputs } = await makeTemplate("custom-dev", context);
    await bench.rest("DELETE", `/endpoints/${await foreignEndpoint(id, "gone")}`);
    await expect(Template.delete(id, outputs, context)).rejects.toThrow("delete timed out after 5 s");
  });

  test("a cancellation ends the wait at once with its own reason", async () => {
    const stop = new AbortController();
    const context = bench.context({ signal: stop.signal });
    const { id, outputs } = await makeTemplate("stopped-dev", context);
    await bench.rest("DELETE", `/endpoints/${await foreignEndpoint(id, "gone")}`);
    const reason = new Error("stopped by the user");
    const progress = (text: string): void => {
      if (text.includes(" 5 s ")) stop.abort(reason);
    };
    await expect(Template.delete(id, outputs, { ...context, progress })).rejects.toBe(reason);
    expect(await names()).toContain("stopped-dev");
  });
});

describe("a template that nothing used", () => {
  test("is deleted with two calls, for its present name is read first", async () => {
    const context = bench.context();
    const { id, outputs } = await makeTemplate("free-dev", context);
    bench.asked();
    await Template.delete(id, outputs, context);
    expect(bench.asked()).toEqual(["POST /graphql", "POST /graphql"]);
    expect(await names()).not.toContain("free-dev");
  });

  test("is gone already: that is success", async () => {
    const context = bench.context();
    const { id, outputs } = await makeTemplate("twice-dev", context);
    await Template.delete(id, outputs, context);
    await Template.delete(id, outputs, context);
  });

  test("goes by its new name when it was renamed behind our back", async () => {
    const context = bench.context();
    const { id, outputs } = await makeTemplate("before-dev", context);
    await bench.rest("PATCH", `/templates/${id}`, { name: "after-dev" });
    await Template.delete(id, outputs, context);
    expect(await names()).not.toContain("after-dev");
  });
});

describe("a template of somebody else that has the name by now stays", () => {
  const body = (name: string) => ({ name, imageName: "theirs:1", isServerless: true });
  const theirs = async (name: string): Promise<string> =>
    stringAt(await bench.rest("POST", "/templates", body(name)), "id");
  const ids = async (): Promise<unknown[]> => (await bench.held("templates")).map((one) => propertiesIn(one)["id"]);

  test("when ours is gone already", async () => {
    const { id, outputs } = await makeTemplate("again-dev", bench.context());
    await Template.delete(id, outputs, bench.context());
    const other = await theirs("again-dev");
    await Template.delete(id, outputs, bench.context());
    expect(await ids()).toContain(other);
  });

  test("when the answer to the delete of ours got lost", async () => {
    const { id, outputs } = await makeTemplate("lost-dev", bench.context());
    let other: string | undefined;
    const clock = {
      now: () => bench.clock.now(),
      sleep: async (): Promise<void> => {
        other ??= await theirs("lost-dev");
      },
    };
    bench.proxy.inject({ body: /mutation deleteTemplate/ }, { kind: "reset", carriedOut: true });
    await Template.delete(id, outputs, bench.context({ clock }));
    expect(other).toBeDefined();
    expect(await ids()).toContain(other);
    expect(await ids()).not.toContain(id);
  });

  test("when ours got another name while its release was waited for", async () => {
    const context = bench.context();
    const { id, outputs } = await makeTemplate("moved-dev", context);
    await bench.rest("DELETE", `/endpoints/${await foreignEndpoint(id, "gone")}`);
    let other: Promise<string> | undefined;
    const rename = async (): Promise<string> => {
      await bench.rest("PATCH", `/templates/${id}`, { name: "elsewhere-dev" });
      return theirs("moved-dev");
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

test("another fault than being in use is no reason to wait", async () => {
  const context = bench.context();
  const { id, outputs } = await makeTemplate("faulty-dev", context);
  bench.proxy.inject({ body: /deleteTemplate/ }, { kind: "status", status: 500 }, 20);
  const failure = await Template.delete(id, outputs, context).catch((error: Error) => error);
  expect(failure?.message).toMatch(/^Template "faulty-dev": .* failed with HTTP 500/);
  expect(isApiError(failure?.cause, "server")).toBe(true);
});

test("the waits between two tries are short at first and near the documented limit, at most 10 s in between", () => {
  expect([0, 7999].map(pollInterval)).toEqual([1000, 1000]);
  expect([8000, 60_000].map(pollInterval)).toEqual([10_000, 10_000]);
  expect([110_000, 111_999].map(pollInterval)).toEqual([2000, 1]);
  expect([112_000, 119_000, 149_000].map(pollInterval)).toEqual([1000, 1000, 1000]);
});

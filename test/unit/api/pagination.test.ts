import { describe, expect, test } from "vitest";
import { startRig } from "../../support/client-rig";
import { type Behaviour, json, type ReceivedRequest } from "../../support/faulty-server";

const v2 = { dialect: "v2" } as const;
const cursorOf = ({ url }: ReceivedRequest): string | null => new URL(url, "http://service").searchParams.get("cursor");

/** A page of one element, with the cursor of the next page if there is one. */
const page = (key: string, element: object, nextCursor: string | null): Behaviour =>
  json({ [key]: [element], pagination: { nextCursor, hasNextPage: nextCursor !== null } });

const endpoint = (id: string, templateId: string) => ({
  id,
  name: id,
  env: { SERVERLESS_COMPUTE_TEMPLATE_ID: templateId },
});

describe("a list of REST v2 in pages", () => {
  test("is read to its last page", async () => {
    const { clients, requests } = await startRig((request) => {
      const cursor = Number(cursorOf(request) ?? 1);
      return page("templates", { id: `t${cursor}`, name: `${cursor}` }, cursor < 3 ? `${cursor + 1}` : null);
    }, v2);
    expect((await clients.management.listTemplates()).map(({ id }) => id)).toEqual(["t1", "t2", "t3"]);
    expect(requests.map(({ url }) => url)).toEqual([
      "/v2/templates",
      "/v2/templates?cursor=2",
      "/v2/templates?cursor=3",
    ]);
  });

  test("sends a cursor back unchanged", async () => {
    const cursor = "a+b/c=&d é";
    const { clients, requests } = await startRig(
      (request) => page("templates", { id: "t", name: "t" }, cursorOf(request) === null ? cursor : null),
      v2,
    );
    await clients.management.listTemplates();
    expect(requests.map(cursorOf)).toEqual([null, cursor]);
  });

  test("finds every endpoint", async () => {
    const { clients } = await startRig(
      (request) =>
        cursorOf(request) === null
          ? page("endpoints", endpoint("e1", "t"), "2")
          : page("endpoints", endpoint("e2", "t"), null),
      v2,
    );
    expect((await clients.management.listEndpoints()).map(({ id }) => id)).toEqual(["e1", "e2"]);
  });

  test("without pagination is a single page", async () => {
    const { clients, requests } = await startRig([json({ templates: [{ id: "t", name: "t" }] })], v2);
    expect(await clients.management.listTemplates()).toHaveLength(1);
    expect(requests).toHaveLength(1);
  });

  test.each<[string, Behaviour, string]>([
    [
      "repeats a cursor",
      page("templates", { id: "t", name: "t" }, "2"),
      '"pagination" in the response repeats a cursor',
    ],
    [
      "has no cursor for the next page",
      json({ templates: [], pagination: { nextCursor: null, hasNextPage: true } }),
      '"pagination" in the response has no cursor for the next page',
    ],
    ["has a malformed pagination", json({ templates: [], pagination: { nextCursor: 3 } }), '"pagination.nextCursor"'],
    ["has no list", json({ pagination: { nextCursor: null, hasNextPage: false } }), '"templates"'],
  ])("that %s rejects", async (_what, response, message) => {
    const { clients, failure, requests } = await startRig([response], v2);
    const error = await failure(clients.management.listTemplates());
    expect(error).toMatchObject({ category: "server", code: "unexpected_response", ambiguous: false });
    expect(error.message).toContain(message);
    expect(requests.length).toBeLessThanOrEqual(2);
  });

  test("rejects if a later page fails", async () => {
    const { clients, failure } = await startRig(
      (request) =>
        cursorOf(request) === null
          ? page("templates", { id: "t", name: "t" }, "2")
          : json({ title: "Unprocessable Entity", status: 422, detail: "malformed cursor" }, 422),
      v2,
    );
    expect(await failure(clients.management.listTemplates())).toMatchObject({ category: "invalid", status: 422 });
  });
});

test("a list whose pages stay empty is rejected instead of read for ever", async () => {
  const { clients, requests } = await startRig(
    (request) =>
      json({ templates: [], pagination: { nextCursor: `${Number(cursorOf(request)) + 1}`, hasNextPage: true } }),
    v2,
  );
  await expect(clients.management.listTemplates()).rejects.toThrow('"pagination" in the response has no end');
  expect(requests).toHaveLength(100);
});

import { describe, expect, test } from "vitest";
import { kinds } from "../../../../provider/resources";
import { type Behaviour, json } from "../../../support/faulty-server";
import { startScriptedService } from "../../../support/scripted-service";

const { ServerlessEndpoint } = kinds;
const hasWorkers = json({ error: "set workersMin and workersMax to 0 before the delete" }, 400);
const noContent: Behaviour = { action: "respond", status: 204 };
const endpoint = json({ id: "e1", name: "chat", templateId: "t" });

/** Deletes endpoint `e1`. `deletes` are the responses to the deletes in order; the last one repeats. */
async function deleteEndpoint(deletes: Behaviour[], patched: Behaviour = endpoint) {
  let attempts = 0;
  const { context, requests, clock } = await startScriptedService(({ method }) => {
    if (method !== "DELETE") return method === "PATCH" ? patched : json([]);
    attempts++;
    return deletes[Math.min(attempts, deletes.length) - 1] ?? noContent;
  });
  const failure: unknown = await ServerlessEndpoint.delete("e1", { name: "chat" }, context).catch((error) => error);
  return { failure, requests: requests.map(({ method, body }) => [method, body].join(" ").trim()), clock };
}

describe("the delete of an endpoint with workers", () => {
  const scaleDown = 'PATCH {"workersMin":0,"workersMax":0}';

  test("scales it to zero once and deletes it when its workers have ended", async () => {
    const { failure, requests, clock } = await deleteEndpoint([hasWorkers, hasWorkers, hasWorkers, noContent]);
    expect(failure).toBeUndefined();
    expect(requests).toEqual(["DELETE", scaleDown, "DELETE", "DELETE", "DELETE"]);
    expect(clock.now()).toBe(1000);
  });

  test("fails after 20 attempts", async () => {
    const { failure, requests } = await deleteEndpoint([hasWorkers]);
    expect(failure).toMatchObject({ message: expect.stringContaining("still in use") });
    expect(requests.filter((request) => request === "DELETE")).toHaveLength(20);
    expect(requests.filter((request) => request === scaleDown)).toHaveLength(1);
  });

  test("succeeds if the endpoint disappears before it is scaled to zero", async () => {
    const missing = json({ error: "endpoint not found" }, 404);
    const { failure, requests } = await deleteEndpoint([hasWorkers, missing], missing);
    expect(failure).toBeUndefined();
    expect(requests).toEqual(["DELETE", scaleDown, "DELETE", "GET"]);
  });

  test("fails if scaling to zero fails", async () => {
    const { failure, requests } = await deleteEndpoint([hasWorkers], json({ error: "quota exceeded" }, 403));
    expect(failure).toBeInstanceOf(Error);
    expect(requests).toEqual(["DELETE", scaleDown]);
  });
});

test.each([
  ["an endpoint in use for another reason", json({ error: "the endpoint is still used by a pod" }, 409)],
  ["a delete that the service rejects", json({ error: "not now" }, 422)],
])("%s is not scaled to zero", async (_, response) => {
  const { failure, requests } = await deleteEndpoint([response]);
  expect(failure).toBeInstanceOf(Error);
  expect(requests).toEqual(["DELETE"]);
});

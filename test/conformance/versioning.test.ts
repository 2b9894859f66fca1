import { describe, expect, test } from "vitest";
import { expectResponse, send } from "../support/raw-http";
import { useTarget } from "../support/target";
import { useAccount } from "./support/account";

const target = await useTarget();
const account = useAccount(target);
const key = target.apiKey;

describe("Versioning", () => {
  test("the REST management API base address carries the version prefix /v1", async () => {
    expect(new URL(target.baseUrl).pathname).toMatch(/\/v1$/);
    expectResponse(await send("GET", `${target.baseUrl}/endpoints`, { key }), 200);
    expectResponse(await send("GET", `${target.baseUrl.replace(/\/v1$/, "")}/endpoints`, { key }), 404);
  });

  test("the job API path carries the version prefix /v2", async () => {
    const { id: endpointId } = await account.parked();
    expectResponse(await send("GET", `${target.serverlessUrl}/v2/${endpointId}/health`, { key }), 200);
    expectResponse(await send("GET", `${target.serverlessUrl}/${endpointId}/health`, { key }), 404);
  });
});

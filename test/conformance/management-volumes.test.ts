import { describe, expect, test } from "vitest";
import type { Fields } from "../support/local-service";
import { expectResponse, stringAt } from "../support/raw-http";
import { useTarget } from "../support/target";
import { literal, uniqueName, useAccount } from "./support/account";

const target = await useTarget();
const account = useAccount(target);

const volumeFields = (fields: Fields = {}): Fields => ({
  name: uniqueName("volume"),
  size: 10,
  dataCenterId: "EU-RO-1",
  ...fields,
});

describe("REST management API: network volumes", () => {
  test("POST /networkvolumes returns the record without the type of REST v2, which clients reject", async () => {
    const body = volumeFields();
    const response = await account.rest("POST", "/networkvolumes", body);
    expectResponse(response, 200, body);
    const id = stringAt(response, "id");
    expect(response.json).toEqual({ id, ...body });
    await account.rest("DELETE", `/networkvolumes/${id}`);
  });

  test.each([0, 4000])("POST /networkvolumes accepts a size of %i GB", async (size) => {
    expect(await account.volume({ size })).not.toBe("");
  });

  test.each([
    ["size", -1],
    ["size", 4001],
    ["size", 1.5],
    ["size", "10"],
    ["dataCenterId", 7],
  ])("POST /networkvolumes with %s = %j returns 400 and names the field", async (field, value) => {
    const response = await account.rest("POST", "/networkvolumes", volumeFields({ [field]: value }));
    expectResponse(response, 400);
    expect(stringAt(response, "message")).toContain(field);
  });

  test("PATCH /networkvolumes/{networkVolumeId} with a smaller size returns 400 and keeps the size", async () => {
    const id = await account.volume({ size: 10 });
    const response = await account.rest("PATCH", `/networkvolumes/${id}`, { size: 9 });
    expectResponse(response, 400);
    expect(stringAt(response, "message")).toContain("size");
    expectResponse(await account.rest("GET", `/networkvolumes/${id}`), 200, { size: 10 });
  });
});

describe("GraphQL API: network volumes", () => {
  test("createNetworkVolume, updateNetworkVolume and deleteNetworkVolume act on the volumes of REST", async () => {
    const created = await account.graphql(
      `mutation { createNetworkVolume(input: ${literal(volumeFields())}) { id name size dataCenterId } }`,
    );
    expectResponse(created, 200, { data: { createNetworkVolume: { size: 10, dataCenterId: "EU-RO-1" } } });
    const id = stringAt(created, "data", "createNetworkVolume", "id");
    expectResponse(await account.rest("GET", `/networkvolumes/${id}`), 200, { id, size: 10 });

    const name = uniqueName("volume");
    const grown = await account.graphql(
      `mutation { updateNetworkVolume(input: ${literal({ id, name, size: 30 })}) { id name size } }`,
    );
    expectResponse(grown, 200, { data: { updateNetworkVolume: { id, name, size: 30 } } });

    const deleted = await account.graphql(`mutation { deleteNetworkVolume(input: {id: "${id}"}) }`);
    expect(deleted.json, deleted.text).not.toHaveProperty("errors");
    expectResponse(await account.rest("GET", `/networkvolumes/${id}`), 404);

    const create = `mutation ($name: String, $size: Int) {
      createNetworkVolume(input: { name: $name, size: $size, dataCenterId: "EU-RO-1" }) { id } }`;
    for (const [variables, property] of [
      [{ size: 10 }, "name"],
      [{ name, size: null }, "size"],
    ] as const)
      expect((await account.graphql(create, variables)).text).toMatch(new RegExp(`"message":"${property}: .*must be`));
  });

  test("updateNetworkVolume with a smaller size returns errors and keeps the size", async () => {
    const id = await account.volume({ size: 10 });
    const response = await account.graphql(`mutation { updateNetworkVolume(input: {id: "${id}", size: 5}) { id } }`);
    expectResponse(response, 200);
    expect(stringAt(response, "errors", 0, "message")).toContain("size");
    expectResponse(await account.rest("GET", `/networkvolumes/${id}`), 200, { size: 10 });
  });
});

import { describe, expect, test } from "vitest";
import { expectAnswer, stringAt } from "../../../support/raw-http";
import { freshName, messageOf, useService } from "./service-rig";

const rig = await useService({ templateRelease: 0 });

describe("a network volume", () => {
  test("in use by an endpoint cannot be deleted by either API; both name the endpoint", async () => {
    const volume = await rig.volume();
    for (const fields of [{ networkVolumeId: volume }, { networkVolumeIds: [volume] }]) {
      const endpoint = await rig.endpoint(await rig.template(), { name: "user-of-it", ...fields });
      const byRest = await rig.rest("DELETE", `/networkvolumes/${volume}`);
      expectAnswer(byRest, 400);
      const byGraphql = await rig.graphql(`mutation { deleteNetworkVolume(input: {id: "${volume}"}) }`);
      for (const answer of [byRest, byGraphql]) expect(messageOf(answer)).toContain('in use by endpoint "user-of-it"');
      await rig.rest("DELETE", `/endpoints/${endpoint}`);
    }
    expectAnswer(await rig.rest("DELETE", `/networkvolumes/${volume}`), 204);
  });

  test("cannot change its data centre, which may be repeated", async () => {
    const volume = await rig.volume({ dataCenterId: "EU-RO-1" });
    const answer = await rig.rest("PATCH", `/networkvolumes/${volume}`, { dataCenterId: "US-KS-2" });
    expectAnswer(answer, 400);
    expect(messageOf(answer)).toContain('dataCenterId: "US-KS-2" is not allowed');
    expectAnswer(await rig.rest("PATCH", `/networkvolumes/${volume}`, { dataCenterId: "EU-RO-1", size: 30 }), 200);
  });
});

describe("a registry auth", () => {
  const login = () => ({ name: freshName("registry"), username: "reader", password: "hush-hush" });

  test("is removed from a template by GraphQL's empty string", async () => {
    const id = stringAt(await rig.rest("POST", "/containerregistryauth", login()), "id");
    const name = freshName("template");
    const template = await rig.template({ name, containerRegistryAuthId: id });
    const input = `{ id: "${template}", name: "${name}", containerDiskInGb: 5, volumeInGb: 0, containerRegistryAuthId: "" }`;
    await rig.graphql(`mutation { saveTemplate(input: ${input}) { id } }`);
    expect((await rig.rest("GET", `/templates/${template}`)).json).not.toHaveProperty("containerRegistryAuthId");
  });
});

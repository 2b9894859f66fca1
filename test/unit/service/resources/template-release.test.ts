import { describe, expect, test } from "vitest";
import { expectAnswer, stringAt } from "../../../support/raw-http";
import { freshName, messageOf, useService } from "./service-rig";

const rig = await useService({ templateRelease: 120_000 });

const deleteByName = (name: string) =>
  rig.graphql("mutation ($name: String) { deleteTemplate(templateName: $name) }", { name });

/** A template that was in use until just now. */
async function justLetGo(): Promise<{ id: string; name: string }> {
  const name = freshName("template");
  const id = await rig.template({ name });
  const endpoint = await rig.endpoint(id);
  expectAnswer(await rig.rest("DELETE", `/endpoints/${endpoint}`), 204);
  return { id, name };
}

describe("a template in use", () => {
  test("stays in use until the exact end of the release, and reports the rest", async () => {
    const { id, name } = await justLetGo();
    expect(messageOf(await deleteByName(name))).toMatch(/still in use.* 0 s ago.* in 120 s/);
    await rig.clock.advance(119_999);
    expect(messageOf(await rig.rest("DELETE", `/templates/${id}`))).toMatch(/still in use.* 119 s ago.* in 1 s/);
    await rig.clock.advance(1);
    expectAnswer(await deleteByName(name), 200, { data: { deleteTemplate: null } });
    expectAnswer(await rig.rest("GET", `/templates/${id}`), 404);
  });

  test("waits for the last of several endpoints", async () => {
    const id = await rig.template();
    const [first, second] = [await rig.endpoint(id), await rig.endpoint(id, { name: "last" })];
    await rig.rest("DELETE", `/endpoints/${first}`);
    await rig.clock.advance(300_000);
    expect(messageOf(await rig.rest("DELETE", `/templates/${id}`))).toContain('endpoint "last"');
    await rig.rest("DELETE", `/endpoints/${second}`);
    expect(messageOf(await rig.rest("DELETE", `/templates/${id}`))).toContain("in 120 s");
  });

  test("is in use again if a new endpoint uses it during the release", async () => {
    const { id } = await justLetGo();
    await rig.endpoint(id, { name: "newcomer" });
    await rig.clock.advance(120_000);
    expect(messageOf(await rig.rest("DELETE", `/templates/${id}`))).toContain('endpoint "newcomer"');
  });

  test("keeps its release across a restart of the service", async () => {
    const { id } = await justLetGo();
    await rig.clock.advance(60_000);
    await rig.restart();
    expect(messageOf(await rig.rest("DELETE", `/templates/${id}`))).toContain("in 60 s");
    await rig.clock.advance(60_000);
    expectAnswer(await rig.rest("DELETE", `/templates/${id}`), 204);
  });

  test("keeps its name reserved until it is deleted", async () => {
    const { name } = await justLetGo();
    const answer = await rig.rest("POST", "/templates", { name, imageName: "x:1" });
    expectAnswer(answer, 400);
    expect(stringAt(answer, "message")).toContain("must be unique");
  });

  test("an endpoint update that keeps the template is not its last use", async () => {
    const id = await rig.template();
    const endpoint = await rig.endpoint(id);
    await rig.rest("PATCH", `/endpoints/${endpoint}`, { idleTimeout: 9, templateId: id });
    expect(messageOf(await rig.rest("DELETE", `/templates/${id}`))).toContain("in use by endpoint");
  });
});

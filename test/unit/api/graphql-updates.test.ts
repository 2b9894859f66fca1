import { describe, expect, test } from "vitest";
import { z } from "zod";
import { apiErrorOf, startRig } from "../../support/client-rig";
import { type Behaviour, json } from "../../support/faulty-server";
import { templateRecord } from "../../support/records";

const operationShape = z.object({ query: z.string(), variables: z.record(z.string(), z.unknown()) });
const data = (value: unknown) => json({ data: value });
const unknownField = (name: string, suggestion = ""): Behaviour =>
  json({ errors: [{ message: `Cannot query field "${name}" on type "PodTemplate".${suggestion}` }] }, 400);
const saved = data({ saveTemplate: templateRecord() });
const current = (overrides: object = {}) => data({ podTemplate: templateRecord({ ...overrides }) });

/** Clients of REST v1 at a server with these responses, and the operations that it receives. */
async function startV1(plan: Behaviour[]) {
  const rig = await startRig(plan);
  const operations = () => rig.requests.map(({ body }) => operationShape.parse(JSON.parse(body)));
  return { ...rig, management: rig.clients.management, operations };
}

/** Names of the fields in a query's selection of a template. */
const selected = (query = "") =>
  [...(/podTemplate\(id: \$id\) \{(.*)\} \}/.exec(query)?.[1] ?? "").matchAll(/\w+/g)].join(" ");

const required =
  "id name imageName containerDiskInGb volumeInGb dockerArgs env key value ports readme volumeMountPath isServerless " +
  "containerRegistryAuthId";

describe("the fields of a query for a template", () => {
  test("are those of every service in a read, and all in the read before an update", async () => {
    const { management, operations } = await startV1([current(), current(), saved]);
    await management.readTemplate("t1");
    await management.updateTemplate("t1", { readme: "x" });
    const [read, readBeforeUpdate] = operations().map(({ query }) => selected(query));
    expect(read).toBe(required);
    expect(readBeforeUpdate).toBe(
      `${required} startSsh startJupyter isPublic category portsConfig name port startScript advancedStart config`,
    );
  });

  test("omit those that a service does not have, also in later reads", async () => {
    const plan = [unknownField("startScript"), unknownField("portsConfig"), current(), saved, current(), saved];
    const { management, operations } = await startV1(plan);
    await management.updateTemplate("t1", { readme: "x" });
    await management.updateTemplate("t1", { readme: "y" });
    const reads = operations().filter(({ query }) => query.startsWith("query"));
    expect(reads.map(({ query }) => /startScript|portsConfig/.test(query))).toEqual([true, true, false, false]);
    expect(selected(reads.at(-1)?.query)).toBe(
      `${required} startSsh startJupyter isPublic category advancedStart config`,
    );
  });

  test("include those that the error about another field suggests", async () => {
    const rejection = unknownField("startScript", ' Did you mean "startSsh"?');
    const { management, operations } = await startV1([rejection, current({ startSsh: true }), saved]);
    await management.updateTemplate("t1", { readme: "x" });
    const [, read, update] = operations();
    expect(selected(read?.query)).toContain(
      " startSsh startJupyter isPublic category portsConfig name port advancedStart",
    );
    expect(update?.variables["input"]).toMatchObject({ startSsh: true });
  });

  test.each<[string, Behaviour, code: string]>([
    ["a required field", unknownField("imageName"), "unknown_field"],
    ["another error", json({ errors: [{ message: 'the config "startScript" is broken' }] }), "invalid_request"],
  ])("an error about %s fails without an update", async (_what, response, code) => {
    const { management, requests } = await startV1([response]);
    expect(await apiErrorOf(management.updateTemplate("t1", { readme: "x" }))).toMatchObject({ code });
    expect(requests).toHaveLength(1);
  });
});

test.each<[string, changes: object, record: object, input: object]>([
  ["a text", { readme: "x" }, {}, { readme: "x", env: [{ key: "MODEL", value: "mistral-7b" }] }],
  ["the environment", { env: { A: "1" } }, {}, { env: [{ key: "A", value: "1" }] }],
  ["the credentials", { containerRegistryAuthId: "r2" }, {}, { containerRegistryAuthId: "r2" }],
  [
    "no credentials",
    { containerRegistryAuthId: null },
    { containerRegistryAuthId: "r1" },
    { containerRegistryAuthId: "" },
  ],
  [
    "another property",
    { name: "talk" },
    { containerRegistryAuthId: "r1" },
    { name: "talk", containerRegistryAuthId: "r1" },
  ],
  [
    "a property beside unknown ones",
    { name: "talk" },
    { startSsh: true, config: { a: 1 }, category: null },
    { name: "talk", startSsh: true, config: { a: 1 } },
  ],
])("an update to %s keeps all other settings of the template", async (_what, changes, record, input) => {
  const { management, operations } = await startV1([current(record), saved]);
  await management.updateTemplate("t1", changes);
  const sent = operations()[1]?.variables["input"];
  const { ports: _null, id: _id, ...settings } = templateRecord();
  expect(sent).toEqual({
    ...settings,
    id: "t1",
    ports: "",
    readme: "",
    env: [{ key: "MODEL", value: "mistral-7b" }],
    ...input,
  });
});

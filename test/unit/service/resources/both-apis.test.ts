import { describe, expect, test } from "vitest";
import { freshName, useSharedService } from "../../../support/local-service";
import { at, expectResponse, stringAt } from "../../../support/raw-http";

const rig = await useSharedService({ templateRelease: 0 });

/** Saves a template with GraphQL, which returns the dockerArgs unchanged. Returns its id. */
async function savedWith(dockerArgs: string): Promise<string> {
  const input = { name: freshName("template"), imageName: "x:1", containerDiskInGb: 5, volumeInGb: 0, dockerArgs };
  const save = "mutation ($input: SaveTemplateInput!) { saveTemplate(input: $input) { id dockerArgs } }";
  const response = await rig.graphql(save, { input });
  expectResponse(response, 200, { data: { saveTemplate: { dockerArgs } } });
  return stringAt(response, "data", "saveTemplate", "id");
}

describe("REST and GraphQL return the same template", () => {
  const words = ["python3", "-u", "it's my handler.py", '--say="hi"', ""];
  test.each([
    { entrypoint: [], cmd: words },
    { entrypoint: words, cmd: [] },
    { entrypoint: ["/bin/start"], cmd: words },
  ])("REST's start command is GraphQL's dockerArgs: %j", async (start) => {
    const id = await rig.template({ dockerStartCmd: start.cmd, dockerEntrypoint: start.entrypoint });
    const { json } = await rig.graphql(`{ podTemplate(id: "${id}") { dockerArgs } }`);
    expect(JSON.parse(String(at(json, "data", "podTemplate", "dockerArgs")))).toEqual(start);
    expectResponse(await rig.rest("GET", `/templates/${id}`), 200, {
      dockerStartCmd: start.cmd,
      dockerEntrypoint: start.entrypoint,
    });
  });

  test("GraphQL's dockerArgs replace REST's entrypoint", async () => {
    const name = freshName("template");
    const id = await rig.template({ name, dockerEntrypoint: ["/bin/start"] });
    const input = { id, name, imageName: "x:1", containerDiskInGb: 5, volumeInGb: 0, dockerArgs: "serve" };
    await rig.graphql("mutation ($input: SaveTemplateInput!) { saveTemplate(input: $input) { id } }", { input });
    const replaced = { dockerEntrypoint: [], dockerStartCmd: ["serve"], dockerArgs: "serve" };
    expectResponse(await rig.rest("GET", `/templates/${id}`), 200, replaced);
  });

  test("GraphQL's dockerArgs are returned verbatim, with balanced or unbalanced quotes", async () => {
    for (const dockerArgs of ["python3  -u handler.py --name 'a b'", "echo it's open"]) {
      const id = await savedWith(dockerArgs);
      expectResponse(await rig.rest("GET", `/templates/${id}`), 200, { dockerArgs });
    }
  });

  test("GraphQL's dockerArgs in JSON are REST's two lists, and REST changes one without the other", async () => {
    const [cmd, entrypoint] = [
      ["--say", "a b", ""],
      ["/bin/start", "it's"],
    ];
    const dockerArgs = JSON.stringify({ cmd, entrypoint });
    const path = `/templates/${await savedWith(dockerArgs)}`;
    const read = async () => (await rig.rest("GET", path)).json;
    expect(await read()).toMatchObject({ dockerStartCmd: cmd, dockerEntrypoint: entrypoint });
    await rig.rest("PATCH", path, { readme: "new" });
    expect(await read()).toMatchObject({ dockerArgs, readme: "new" });
    await rig.rest("PATCH", path, { dockerStartCmd: ["c d"] });
    expect(await read()).toMatchObject({ dockerStartCmd: ["c d"], dockerEntrypoint: entrypoint });
    await rig.rest("PATCH", path, { dockerEntrypoint: [] });
    expect(await read()).toMatchObject({ dockerStartCmd: ["c d"], dockerEntrypoint: [] });
  });

  const template = { name: "proto", imageName: "x:1", containerDiskInGb: 5, volumeInGb: 0, dockerArgs: "" };
  test.each([
    ["saveTemplate", "SaveTemplateInput", template],
    ["saveEndpoint", "EndpointInput!", { name: "proto", templateId: "none" }],
    ["saveEndpoint", "EndpointInput!", { name: "proto", template }],
  ])("%s rejects the variable __proto__, which would be lost, as REST does", async (mutation, type, input) => {
    const env = [{ key: "__proto__", value: "1" }];
    const ownTemplate = "template" in input ? { template: { ...template, env } } : { env };
    const response = await rig.graphql(`mutation ($input: ${type}) { ${mutation}(input: $input) { id } }`, {
      input: { ...input, ...ownTemplate },
    });
    expectResponse(response, 200, { errors: [{ message: "env.0.key: __proto__ is not allowed" }] });
  });

  test("saveTemplate with an id keeps omitted fields", async () => {
    const name = freshName("template");
    const id = await rig.template({ name, readme: "keep me", env: { A: "1" } });
    await rig.graphql(
      `mutation { saveTemplate(input: {id: "${id}", name: "${name}", containerDiskInGb: 7, volumeInGb: 0}) { id } }`,
    );
    expectResponse(await rig.rest("GET", `/templates/${id}`), 200, {
      containerDiskInGb: 7,
      readme: "keep me",
      env: { A: "1" },
      isServerless: true,
    });
  });

  test("PATCH with empty values clears optional fields", async () => {
    const id = await rig.template({ readme: "x", env: { A: "1" }, ports: ["1/http"], dockerStartCmd: ["x"] });
    const empty = { readme: "", env: {}, ports: [], dockerStartCmd: [] };
    expectResponse(await rig.rest("PATCH", `/templates/${id}`, empty), 200, {
      readme: "",
      env: {},
      ports: [],
      dockerStartCmd: [],
      dockerArgs: "",
    });
  });
});

describe("a start command in JSON whose parts are no lists of strings is rejected", () => {
  const commands = [{ cmd: "x" }, { cmd: ["x"], entrypoint: "y" }, { entrypoint: [1] }, { cmd: null }];
  const common = { scaling: { type: "REQUEST_COUNT", requestCount: 1 }, gpu: { pools: ["ADA_24"] }, type: "QUEUE" };

  test.each(commands.map((start) => JSON.stringify(start)))("%s", async (start) => {
    const name = freshName("template");
    const id = await rig.template({ name });
    const save = "mutation ($input: SaveTemplateInput!) { saveTemplate(input: $input) { id } }";
    const input = { id, name, imageName: "x:1", containerDiskInGb: 5, volumeInGb: 0, dockerArgs: start };
    const message = expect.stringMatching(/^dockerArgs: /);
    const saved = await rig.graphql(save, { input });
    expectResponse(saved, 200, { errors: [{ message }] });
    for (const [method, path, body] of [
      ["POST", "/templates", { name: freshName("template"), image: "x:1" }],
      ["PATCH", `/templates/${id}`, {}],
      ["POST", "/serverless", { name: freshName("endpoint"), image: "x:1", ...common }],
    ] as const) {
      const response = await rig.v2(method, path, { ...body, args: start });
      expectResponse(response, 400, { detail: expect.stringMatching(/^args: /) });
      expect(response.text).toContain("args: cmd and entrypoint must be lists of strings");
    }
    const key = JSON.stringify({ cmd: "--hf-token=hf_4711" });
    const { text } = await rig.v2("PATCH", `/templates/${id}`, { args: key });
    expect(text, "a start command may contain a secret").not.toContain("hf_4711");
  });

  test.each(["{}", '{"model":"x"}', "[1]", '"x"', "{cmd:x}"])(
    "%s, which is no such command, is kept",
    async (text) => void (await savedWith(text)),
  );
});

test("no error repeats a wrong start command, which may contain a secret", async () => {
  const secret = "hf_4711";
  const name = freshName("template");
  const id = await rig.template({ name });
  const texts: string[] = [];
  for (const value of [secret, [secret], [{ token: secret }], { token: secret }, [[secret]]]) {
    for (const field of ["dockerStartCmd", "dockerEntrypoint"]) {
      texts.push((await rig.rest("POST", "/templates", { name: freshName("t"), imageName: "x", [field]: value })).text);
      texts.push((await rig.rest("PATCH", `/templates/${id}`, { [field]: value })).text);
    }
    for (const field of ["args", "cmd", "entrypoint"])
      for (const path of ["/templates", "/serverless"])
        texts.push((await rig.v2("POST", path, { name: freshName("t"), [field]: value })).text);
    for (const field of ["dockerArgs", "startScript"]) {
      const input = { id, name, imageName: "x:1", containerDiskInGb: 5, volumeInGb: 0, [field]: value };
      const save = "mutation ($input: SaveTemplateInput!) { saveTemplate(input: $input) { name } }";
      texts.push((await rig.graphql(save, { input })).text);
    }
  }
  const errors = texts.filter((one) => /message|detail/.test(one));
  expect(errors.length).toBeGreaterThan(texts.length / 2);
  for (const text of errors) expect(text).not.toContain(secret);
});

test("a template with a volume cannot become serverless", async () => {
  const pod = await rig.template({ isServerless: false, volumeInGb: 5 });
  expectResponse(await rig.rest("PATCH", `/templates/${pod}`, { isServerless: true }), 400, {
    message: "volumeInGb: 5 is not allowed; must be 0 when isServerless is true",
  });
});

import { describe, expect, test } from "vitest";
import { expectAnswer, stringAt } from "../support/raw-http";
import { useTarget } from "../support/target";
import { type Fields, uniqueName, useAccount } from "./support/account";

const target = await useTarget();
const account = useAccount(target);

const restFields = (fields: Fields = {}): Fields => ({
  name: uniqueName("template"),
  imageName: "conformance/none:1",
  isServerless: true,
  volumeInGb: 0,
  ...fields,
});

describe("REST management API: templates", () => {
  test("POST /templates returns the record with env as a map and ports as a list", async () => {
    const body = restFields({
      containerDiskInGb: 12,
      env: { MODEL: "mistral-7b" },
      ports: ["8888/http", "22/tcp"],
      dockerStartCmd: ["python3", "-u", "handler.py"],
      readme: "## Hello",
    });
    const answer = await account.rest("POST", "/templates", body);
    expectAnswer(answer, 200, body);
    await account.rest("DELETE", `/templates/${stringAt(answer, "id")}`);
  });

  test("POST /templates without optional fields fills in their defaults", async () => {
    const answer = await account.rest("POST", "/templates", {
      name: uniqueName("template"),
      imageName: "conformance/none:1",
    });
    expectAnswer(answer, 200, {
      isServerless: false,
      isPublic: false,
      containerDiskInGb: 50,
      volumeInGb: 20,
      volumeMountPath: "/workspace",
      ports: ["8888/http", "22/tcp"],
      env: {},
    });
    await account.rest("DELETE", `/templates/${stringAt(answer, "id")}`);
  });

  test("POST /templates with an existing name returns 400", async () => {
    const name = uniqueName("template");
    await account.template({ name });
    const answer = await account.rest("POST", "/templates", restFields({ name }));
    expectAnswer(answer, 400);
    expect(stringAt(answer, "message")).toContain("unique");
  });

  test.each([
    ["name", undefined],
    ["imageName", undefined],
    ["volumeInGb", 5],
    ["containerDiskInGb", -1],
    ["env", "A=1"],
    ["isServerless", "yes"],
  ])("POST /templates with %s = %j returns 400 and names the field", async (field, value) => {
    const answer = await account.rest("POST", "/templates", restFields({ [field]: value }));
    expectAnswer(answer, 400);
    expect(stringAt(answer, "message")).toContain(field);
  });

  test.each([[["8888/udp"]], [["8888"]], [["0/http"]], [["65536/http"]], [["99999/tcp"]]])(
    "POST /templates with ports = %j returns 400 and names the field",
    {
      tags: ["reading:port-protocols"],
    },
    async (ports) => {
      const answer = await account.rest("POST", "/templates", restFields({ ports }));
      expectAnswer(answer, 400);
      expect(stringAt(answer, "message")).toContain("ports");
    },
  );

  test("POST /templates accepts the first and the last port", async () => {
    const ports = ["1/tcp", "65535/http"];
    expectAnswer(await account.rest("POST", "/templates", restFields({ ports })), 200, { ports });
  });

  test("GET /templates returns a bare array that contains the template that saveTemplate created", async () => {
    const id = await account.template();
    const answer = await account.rest("GET", "/templates");
    expectAnswer(answer, 200);
    expect(answer.json).toEqual(expect.arrayContaining([expect.objectContaining({ id })]));
  });

  test("GET /templates/{id} returns the record, 404 for an unknown id", async () => {
    const id = await account.template({ env: [{ key: "A", value: "1" }] });
    expectAnswer(await account.rest("GET", `/templates/${id}`), 200, { id, env: { A: "1" } });
    const unknown = await account.rest("GET", "/templates/nosuchtemplate");
    expectAnswer(unknown, 404);
    expect(stringAt(unknown, "message")).not.toBe("");
  });

  test.each([
    ["PATCH", ""],
    ["POST", "/update"],
  ])("%s /templates/{id}%s changes the named fields and no other", async (method, suffix) => {
    const name = uniqueName("template");
    const id = await account.template({ name, readme: "old" });
    const answer = await account.rest(method, `/templates/${id}${suffix}`, { imageName: "conformance/other:2" });
    expectAnswer(answer, 200, { id, name, imageName: "conformance/other:2", readme: "old" });
  });

  test("PATCH /templates/{id} to an existing name returns 400, of an unknown id 404", async () => {
    const name = uniqueName("template");
    await account.template({ name });
    const id = await account.template();
    expectAnswer(await account.rest("PATCH", `/templates/${id}`, { name }), 400);
    expectAnswer(await account.rest("PATCH", "/templates/nosuchtemplate", { readme: "x" }), 404);
  });

  test("DELETE /templates/{id} returns 204 without a body", async () => {
    const id = await account.template();
    const answer = await account.rest("DELETE", `/templates/${id}`);
    expectAnswer(answer, 204);
    expect(answer.text).toBe("");
    expectAnswer(await account.rest("GET", `/templates/${id}`), 404);
  });

  test("DELETE /templates/{id} while a serverless endpoint uses it returns 400 and deletes nothing", async () => {
    const templateId = await account.template();
    await account.endpoint({ templateId });
    const answer = await account.rest("DELETE", `/templates/${templateId}`);
    expectAnswer(answer, 400);
    expect(stringAt(answer, "message")).toContain("in use");
    expectAnswer(await account.rest("GET", `/templates/${templateId}`), 200);
  });
});

describe("REST management API: container registry auths", () => {
  const login = (): Fields => ({ name: uniqueName("registry"), username: "reader", password: "hush" });

  test("POST, GET and DELETE /containerregistryauth return id and name, never the login", async () => {
    const body = login();
    const made = await account.rest("POST", "/containerregistryauth", body);
    expectAnswer(made, 200, { name: body["name"] });
    const id = stringAt(made, "id");
    const read = await account.rest("GET", `/containerregistryauth/${id}`);
    const list = await account.rest("GET", "/containerregistryauth");
    expect(read.json).toEqual({ id, name: body["name"] });
    expect(list.json).toEqual(expect.arrayContaining([{ id, name: body["name"] }]));
    expect([made.text, read.text, list.text].join()).not.toMatch(/hush|reader/);
    expectAnswer(await account.rest("DELETE", `/containerregistryauth/${id}`), 204);
    expectAnswer(await account.rest("GET", `/containerregistryauth/${id}`), 404);
  });

  test.each(["name", "username", "password"])(
    "POST /containerregistryauth without %s returns 400 and names it",
    async (field) => {
      const answer = await account.rest("POST", "/containerregistryauth", { ...login(), [field]: undefined });
      expectAnswer(answer, 400);
      expect(stringAt(answer, "message")).toContain(field);
      expect(answer.text).not.toContain("hush");
    },
  );

  test("POST /containerregistryauth with an existing name returns 400", async () => {
    const body = login();
    const made = await account.rest("POST", "/containerregistryauth", body);
    expectAnswer(await account.rest("POST", "/containerregistryauth", body), 400);
    await account.rest("DELETE", `/containerregistryauth/${stringAt(made, "id")}`);
  });
});

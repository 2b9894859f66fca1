import { describe, expect, test } from "vitest";
import type { Fields } from "../support/local-service";
import { expectResponse, stringAt } from "../support/raw-http";
import { useTarget } from "../support/target";
import { uniqueName, useAccount } from "./support/account";

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
  test("POST /templates without optional fields fills in their defaults", async () => {
    const response = await account.rest("POST", "/templates", {
      name: uniqueName("template"),
      imageName: "conformance/none:1",
    });
    expectResponse(response, 200, {
      isServerless: false,
      isPublic: false,
      containerDiskInGb: 50,
      volumeInGb: 20,
      volumeMountPath: "/workspace",
      ports: ["8888/http", "22/tcp"],
      env: {},
    });
    await account.rest("DELETE", `/templates/${stringAt(response, "id")}`);
  });

  test.each([
    ["volumeInGb", 5],
    ["containerDiskInGb", -1],
    ["env", "A=1"],
    ["isServerless", "yes"],
  ])("POST /templates with %s = %j returns 400 and names the field", async (field, value) => {
    const response = await account.rest("POST", "/templates", restFields({ [field]: value }));
    expectResponse(response, 400);
    expect(stringAt(response, "message")).toContain(field);
  });

  test.each([[["8888/udp"]], [["8888"]], [["0/http"]], [["65536/http"]], [["99999/tcp"]]])(
    "POST /templates with ports = %j returns 400 and names the field",
    {
      tags: ["reading:port-protocols"],
    },
    async (ports) => {
      const response = await account.rest("POST", "/templates", restFields({ ports }));
      expectResponse(response, 400);
      expect(stringAt(response, "message")).toContain("ports");
    },
  );

  test("POST /templates accepts the first and the last port", async () => {
    const ports = ["1/tcp", "65535/http"];
    expectResponse(await account.rest("POST", "/templates", restFields({ ports })), 200, { ports });
  });

  test("PATCH /templates/{id} to an existing name returns 400", async () => {
    const name = uniqueName("template");
    await account.template({ name });
    const id = await account.template();
    expectResponse(await account.rest("PATCH", `/templates/${id}`, { name }), 400);
  });

  test("DELETE /templates/{id} while a serverless endpoint uses it returns 400 and deletes nothing", async () => {
    const templateId = await account.template();
    await account.endpoint({ templateId });
    const response = await account.rest("DELETE", `/templates/${templateId}`);
    expectResponse(response, 400);
    expect(stringAt(response, "message")).toContain("in use");
    expectResponse(await account.rest("GET", `/templates/${templateId}`), 200);
  });
});

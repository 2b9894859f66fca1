import { describe, expect, test } from "vitest";
import { expectResponse, stringAt } from "../support/raw-http";
import { useTarget } from "../support/target";
import { uniqueName, useAccount } from "./support/account";

const target = await useTarget();
const account = useAccount(target);

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

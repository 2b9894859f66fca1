import { describe, expect, test } from "vitest";
import { at, expectResponse, stringAt } from "../support/raw-http";
import { useTarget } from "../support/target";
import { saveTemplate, templateFields, uniqueName, useAccount } from "./support/account";

const target = await useTarget();
const account = useAccount(target);

describe("REST management API: POST /endpoints", () => {
  test("POST /endpoints without optional fields fills in their defaults", async () => {
    const templateId = await account.template();
    const response = await account.rest("POST", "/endpoints", { name: uniqueName("endpoint"), templateId });
    expectResponse(response, 200, {
      computeType: "GPU",
      gpuCount: 1,
      idleTimeout: 5,
      scalerType: "QUEUE_DELAY",
      scalerValue: 4,
      workersMin: 0,
      workersMax: 3,
    });
    await account.rest("DELETE", `/endpoints/${stringAt(response, "id")}`);
  });

  test("POST /endpoints accepts the name of another endpoint", async () => {
    const name = uniqueName("endpoint");
    const ids = [await account.endpoint({ name }), await account.endpoint({ name })];
    expect(new Set(ids).size).toBe(2);
  });

  test.each([
    ["cpuFlavorIds", ["cpu3c-8"]],
    ["computeType", "TPU"],
  ])("POST /endpoints with %s = %j returns 400 and names the field", async (field, value) => {
    const body = { templateId: await account.template(), computeType: "CPU", [field]: value };
    const response = await account.rest("POST", "/endpoints", body);
    expectResponse(response, 400);
    expect(stringAt(response, "message")).toContain(field);
  });

  test("POST /endpoints accepts a template with isServerless false", { tags: ["reading:pod-template"] }, async () => {
    const templateId = await account.template({ isServerless: false, volumeInGb: 20 });
    const id = await account.endpoint({ templateId });
    expectResponse(await account.rest("GET", `/endpoints/${id}`), 200, { templateId });
  });
});

describe("REST management API: endpoints on CPUs", () => {
  const read = (id: string) => account.rest("GET", `/endpoints/${id}`);

  test("a record contains instanceIds instead of cpuFlavorIds and vcpuCount", async () => {
    const id = await account.endpoint({ computeType: "CPU", cpuFlavorIds: ["cpu3c", "cpu3g"], vcpuCount: 8 });
    const response = await read(id);
    expectResponse(response, 200, { computeType: "CPU", instanceIds: ["cpu3c-8-16", "cpu3g-8-32"] });
    expect(response.json).not.toHaveProperty("cpuFlavorIds");
    expect(response.json).not.toHaveProperty("vcpuCount");
  });

  test("PATCH of either cpuFlavorIds or vcpuCount keeps the other", async () => {
    const id = await account.endpoint({ computeType: "CPU" });
    expectResponse(await read(id), 200, { instanceIds: ["cpu3c-2-4"] });
    await account.rest("PATCH", `/endpoints/${id}`, { vcpuCount: 4 });
    expectResponse(await read(id), 200, { instanceIds: ["cpu3c-4-8"] });
    await account.rest("PATCH", `/endpoints/${id}`, { cpuFlavorIds: ["cpu5g"] });
    expectResponse(await read(id), 200, { instanceIds: ["cpu5g-4-16"] });
  });
});

describe("REST management API: other endpoint operations", () => {
  test("GET /endpoints?includeTemplate=true&includeWorkers=true adds template and workers", async (context) => {
    const { id } = await account.jobsOn("echo", context, { workersMin: 1 });
    const templateId = stringAt(await account.rest("GET", `/endpoints/${id}`), "templateId");
    const template = expect.objectContaining({ id: templateId, imageName: target.image("echo", context) });
    const idle = { id: expect.any(String), status: "idle", version: 1, isStale: false, startedAt: expect.any(String) };
    const whole = expect.objectContaining({ id, template, workers: [expect.objectContaining(idle)] });
    await expect
      .poll(async () => (await account.rest("GET", "/endpoints?includeTemplate=true&includeWorkers=true")).json)
      .toEqual(expect.arrayContaining([whole]));
  });

  test.each([
    ["1", 200, true],
    ["True", 200, true],
    ["0", 200, false],
    ["FALSE", 200, false],
    ["yes", 400, false],
    ["", 400, false],
  ])("GET /endpoints/{id}?includeTemplate=%s returns %i", async (flag, status, isIncluded) => {
    const id = await account.endpoint({});
    const response = await account.rest("GET", `/endpoints/${id}?includeTemplate=${flag}`);
    expectResponse(response, status);
    expect(response.text.includes('"template":')).toBe(isIncluded);
  });

  test("PATCH /endpoints/{id} with an out-of-range value returns 400 and changes nothing", async () => {
    const id = await account.endpoint({ idleTimeout: 9 });
    const response = await account.rest("PATCH", `/endpoints/${id}`, { idleTimeout: 3601, workersMax: 2 });
    expectResponse(response, 400);
    expectResponse(await account.rest("GET", `/endpoints/${id}`), 200, { idleTimeout: 9, workersMax: 0 });
  });

  test("version increases when the template changes", async () => {
    const name = uniqueName("template");
    const templateId = await account.template({ name });
    const id = await account.endpoint({ templateId });
    const before = Number(at((await account.rest("GET", `/endpoints/${id}`)).json, "version"));
    await account.graphql(saveTemplate, {
      input: templateFields({ id: templateId, name, imageName: "conformance/next:2" }),
    });
    const changed = Number(at((await account.rest("GET", `/endpoints/${id}`)).json, "version"));
    expect(changed).toBeGreaterThan(before);
    await account.rest("PATCH", `/endpoints/${id}`, { templateId: await account.template() });
    expect(Number(at((await account.rest("GET", `/endpoints/${id}`)).json, "version"))).toBeGreaterThan(changed);
  });
});

import { describe, expect, test } from "vitest";
import type { Fields } from "../support/local-service";
import { at, expectResponse, stringAt } from "../support/raw-http";
import { useTarget } from "../support/target";
import { uniqueName, useAccount } from "./support/account";
import { expectProblem, useRestV2 } from "./support/rest-v2";

const target = await useTarget({ templateRelease: 0 });
const account = useAccount(target);
const { call, make, endpointBody } = useRestV2(target, account);

const template = (fields: Fields = {}): Promise<string> =>
  make("/templates", { name: uniqueName("template"), image: "conformance/none:1", serverless: true, ...fields });

describe("REST v2: the start command", () => {
  const both = { entrypoint: ["/bin/start"], cmd: ["python", "my handler.py"] };
  const args = JSON.stringify(both);

  test.each([
    ["args as a command line", { args: "python 'my handler.py'" }, { entrypoint: [], cmd: both.cmd }],
    ["args in JSON", { args }, both],
    ["entrypoint and cmd", both, { ...both, args }],
    ["args equal to both", { ...both, args }, { ...both, args }],
    ["cmd alone", { cmd: both.cmd }, { entrypoint: [], cmd: both.cmd }],
    ["nothing", { entrypoint: [], cmd: [] }, { args: "", entrypoint: [], cmd: [] }],
  ])("%s: a response contains all three fields", async (_what, sent, shown) => {
    expectResponse(await call("POST", "/serverless", endpointBody(sent)), 201, shown);
    const body = { name: uniqueName("template"), image: "conformance/none:1", ...sent };
    expectResponse(await call("POST", "/templates", body), 201, shown);
  });

  test("a PATCH of one part keeps the other; an empty value clears it", async () => {
    for (const own of [
      `/serverless/${await make("/serverless", endpointBody(both))}`,
      `/templates/${await template(both)}`,
    ]) {
      expectResponse(await call("PATCH", own, { cmd: ["node"] }), 200, { entrypoint: both.entrypoint, cmd: ["node"] });
      expectResponse(await call("PATCH", own, { entrypoint: [] }), 200, { entrypoint: [], cmd: ["node"] });
      expectResponse(await call("PATCH", own, { args: "" }), 200, { args: "", entrypoint: [], cmd: [] });
    }
  });
});

describe("REST v2: an endpoint and its template", () => {
  test("an unknown template is 404, a template for pods 422", async () => {
    expectProblem(await call("POST", "/serverless", endpointBody({ templateId: "nosuch" })), 404, "resource not found");
    const pods = await template({ serverless: false });
    const id = await make("/serverless", endpointBody());
    expectProblem(await call("POST", "/serverless", endpointBody({ templateId: pods })), 422);
    expectProblem(await call("PATCH", `/serverless/${id}`, { templateId: pods }), 422);
    expectProblem(await call("PATCH", `/serverless/${id}`, { templateId: "nosuch" }), 404, "resource not found");
  });

  test("a new endpoint copies the CUDA versions of its template, unless it has its own constraint", async () => {
    const templateId = await template({ allowedCudaVersions: ["12.6"] });
    const shown = async (gpu: Fields) =>
      at(
        (await call("POST", "/serverless", endpointBody({ templateId, gpu: { pools: ["ADA_24"], ...gpu } }))).json,
        "gpu",
      );
    expect(await shown({})).toMatchObject({ allowedCudaVersions: ["12.6"], minCudaVersion: null });
    expect(await shown({ allowedCudaVersions: [] })).toMatchObject({ allowedCudaVersions: [] });
    expect(await shown({ minCudaVersion: "12.4" })).toMatchObject({ allowedCudaVersions: [], minCudaVersion: "12.4" });
  });

  test("the mount of a template cannot be cleared", async () => {
    const mounts = { persistent: { size: 10, path: "/data" } };
    const created = await call("POST", "/templates", { name: uniqueName("pod"), image: "conformance/none:1", mounts });
    expectResponse(created, 201, { mounts });
    const own = `/templates/${stringAt(created, "id")}`;
    expectResponse(await call("GET", own), 200, { mounts });
    expectResponse(await call("PATCH", own, { mounts: {} }), 200, { mounts });
    expectResponse(await call("PATCH", own, { disk: 7 }), 200, { mounts, disk: 7 });
    const larger = { persistent: { size: 20, path: "/models" } };
    expectResponse(await call("PATCH", own, { mounts: larger }), 200, { mounts: larger });
    for (const wrong of [{ network: [] }, { persistent: { size: 9, path: "/d" } }, { persistent: { size: 10 } }])
      expectProblem(await call("PATCH", own, { mounts: wrong }), 422);
  });

  test("the template is copied and overridden by the body, with variables merged; no response names it", async () => {
    const templateId = await template({ env: { A: "1", B: "1" }, args: "python h.py", disk: 7 });
    const id = await make("/serverless", endpointBody({ image: undefined, templateId, env: { B: "2" } }));
    const response = await call("GET", `/serverless/${id}`);
    expectResponse(response, 200, {
      image: "conformance/none:1",
      args: "python h.py",
      disk: 7,
      env: { A: "1", B: "2" },
    });
    expect(response.json).not.toHaveProperty("templateId");
  });

  test("a later change of the template does not affect the endpoint until a PATCH names the template again", async () => {
    const templateId = await template({ env: { A: "1" } });
    const id = await make("/serverless", endpointBody({ image: undefined, templateId }));
    await call("PATCH", `/templates/${templateId}`, { image: "conformance/next:2", env: { C: "3" } });
    expectResponse(await call("GET", `/serverless/${id}`), 200, { image: "conformance/none:1" });
    const again = await call("PATCH", `/serverless/${id}`, { templateId, env: { D: "4" } });
    expectResponse(again, 200, { image: "conformance/next:2" });
    expect(at(again.json, "env")).toEqual({ C: "3", D: "4" });
  });

  test("a copied template is not in use; a template of a REST v1 endpoint is", async () => {
    const copied = await template();
    await make("/serverless", endpointBody({ image: undefined, templateId: copied }));
    expectResponse(await call("DELETE", `/templates/${copied}`), 204);
    const shared = await template();
    const id = await account.endpoint({ templateId: shared });
    const known = "Template is in use by a pod or serverless endpoint and cannot be deleted";
    expectProblem(await call("DELETE", `/templates/${shared}`), 400, known);
    await call("DELETE", `/serverless/${id}`);
    expectResponse(await call("DELETE", `/templates/${shared}`), 204);
  });

  test("its own template is in no list, is returned by REST v1 on request, and is deleted with it", async () => {
    const id = await make("/serverless", endpointBody());
    const own = stringAt(await account.rest("GET", `/endpoints/${id}`), "templateId");
    const lists = [await call("GET", "/templates"), await account.rest("GET", "/templates")];
    for (const { text } of lists) expect(text).not.toContain(own);
    const bound = await account.rest("GET", "/templates?includeEndpointBoundTemplates=true");
    expect(bound.json).toContainEqual(expect.objectContaining({ id: own, boundEndpointId: id }));
    expectResponse(await call("DELETE", `/serverless/${id}`), 204);
    expectProblem(await call("GET", `/templates/${own}`), 404);
  });

  test("an endpoint of REST v1 keeps its template as long as it has the template's settings", async () => {
    const templateId = await template();
    const id = await account.endpoint({ templateId });
    expectResponse(await call("PATCH", `/serverless/${id}`, { templateId, workers: { idleTimeout: 9 } }), 200);
    expectResponse(await account.rest("GET", `/endpoints/${id}`), 200, { templateId, idleTimeout: 9 });
    await call("PATCH", `/templates/${templateId}`, { image: "conformance/next:2" });
    expectResponse(await call("GET", `/serverless/${id}`), 200, { image: "conformance/next:2" });
    await call("PATCH", `/serverless/${id}`, { image: "conformance/own:3" });
    expectResponse(await call("GET", `/templates/${templateId}`), 200, { image: "conformance/next:2" });
    expectResponse(await account.rest("PATCH", `/endpoints/${id}`, { templateId }), 200, { templateId });
    expectResponse(await call("GET", `/serverless/${id}`), 200, { image: "conformance/next:2" });
  });

  test("a PATCH with registry null, or with a template without credentials, clears the credentials", async () => {
    const registry = await make("/registries", { name: uniqueName("registry"), username: "reader", password: "hush" });
    const own = `/serverless/${await make("/serverless", endpointBody({ registry }))}`;
    expectResponse(await call("PATCH", own, { disk: 7 }), 200, { registry });
    expectResponse(await call("PATCH", own, { registry: null }), 200, { registry: null, disk: 7 });
    expectResponse(await call("PATCH", own, { templateId: await template({ registry }) }), 200, { registry });
    expectResponse(await call("PATCH", own, { templateId: await template() }), 200, { registry: null });
    expectResponse(await call("GET", own), 200, { registry: null });
  });

  test("env in a PATCH replaces the endpoint's env", async () => {
    const id = await make("/serverless", endpointBody({ env: { A: "1" } }));
    expect(at((await call("PATCH", `/serverless/${id}`, { env: { B: "2" } })).json, "env")).toEqual({ B: "2" });
  });
});

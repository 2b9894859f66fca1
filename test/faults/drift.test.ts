import { gpuTypes } from "serverless-compute-api/catalog";
import { describe, expect, test } from "vitest";
import type { Value } from "../../provider/engine/values";
import { kinds } from "../../provider/resources";
import { dialect, stripsResponses } from "../support/dialect";
import { useLifecycleBench } from "../support/lifecycle-bench";
import { naming } from "../support/naming";
import { propertyTable } from "../support/properties";
import { expectResponse, send } from "../support/raw-http";
import { type InputCase, inputTable } from "./support/input-table";
import type { ObjectKind } from "./support/kinds";

const bench = await useLifecycleBench({ templateRelease: 0 });
const { cases, bases } = await inputTable(bench);

const paths: Partial<Record<ObjectKind, string>> = {
  Template: "/templates",
  ServerlessEndpoint: "/endpoints",
  NetworkVolume: "/networkvolumes",
};

/** Properties that the records of REST v1 do not contain. Its contract has no `flashboot` in an endpoint's record. */
const unreported =
  dialect === "v1"
    ? ["startSsh", "startJupyter", "isPublic", "category", ...(stripsResponses ? ["flashboot"] : [])]
    : [];

/** Properties that can drift: the service returns them and other clients can change them. */
const detectable = cases.filter(
  ({ kind, input, requestPattern, change }) =>
    change !== "nothing" &&
    (!requestPattern || kind === "ServerlessEndpoint") &&
    !["computeType", "dataCenterId", "size", "type", "replaceOnChange", ...unreported].includes(input) &&
    !(kind === "Secret" && input === "name") &&
    kind !== "ContainerRegistryAuth",
);

const pools = [...new Set(gpuTypes.flatMap(({ pool }) => pool ?? []))];
const table = propertyTable({ templates: [], volumes: [], registries: [] });
/** The PATCH body for a value of a property that only REST v2 can change; undefined if REST v1 can. */
function v2Body({ kind, input }: InputCase, value: Value): object | undefined {
  if (dialect === "v1") return undefined;
  if (input === "excludedGpuTypeIds") return { gpu: { pools, excludedTypes: value } };
  const rows = kind === "Template" ? table.template : kind === "ServerlessEndpoint" ? table.endpoint : [];
  const { v1, v2 } = rows.find(({ name }) => name === input)?.write ?? {};
  return v1 ? undefined : v2?.(input === "ports" ? String(value).split(/,\s*/) : value);
}

/** Changes a property outside Pulumi, like a colleague with a browser. */
async function changeOutside(inputCase: InputCase, id: string): Promise<void> {
  const { kind, input, values, inResponse } = inputCase;
  const [, value] = values;
  const json = v2Body(inputCase, value);
  if (json) {
    const noun = kind === "Template" ? "templates" : "serverless";
    const { apiKey, baseUrl } = bench.addresses;
    expectResponse(await send("PATCH", `${baseUrl}/${noun}/${id}`, { key: apiKey, json }), 200);
    return;
  }
  const path = paths[kind];
  if (path === undefined) {
    await bench.graphql(
      "mutation ($id: ID!, $text: String!) { secretDescriptionUpdate(input: { id: $id, description: $text }) { id } }",
      { id, text: value },
    );
    return;
  }
  // REST v1 has lists of GPU types only. It returns the start arguments as a list.
  const body =
    input === "dockerArgs"
      ? { dockerStartCmd: String(value).split(" ") }
      : inResponse && [input, "gpuTypeIds"].includes(inResponse.name)
        ? { [inResponse.name]: inResponse.convert(value) }
        : { [input]: value };
  expectResponse(await bench.rest("PATCH", `${path}/${id}`, body), 200);
}

describe("a property that was changed outside the stack is found by a refresh and reverted by the next deployment", () => {
  test.each(detectable)("$kind: $input", async (inputCase) => {
    const { kind, input, values, relatedInputs } = inputCase;
    const lifecycle = kinds[kind];
    const news = {
      ...bases[kind],
      ...relatedInputs,
      ...(input === "isServerless" ? { isServerless: false } : { [input]: values[0] }),
    };
    const desired = lifecycle.check({}, news, naming("drift-dev")).inputs;
    const { id, outputs } = await lifecycle.create(desired, bench.context());

    await changeOutside(inputCase, id);
    const readResult = await lifecycle.read(id, outputs, bench.context());
    const changes = lifecycle.diff(readResult?.outputs ?? {}, desired);
    // A queue that scales by REQUEST_COUNT has no idle timeout in REST v2, so another scaler restores the service's default.
    const changedKeys = new Set(changes.map(({ path }) => path[0]));
    if (dialect === "v2" && input === "scalerType") changedKeys.delete("idleTimeout");
    // The REST API returns a command without an entrypoint as a command line.
    if (input === "dockerStartCmd") changedKeys.delete("dockerArgs");
    // REST v2 shows no template, only the settings that differ from it.
    expect([...changedKeys]).toEqual([dialect === "v2" && input === "templateId" ? "imageName" : input]);

    let currentId = id;
    if (changes.some(({ replace }) => replace)) {
      await lifecycle.delete(id, outputs, bench.context());
      currentId = (await lifecycle.create(desired, bench.context())).id;
    } else {
      const updated = await lifecycle.update(id, readResult?.outputs ?? {}, desired, bench.context());
      expect(lifecycle.diff(updated, desired)).toEqual([]);
    }
    // Without known inputs, a read returns volumes and GPU types in one form only, and in REST v2 omits part of a template.
    const isFormOfInputs = dialect === "v2" || ["gpuPools", "excludedGpuTypeIds"].includes(input);
    const known = isFormOfInputs && kind !== "Secret" ? desired : {};
    const after = await lifecycle.read(currentId, known, bench.context());
    expect(lifecycle.diff(after?.outputs ?? {}, { ...desired, ...(kind === "Secret" ? { value: "" } : {}) })).toEqual(
      kind === "Secret" ? [{ path: ["value"], kind: "add", replace: false }] : [],
    );
    await lifecycle.delete(currentId, outputs, bench.context());
  });
});

test("each property that the API changes has a case, unless the provider does not manage it", () => {
  for (const [kind, rows] of [["Template", table.template] as const, ["ServerlessEndpoint", table.endpoint] as const]) {
    const tested = detectable.filter((one) => one.kind === kind).map(({ input }) => input);
    const managed = rows.filter(({ name, drift, write }) => drift && write[dialect] && !unreported.includes(name));
    expect(managed.map(({ name }) => name).filter((name) => !tested.includes(name))).toEqual([]);
  }
});

test("a volume that was enlarged outside the stack cannot shrink: the check fails first", async () => {
  const { NetworkVolume } = kinds;
  const desired = NetworkVolume.check({}, bases.NetworkVolume, naming("grown-dev")).inputs;
  const { id, outputs } = await NetworkVolume.create(desired, bench.context());
  await bench.rest("PATCH", `/networkvolumes/${id}`, { size: 20 });
  const readResult = await NetworkVolume.read(id, outputs, bench.context());
  expect(NetworkVolume.diff(readResult?.outputs ?? {}, desired).map(({ path }) => path)).toEqual([["size"]]);
  expect(NetworkVolume.check(readResult?.inputs ?? {}, bases.NetworkVolume, naming("grown-dev")).failures).toEqual([
    {
      path: "size",
      reason: "cannot shrink from 20 to 10; set 20 or more, or create a new volume under another resource name",
    },
  ]);
});

describe("an object that was deleted outside the stack", () => {
  test.each(Object.keys(bases))("%s is removed by a refresh, and deleting it again succeeds", async (name) => {
    const entry = Object.entries(kinds).find(([kind]) => kind === name);
    if (!entry) throw new Error(name);
    const [, lifecycle] = entry;
    const base = Object.entries(bases).find(([kind]) => kind === name)?.[1] ?? {};
    const inputs = lifecycle.check({}, base, naming("gone-dev")).inputs;
    const { id, outputs } = await lifecycle.create(inputs, bench.context());
    await lifecycle.delete(id, outputs, bench.context());
    expect(await lifecycle.read(id, outputs, bench.context())).toBeUndefined();
    await lifecycle.delete(id, outputs, bench.context());
  });
});

import { describe, expect, test } from "vitest";
import type { Properties, Value } from "../../provider/engine/values";
import { ResourceInitError, UserError } from "../../provider/framework/errors";
import { invalidateLists } from "../../provider/framework/lists";
import { kinds } from "../../provider/resources";
import { dialect } from "../support/dialect";
import { type BenchContext, partialFailureOf, useLifecycleBench } from "../support/lifecycle-bench";
import { naming } from "../support/naming";
import type { Fault, Match } from "../support/recording-proxy";
import { freshName, type ObjectKind, objectCases } from "./support/kinds";

const bench = await useLifecycleBench({ templateRelease: 0 });
const cases = await objectCases(bench);

/**
 * Properties that change in place: the first value is deployed, the second fails, and the first is restored. Without a second value, the
 * property is removed.
 */
const changes: Record<ObjectKind, Record<string, [deployed: Value, failed?: Value]>> = {
  Template: {
    imageName: ["a:1", "a:2"],
    env: [{ A: "1" }, { A: "2", B: "1" }],
    containerDiskInGb: [20, 30],
    dockerArgs: ["one", "two"],
    ports: ["80/http"],
    dockerStartCmd: [["serve"]],
    name: ["plain", "other"],
  },
  ServerlessEndpoint: {
    workersMax: [1, 2],
    idleTimeout: [7, 8],
    scalerValue: [2, 3],
    gpuTypeIds: [["NVIDIA L4"], ["NVIDIA A40"]],
    minCudaVersion: ["12.4"],
    executionTimeoutMs: [60_000],
    name: ["plain", "other"],
  },
  NetworkVolume: { name: ["plain", "other"] },
  Secret: { value: ["value-one", "value-two"], description: ["one", "two"] },
  ContainerRegistryAuth:
    dialect === "v1" ? { password: ["password-one", "password-two"], username: ["one", "two"] } : {},
};

/** A fault of every request that changes an object, or a response without a field. */
type UpdateFault = Fault | { kind: "unreadableResponse" };
const faultsOfAll: readonly UpdateFault[] = [{ kind: "dropResponse" }, { kind: "unreadableResponse" }];
const otherFaults: readonly UpdateFault[] = [
  { kind: "status", status: 500, applied: true },
  { kind: "reset", applied: true },
  { kind: "halfBody" },
];

/** Requests that change an object. */
const changeRequests: readonly Match[] = [{ method: "PATCH" }, ...(dialect === "v1" ? [{ body: /mutation/ }] : [])];

/** Reads of a single object, which would confirm the change. */
const confirmingReads: readonly Match[] =
  dialect === "v1"
    ? []
    : [{ method: "GET", path: /^\/v2\/(templates|serverless|network-volumes|account\/secrets)\/\w+$/ }];

const changesAndReads = [...changeRequests, ...confirmingReads];

function injectFault(fault: UpdateFault, property: string): void {
  // An update of variables reads the others first, and an update of a part of the scaler reads the other part.
  if (property === "env" || property === "scalerValue")
    for (const match of confirmingReads) bench.proxy.inject(match, { kind: "delayRequest", ms: 0 });
  if (fault.kind === "unreadableResponse") for (const match of changeRequests) bench.proxy.alter(match, () => ({}));
  else for (const match of changesAndReads) bench.proxy.inject(match, fault, 50);
}

interface Deployed {
  id: string;
  outputs: Properties;
}

const rows = cases.flatMap((row) =>
  Object.entries(changes[row.kind]).flatMap(([property, values]) =>
    [...faultsOfAll, ...(property === "value" ? otherFaults : [])].map((fault) => ({
      ...row,
      property,
      values,
      fault,
    })),
  ),
);

describe.each(rows)("a failed update of a $kind: $property, $fault.kind", ({ kind, inputsOf, ...row }) => {
  const { property, fault } = row;
  const [deployedValue, failedValue] = row.values;
  const operations = kinds[kind];

  /** Deploys the first value, then fails to deploy the second one. */
  async function failUpdate(): Promise<{ inputs: Properties; deployed: Deployed }> {
    const name = freshName();
    const inputsWith = (value: Value | undefined): Properties =>
      inputsOf(
        name,
        value === undefined ? {} : { [property]: property === "name" ? `${name}-${String(value)}` : value },
      );
    const inputs = inputsWith(deployedValue);
    const { id, outputs } = await operations.create(inputs, bench.context());
    injectFault(fault, property);
    const update = operations.update(id, outputs, inputsWith(failedValue), bench.context());
    const failure = await partialFailureOf(update);
    bench.proxy.clear();
    expect(failure.message).toContain('the next "pulumi up"');
    return { inputs, deployed: { id, outputs: failure.outputs } };
  }

  /** Deploys inputs as the engine does; returns the new state. */
  async function up(inputs: Properties, { id, outputs }: Deployed, context: BenchContext): Promise<Deployed> {
    if (operations.diff(outputs, inputs, dialect).length === 0) return { id, outputs };
    return { id, outputs: await operations.update(id, outputs, inputs, context) };
  }

  test.each([false, true])("is undone by the previous program (after a refresh: %s)", async (refreshes) => {
    const { inputs, deployed } = await failUpdate();
    const context = bench.context();
    if (refreshes) {
      const found = await operations.read(deployed.id, deployed.outputs, context);
      deployed.outputs = found?.outputs ?? {};
    }
    bench.proxy.clear();
    const after = await up(inputs, deployed, context);
    const isApplied = bench.proxy.requests.some(({ method, applied }) => method !== "GET" && applied);
    expect(isApplied).toBe(true);
    invalidateLists(context);
    const found = await operations.read(after.id, after.outputs, context);
    expect(operations.diff(found?.outputs ?? {}, inputs, dialect)).toEqual([]);
    expect(operations.diff(after.outputs, inputs, dialect)).toEqual([]);
  });
});

const rejection: Fault = { kind: "status", status: 403 };
const patchOf = (path: string): Match => ({ method: "PATCH", path });

/** With REST v1, one request contains the whole update. */
const dialectsOfSeveralRequests = dialect === "v2" ? ["REST v2"] : [];

describe.each(dialectsOfSeveralRequests)("an update with %s whose later request is rejected", () => {
  test("sends the previous value of a secret again", async () => {
    const name = freshName();
    const inputsOf = (value: string, description: string): Properties =>
      kinds.Secret.check({}, { value, description }, naming(name)).inputs;
    const inputs = inputsOf("value-one", "one");
    const { id, outputs } = await kinds.Secret.create(inputs, bench.context());
    const path = `/v2/account/secrets/${id}`;
    bench.proxy.inject(patchOf(path), { kind: "delayRequest", ms: 0 });
    bench.proxy.inject(patchOf(path), rejection);
    const update = kinds.Secret.update(id, outputs, inputsOf("value-two", "two"), bench.context());
    const failure = await partialFailureOf(update);
    expect(failure.outputs).toMatchObject({ value: "value-one", unconfirmed: ["value", "description"] });
    bench.proxy.clear();
    expect(kinds.Secret.diff(failure.outputs, inputs)).toMatchObject([
      { path: ["value"], replace: false },
      { path: ["description"], replace: false },
    ]);
    const restored = await kinds.Secret.update(id, failure.outputs, inputs, bench.context());
    expect(restored).toEqual(outputs);
    expect(bench.drainRequests()).toEqual([`PATCH ${path}`, `PATCH ${path}`]);
  });

  test("restores a template and the copies in its endpoints", async () => {
    const name = freshName();
    const inputsWith = (more: Properties): Properties => kinds.Template.check({}, more, naming(name)).inputs;
    const before = inputsWith({ imageName: "a:1", env: { A: "1" } });
    const template = await kinds.Template.create(before, bench.context());
    const deployEndpoint = async (): Promise<string> => {
      const program = { templateId: template.id, workersMax: 0, env: { OWN: "1" } };
      const { inputs } = kinds.ServerlessEndpoint.check({}, program, naming(freshName()));
      return (await kinds.ServerlessEndpoint.create(inputs, bench.context())).id;
    };
    const [first, second] = [await deployEndpoint(), await deployEndpoint()];
    bench.proxy.inject(patchOf(`/v2/serverless/${second}`), rejection);
    const after = inputsWith({ imageName: "a:2", env: { A: "2", B: "1" } });
    const failure = await partialFailureOf(
      kinds.Template.update(template.id, template.outputs, after, bench.context()),
    );
    bench.proxy.clear();
    await kinds.Template.update(template.id, failure.outputs, before, bench.context());
    const read = (id: string) => bench.context().clients.management.readEndpoint(id);
    for (const endpoint of [await read(first), await read(second)])
      expect(endpoint?.container).toMatchObject({ imageName: "a:1", env: { A: "1", OWN: "1" } });
    const restored = await bench.context().clients.management.readTemplate(template.id);
    expect(restored).toMatchObject({ imageName: "a:1", env: { A: "1" } });
    expect((await read(first))?.container?.env).toEqual({ A: "1", OWN: "1" });
  });
});

const firstChanges = cases.flatMap((row) =>
  Object.entries(changes[row.kind])
    .slice(0, 1)
    .map(([property, values]) => ({ ...row, property, values })),
);

describe.each(firstChanges)("an update of a $kind whose first request is rejected", ({ kind, inputsOf, ...row }) => {
  test("leaves the state as it is", async () => {
    const { property } = row;
    const [deployed, failed = expect.unreachable()] = row.values;
    const name = freshName();
    const { id, outputs } = await kinds[kind].create(inputsOf(name, { [property]: deployed }), bench.context());
    for (const match of changesAndReads) bench.proxy.inject(match, rejection, 50);
    const update = kinds[kind].update(id, outputs, inputsOf(name, { [property]: failed }), bench.context());
    const failure: unknown = await update.catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(UserError);
    expect(failure).not.toBeInstanceOf(ResourceInitError);
  });
});

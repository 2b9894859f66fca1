import { describe, expect, test } from "vitest";
import { createProvider } from "../../../provider/dynamic/provider";
import type { PropertyMap } from "../../../provider/engine/values";
import { createProviderProcess } from "../../../provider/framework/process";
import { resourceCalls } from "../../../provider/plugin/resource-calls";
import { kinds } from "../../../provider/resources";
import { configNames } from "../../../provider/settings/setting-names";
import { clientsReturning, records } from "../../faults/support/record-server";

const none: PropertyMap = { properties: {}, secretPaths: [] };
const rows = (["v1", "v2"] as const).flatMap((dialect) =>
  (["Template", "ServerlessEndpoint", "NetworkVolume", "Secret", "ContainerRegistryAuth"] as const).map((kind) => ({
    dialect,
    kind,
  })),
);

describe.each(rows)("a refresh of a $kind that a program looks up with REST $dialect changes nothing", (row) => {
  const { dialect, kind } = row;
  const operations = kinds[kind];
  const record = { ...records[dialect][kind], ...(kind === "Template" && { env: { HUB_TOKEN: "4711" } }) };
  const urn = `urn:pulumi:dev::shop::serverless-compute:index:${kind}::chat`;
  async function startProcess() {
    const clients = await clientsReturning(dialect, kind, record);
    const connect = () => ({ clients, settings: { templateReleaseLimit: 1, names: configNames } });
    return { ...createProviderProcess(() => undefined), connect };
  }

  test("with the plugin", async () => {
    const { read } = resourceCalls(await startProcess(), { [kind]: operations });
    const call = { id: record.id, urn, timeout: 0, inputs: none };
    const lookup = await read({ ...call, properties: none });
    expect(lookup.properties?.properties).toMatchObject({ name: record.name });
    // The engine records the outputs of a lookup only.
    const refresh = await read({ ...call, properties: lookup.properties ?? none });
    expect(refresh.properties?.properties).toEqual(lookup.properties?.properties);
    expect(refresh.inputs?.properties).toEqual({});
  });

  test("with the dynamic provider", async () => {
    const { read } = createProvider(operations, await startProcess());
    const lookup = await read?.(record.id, { __urn: urn, __existing: true });
    expect(lookup?.props).toMatchObject({ name: record.name });
    expect((await read?.(record.id, lookup?.props))?.props).toEqual(lookup?.props);
  });
});

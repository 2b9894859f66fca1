import { describe, expect, test } from "vitest";
import { kinds } from "../../../provider/resources";
import { clientsReturning, records } from "../../faults/support/record-server";
import { connectedProcess } from "../../support/configured-process";
import { providerVariants } from "../../support/provider-variants";

const rows = (["v1", "v2"] as const).flatMap((dialect) =>
  (["Template", "ServerlessEndpoint", "NetworkVolume", "Secret", "ContainerRegistryAuth"] as const).map((kind) => ({
    dialect,
    kind,
  })),
);

describe.each(rows)("a refresh of a $kind that a program looks up with REST $dialect changes nothing", (row) => {
  const { dialect, kind } = row;
  const record = { ...records[dialect][kind], ...(kind === "Template" && { env: { HUB_TOKEN: "4711" } }) };

  test.each(Object.entries(providerVariants))("with the %s", async (_name, variant) => {
    const calls = variant(kinds[kind], connectedProcess(await clientsReturning(dialect, kind, record)));
    const outputs = await calls.lookUp(record.id);
    expect(outputs).toMatchObject({ name: record.name });
    // The engine records the outputs of a lookup only.
    const refreshed = await calls.read(record.id, { inputs: {}, outputs });
    expect(refreshed.outputs).toEqual(outputs);
    expect(Object.keys(refreshed.inputs).filter((key) => !key.startsWith("__"))).toEqual([]);
  });
});

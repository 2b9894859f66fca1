import { expect, test } from "vitest";
import { kinds } from "../../../../provider/resources";
import { connectedProcess } from "../../../support/configured-process";
import { useLifecycleBench } from "../../../support/lifecycle-bench";
import { providerVariants } from "../../../support/provider-variants";

const bench = await useLifecycleBench();

test.each(Object.entries(providerVariants))(
  "with the %s, a create that an error hook repeats makes no second object, but a replacement does",
  async (title, variant) => {
    const name = title.replaceAll(" ", "-");
    const calls = variant(kinds.NetworkVolume, connectedProcess(bench.context().clients), name);
    const count = async (): Promise<number> =>
      JSON.stringify(await bench.listObjects("networkvolumes")).split(`"${name}-dev-`).length - 1;
    const program = { size: 10, dataCenterId: "EU-RO-1" };
    const { inputs } = await calls.check({}, program);
    const outputs = await calls.create(inputs);
    expect(await count()).toBe(1);
    expect(await calls.create(inputs)).toEqual(outputs);
    expect(await count()).toBe(1);
    // The engine compares the resource and checks its replacement as a new one.
    await calls.check(inputs, program);
    await calls.diff("id-of-the-volume", outputs, inputs);
    const replacement = await calls.check({}, program);
    await calls.create(replacement.inputs);
    expect(await count()).toBe(2);
  },
);

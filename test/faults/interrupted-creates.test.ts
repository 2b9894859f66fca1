import { describe, expect, test } from "vitest";
import { type Properties, stringAt } from "../../provider/engine/values";
import { autoNaming } from "../../provider/framework/urn";
import { kinds } from "../../provider/resources";
import { dialect } from "../support/dialect";
import { useLifecycleBench } from "../support/lifecycle-bench";
import { naming } from "../support/naming";
import { objectCases } from "./support/kinds";

const bench = await useLifecycleBench();

describe.each(await objectCases(bench))(
  "the $kind of a killed process",
  ({ kind, news, create, collection, unique, idsOf }) => {
    const lifecycle = kinds[kind];

    /** Kills the process after the service created the object and before the response arrives; returns the object's id. */
    async function createWithLostResponse(inputs: Properties): Promise<string> {
      bench.proxy.inject(create, { kind: "clientGone", applied: true });
      await lifecycle.create(inputs, bench.context()).catch(() => undefined);
      bench.proxy.clear();
      const [id = "", ...others] = await idsOf(stringAt(inputs, "name") ?? "");
      expect([id.length > 0, others]).toEqual([true, []]);
      return id;
    }

    test("is left untouched by the next create, which generates another name and sends one request", async () => {
      const generated = (): Properties =>
        lifecycle.check({}, news, autoNaming(`urn:pulumi:dev::shop::serverless-compute:index:${kind}::left`)).inputs;
      const id = await createWithLostResponse(generated());
      bench.drainRequests();
      const inputs = generated();
      const context = bench.context();
      const second = await lifecycle.create(inputs, context);
      expect(second.id).not.toBe(id);
      expect(context.warnings).toEqual([]);
      // REST v2 endpoints also require the GPU catalog and the settings of their template.
      const isEndpointOfV2 = kind === "ServerlessEndpoint" && dialect === "v2";
      expect(bench.drainRequests()).toHaveLength(isEndpointOfV2 ? 3 : 1);
      await lifecycle.delete(second.id, second.outputs, bench.context());
      expect(await bench.listObjects(collection)).toContainEqual(expect.objectContaining({ id }));
    });

    test("is left untouched by the next create under the same program-set name, unless adoptExisting is set", async () => {
      const name = `set-${kind}`;
      const inputs = lifecycle.check({}, { ...news, name }, naming()).inputs;
      const id = await createWithLostResponse(inputs);
      const second = lifecycle.create(inputs, bench.context());
      if (unique) await expect(second).rejects.toThrow("the name is already taken");
      else {
        const { id: other, outputs } = await second;
        expect(other).not.toBe(id);
        await lifecycle.delete(other, outputs, bench.context());
      }
      const adopted = await lifecycle.create({ ...inputs, adoptExisting: true }, bench.context());
      expect(adopted.id).toBe(id);
    });
  },
);

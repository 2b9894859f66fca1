import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { checkRequest, Request } from "../../../../provider/engine/messages";
import { createProviderProcess } from "../../../../provider/framework/process";
import { configCalls } from "../../../../provider/plugin/config-calls";
import { resourceCalls } from "../../../../provider/plugin/resource-calls";
import { kinds } from "../../../../provider/resources";
import { engineProperties } from "../../../support/property-sets";

const urnOf = (kind: string): string => `urn:pulumi:dev::shop::serverless-compute:index:${kind}::lunch`;

describe("a second deployment in the same process", () => {
  const template = { name: "chat", imageName: "a:1" };
  const outdated = { ...template, isServerless: false };
  const seeded = (kind: string, news: object): Request<typeof checkRequest> => ({
    urn: urnOf(kind),
    olds: engineProperties({}),
    news: engineProperties(news),
    randomSeed: Buffer.alloc(32, 7),
    autonaming: undefined,
  });
  type Calls = ReturnType<typeof resourceCalls>;
  const properties = engineProperties(template);
  const diffOf = (calls: Calls, olds: object): unknown =>
    calls.diff({ id: "t1", urn: urnOf("Template"), olds: engineProperties(olds), news: properties });
  const previewOf = (calls: Calls) => calls.create({ urn: urnOf("Template"), properties, timeout: 0, preview: true });
  /** Calls of a deployment, in an order that leaves state behind. */
  const deployments: Record<string, (calls: Calls) => Promise<unknown>> = {
    "check a program's name": (calls) => calls.check(seeded("Template", template)),
    "check a generated name": (calls) => calls.check(seeded("Template", { imageName: "a:1" })),
    "check a suffixed name": (calls) => calls.check(seeded("Template", { ...template, replaceOnChange: true })),
    "check and compare": async (calls) => [
      await calls.check(seeded("Template", template)),
      await diffOf(calls, outdated),
    ],
    "compare, as a refresh": async (calls) => diffOf(calls, outdated),
    "preview a create": (calls) => previewOf(calls),
    "check an endpoint": (calls) => calls.check(seeded("ServerlessEndpoint", { templateId: "t", workersMax: 9 })),
  };

  /** The results and messages of the deployments, each begun by Configure, in one process. */
  async function observe(names: readonly string[]): Promise<unknown[]> {
    const messages: string[] = [];
    const host = createProviderProcess(() => undefined);
    const log = { ...host.log, warning: async (urn: string, text: string) => void messages.push(`${urn} ${text}`) };
    const loggingHost = { ...host, log };
    const calls = resourceCalls(loggingHost, kinds);
    const results: unknown[] = [];
    for (const name of names) {
      messages.length = 0;
      configCalls(loggingHost).configure({ urn: "", args: engineProperties({ preflight: "warn" }) });
      const result = await deployments[name]?.(calls);
      results.push({ result, messages: [...messages] });
    }
    return results;
  }

  const names = Object.keys(deployments);
  test.each(names.flatMap((first) => names.map((second) => [first, second])))(
    "%s; then %s: behaves as in a new process",
    async (first = "", second = "") => {
      expect((await observe([first, second]))[1]).toEqual((await observe([second]))[0]);
    },
  );

  test.each(["check a program's name", "check a generated name", "check a suffixed name"])(
    "%s: the source of the name follows from the checked inputs, in any process",
    async (name) => {
      const newCalls = (): Calls =>
        resourceCalls(
          createProviderProcess(() => undefined),
          kinds,
        );
      const observeIn = async (process: () => Calls): Promise<unknown> => {
        const { inputs } = z
          .object({ inputs: z.custom<typeof properties>() })
          .parse(await deployments[name]?.(process()));
        return [
          await process().create({ urn: urnOf("Template"), properties: inputs, timeout: 0, preview: true }),
          await process().diff({ id: "t1", urn: urnOf("Template"), olds: engineProperties(outdated), news: inputs }),
        ];
      };
      const shared = newCalls();
      expect(await observeIn(newCalls)).toEqual(await observeIn(() => shared));
    },
  );

  test("closes the connections of the first one", async () => {
    const host = createProviderProcess(() => undefined);
    const configure = () =>
      configCalls(host).configure({ urn: "", args: engineProperties({ apiKey: "k", url: "http://127.0.0.1:9" }) });
    configure();
    const { clients } = host.connect();
    configure();
    await expect(clients.management.listTemplates({})).rejects.toMatchObject({ code: "closed" });
  });
});

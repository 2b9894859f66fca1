import type { dynamic } from "@pulumi/pulumi";
import { type Clients, createClients } from "serverless-compute-api";
import { createProvider } from "../../../../provider/dynamic/provider";
import { type Cancellation, createCancellation } from "../../../../provider/engine/cancellation";
import { Unknown } from "../../../../provider/engine/values";
import type { ResourceOperations } from "../../../../provider/framework/contract";
import type { ProviderProcess } from "../../../../provider/framework/process";
import { connectedProcess } from "../../../support/configured-process";

/** The engine's marker for an unknown value. */
export const unknownText = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

/** The engine's envelope for a secret value. */
export const asSecret = (value: unknown) => ({
  "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270",
  value,
});

/** Internal inputs of a box called "lunch" in the stack "dev". */
export const internal = {
  __provider: "text",
  __urn: "urn:pulumi:dev::shop::my:Parent$pulumi-nodejs:dynamic/serverless:Box::lunch",
};

/** A kind of resource that keeps boxes in memory: `size` replaces, `label` is unique, `pin` is secret. */
export function createBoxLifecycle(overrides: Partial<ResourceOperations> = {}): ResourceOperations {
  return {
    kind: "Box",
    options: {
      pin: { secret: true },
      name: { unique: true },
      size: { replaceOnChanges: true },
      echo: { secretWith: ["note"] },
    },
    check: (_olds, news, { defaultName }) => ({
      inputs: { name: defaultName?.name ?? "nameless", ...news },
      failures: news["size"] === 0 ? [{ path: "size", reason: `0 is too small, "${String(news["pin"])}"` }] : [],
    }),
    diff: (olds, news) =>
      [...new Set([...Object.keys(olds), ...Object.keys(news)])]
        .filter((key) => olds[key] !== news[key] || news[key] === Unknown.value)
        .map((key) => ({ path: [key], kind: "update", replace: key === "size" })),
    inputWarnings: () => [],
    warnings: ({ changes }) => changes.filter(({ replace }) => replace).map(() => "its content is lost"),
    previewOutputs: (_olds, news) => news,
    create: async (inputs) => ({ id: "box-1", outputs: { ...inputs, echo: "heard" } }),
    read: async (id, olds) => ({ id, inputs: olds, outputs: { ...olds, echo: "heard" } }),
    update: async (_id, _olds, news) => ({ ...news, echo: "heard again" }),
    delete: async () => {},
    ...overrides,
  };
}

/** A provider and its observable process. */
interface Bench {
  provider: Required<dynamic.ResourceProvider>;
  cancellation: Cancellation;
  /** Texts that reached the engine, as `progress|warning urn text`. */
  messages: string[];
}

/** Clients without a service, which a box does not call. */
export function unusedClients(): Clients {
  const nowhere = "http://127.0.0.1:9";
  return createClients({ apiKey: "k", baseUrl: nowhere, graphqlUrl: nowhere, serverlessUrl: nowhere });
}

/** Creates a provider of boxes, with a real host. */
export function bench(overrides: Partial<ResourceOperations> = {}, host: Partial<ProviderProcess> = {}): Bench {
  const messages: string[] = [];
  const cancellation = createCancellation();
  const provider = createProvider(createBoxLifecycle(overrides), {
    ...connectedProcess(unusedClients()),
    log: {
      progress: (urn, text) => void messages.push(`progress ${urn} ${text}`),
      warning: async (urn, text) => void messages.push(`warning ${urn} ${text}`),
    },
    cancellation,
    ...host,
  });
  const { check, diff, create, read, update, configure, delete: remove } = provider;
  if (!check || !diff || !read || !update || !configure || !remove) throw new Error("a verb is missing");
  return { provider: { check, diff, create, read, update, configure, delete: remove }, cancellation, messages };
}

/** Returns the error that `work` throws; fails if it does not throw. */
export async function errorOf(work: () => unknown): Promise<Error> {
  try {
    await work();
  } catch (error) {
    if (error instanceof Error) return error;
    throw new Error(`threw ${String(error)}, which is not an Error`);
  }
  throw new Error("nothing was thrown");
}

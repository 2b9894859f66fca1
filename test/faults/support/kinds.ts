import type { Properties } from "../../../provider/lifecycle/contract";
import type { Kind } from "../../../provider/resources";
import type { HeldKind, LifecycleBench } from "../../support/lifecycle-bench";
import { stringAt } from "../../support/raw-http";
import type { Match } from "../../support/recording-proxy";

/** A kind that makes an object in the service. */
export type ObjectKind = Exclude<Kind, "JobInvoke">;

/** What tests need to know of a kind to make and find its objects. */
export interface ObjectCase {
  kind: ObjectKind;
  /** Inputs without a name. */
  news: Properties;
  /** Its create on the wire. */
  create: Match;
  held: HeldKind;
  /** Whether no two objects may have the same name. */
  unique: boolean;
  /** Whether the service can read a single one by its id. */
  readById: boolean;
}

const listMatches: Record<HeldKind, Match> = {
  endpoints: { method: "GET", path: "/v1/endpoints" },
  networkvolumes: { method: "GET", path: "/v1/networkvolumes" },
  templates: { body: /query podTemplates/ },
  secrets: { body: /query secrets/ },
  containerregistryauth: { body: /query registryCreds/ },
};

/** The list of a kind on the wire. */
export const listMatch = (held: HeldKind): Match => listMatches[held];

/** An answer of the service with its lists changed: a bare one of REST, or those of a GraphQL account. */
export function withLists(answer: unknown, change: (list: Record<string, unknown>[]) => unknown[]): unknown {
  if (Array.isArray(answer)) return change(answer);
  if (typeof answer !== "object" || answer === null) return answer;
  return Object.fromEntries(Object.entries(answer).map(([key, one]) => [key, withLists(one, change)]));
}

/** One case of each kind; the template that endpoints need is made by raw HTTP. */
export async function objectCases(bench: LifecycleBench): Promise<ObjectCase[]> {
  const made = await bench.rest("POST", "/templates", { name: "base", imageName: "a:1", isServerless: true });
  const templateId = stringAt(made, "id");
  return [
    {
      kind: "Template",
      news: { imageName: "a:1", env: { A: "1" } },
      create: { body: /mutation saveTemplate/ },
      held: "templates",
      unique: true,
      readById: true,
    },
    {
      kind: "ServerlessEndpoint",
      news: { templateId, gpuTypeIds: ["NVIDIA L4"], workersMax: 0 },
      create: { method: "POST", path: "/v1/endpoints" },
      held: "endpoints",
      unique: false,
      readById: true,
    },
    {
      kind: "NetworkVolume",
      news: { size: 10, dataCenterId: "EU-RO-1" },
      create: { method: "POST", path: "/v1/networkvolumes" },
      held: "networkvolumes",
      unique: false,
      readById: true,
    },
    {
      kind: "Secret",
      news: { value: "vvvv" },
      create: { body: /secretCreate/ },
      held: "secrets",
      unique: true,
      readById: false,
    },
    {
      kind: "ContainerRegistryAuth",
      news: { username: "robot", password: "pppp" },
      create: { body: /saveRegistryAuth/ },
      held: "containerregistryauth",
      unique: true,
      readById: false,
    },
  ];
}

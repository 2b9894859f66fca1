import type { Kind } from "../../../provider/lifecycle/kinds";
import type { Properties } from "../../../provider/lifecycle/lifecycle";
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
    },
    {
      kind: "ServerlessEndpoint",
      news: { templateId, gpuTypeIds: ["NVIDIA L4"], workersMax: 0 },
      create: { method: "POST", path: "/v1/endpoints" },
      held: "endpoints",
      unique: false,
    },
    {
      kind: "NetworkVolume",
      news: { size: 10, dataCenterId: "EU-RO-1" },
      create: { method: "POST", path: "/v1/networkvolumes" },
      held: "networkvolumes",
      unique: false,
    },
    { kind: "Secret", news: { value: "vvvv" }, create: { body: /secretCreate/ }, held: "secrets", unique: true },
    {
      kind: "ContainerRegistryAuth",
      news: { username: "robot", password: "pppp" },
      create: { body: /saveRegistryAuth/ },
      held: "containerregistryauth",
      unique: true,
    },
  ];
}

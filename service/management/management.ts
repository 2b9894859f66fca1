import type { Clock } from "serverless-compute-api/clock";
import type { Database } from "../store/database";
import { createEndpointStore } from "../store/endpoints";
import { createRegistryAuthStore } from "../store/registry-auths";
import { createSecretStore } from "../store/secrets";
import { createTemplateStore } from "../store/templates";
import { createVolumeStore } from "../store/volumes";
import { createEndpointLookup, type EndpointLookup } from "./endpoint-lookup";
import { createEndpoints, type Endpoints } from "./endpoints";
import type { ManagementEvents } from "./events";
import { createRegistryAuths, type RegistryAuths } from "./registry-auths";
import { createSecrets, type Secrets } from "./secrets";
import { createTemplates, type Templates } from "./templates";
import { createVolumes, type Volumes } from "./volumes";

/** The account that everything here belongs to; a local service has one. */
export const account = { id: "local", email: "local@127.0.0.1" } as const;

/** The rules of every noun, one object each; REST and GraphQL are doors to the same ones. */
export interface Management {
  templates: Templates;
  endpoints: Endpoints;
  volumes: Volumes;
  secrets: Secrets;
  registryAuths: RegistryAuths;
  /** What the job path reads of them. */
  lookup: EndpointLookup;
  /** Runs calls of several nouns whole or not at all. */
  transaction: Database["transaction"];
}

export function createManagement(deps: {
  database: Database;
  clock: Clock;
  templateRelease: number;
  events: ManagementEvents;
}): Management {
  const { database } = deps;
  const endpoints = createEndpointStore(database);
  const templates = createTemplateStore(database);
  const volumes = createVolumeStore(database);
  const secrets = createSecretStore(database);
  const registryAuths = createRegistryAuthStore(database);
  return {
    templates: createTemplates({ ...deps, templates, endpoints, registryAuths }),
    endpoints: createEndpoints({ ...deps, endpoints, templates, volumes }),
    volumes: createVolumes({ ...deps, volumes, endpoints }),
    secrets: createSecrets({ ...deps, secrets }),
    registryAuths: createRegistryAuths({ ...deps, registryAuths, templates }),
    lookup: createEndpointLookup({ ...deps, endpoints, templates, secrets }),
    transaction: database.transaction,
  };
}

import type { Clock } from "serverless-compute-api/clock";
import type { Database } from "../store/database";
import { createEndpointLookup } from "./endpoint-lookup";
import { createEndpoints, openEndpointTable } from "./endpoints";
import { createRegistryAuths } from "./registry-auths";
import { createSecrets } from "./secrets";
import { createTemplates, openTemplateTable } from "./templates";
import { createVolumes } from "./volumes";

/** The account that everything here belongs to; a local service has one. */
export const account = { id: "local", email: "local@127.0.0.1" } as const;

/** What users manage, a member for each noun. REST and GraphQL show the same ones. */
export type Resources = ReturnType<typeof createResources>;

export function createResources(deps: {
  database: Database;
  clock: Clock;
  /** Milliseconds from the last use of a template to its release. */
  templateRelease: number;
}) {
  const { database } = deps;
  const endpoints = openEndpointTable(database);
  const templates = openTemplateTable(database);
  const secrets = createSecrets(deps);
  const volumes = createVolumes({ ...deps, endpoints });
  const registryAuths = createRegistryAuths({ ...deps, templates });
  return {
    secrets,
    volumes,
    registryAuths,
    templates: createTemplates({ ...deps, table: templates, endpoints, registryAuths }),
    endpoints: createEndpoints({ ...deps, table: endpoints, templates, volumes }),
    /** What the job path reads, and what it listens to. */
    lookup: createEndpointLookup({ endpoints, templates, secrets }),
    events: endpoints.events,
    /** Runs calls of several nouns whole or not at all. */
    transaction: database.transaction,
  };
}

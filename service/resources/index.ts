import type { SystemClock } from "../steady-clock";
import type { Database } from "../store/database";
import { openAccountSettings } from "./account";
import { createDelegations } from "./delegations";
import { createEndpointContainers } from "./endpoint-containers";
import { createEndpointLookup } from "./endpoint-lookup";
import { openEndpointTable } from "./endpoint-table";
import { createEndpoints } from "./endpoints";
import { createRegistryAuths } from "./registry-auths";
import { openReleases } from "./releases";
import { createSecrets } from "./secrets";
import { createStock, type StockEntries } from "./stock";
import { openTemplateTable } from "./template-table";
import { createTemplates } from "./templates";
import { createVolumes } from "./volumes";

/** The resources managed by users, shared by REST and GraphQL. */
export type Resources = ReturnType<typeof createResources>;

export function createResources(deps: {
  database: Database;
  clock: SystemClock;
  /** Time from the last use of a template to its release, ms. */
  templateRelease: number;
  stock: StockEntries;
  /** Maximum sum of `workersMax` over all endpoints; undefined for no limit. */
  workerQuota(): number | undefined;
}) {
  const { database } = deps;
  const templates = openTemplateTable(database);
  const releases = openReleases(database);
  const table = openEndpointTable({ ...deps, templates, releases });
  const secrets = createSecrets(deps);
  const volumes = createVolumes({ ...deps, endpoints: table });
  const registryAuths = createRegistryAuths({ ...deps, templates });
  const checkedTemplates = createTemplates({ ...deps, table: templates, endpoints: table, registryAuths });
  const endpoints = createEndpoints({ ...deps, table, templates: checkedTemplates, volumes });
  const stock = createStock(deps.stock, volumes);
  const accountSettings = openAccountSettings(database);
  const delegations = createDelegations(deps);
  return {
    accountSettings,
    secrets,
    volumes,
    registryAuths,
    stock,
    delegations,
    templates: checkedTemplates,
    endpoints,
    endpointContainers: createEndpointContainers({ ...deps, endpoints, templates: checkedTemplates }),
    releases: releases.of,
    /** Read access and events for the job path. */
    lookup: createEndpointLookup({ endpoints: table, templates, secrets, registryAuths, volumes, releases, stock }),
    events: table.events,
    /** Reads all rows; throws if one is damaged. */
    checkRows(): void {
      for (const { list } of [secrets, volumes, registryAuths, delegations, templates, table]) list();
      accountSettings.get();
    },
    /** Runs changes of several resources in one transaction. */
    transaction: database.transaction,
  };
}

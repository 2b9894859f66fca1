import { buildSchema, type DocumentNode, execute, GraphQLError, Kind, OperationTypeNode, validate } from "graphql";
import type { Logger } from "pino";
import { cpuFlavors, dataCenters, gpuTypes } from "serverless-compute-api/catalog";
import { restNetworkVolumeCreate, secretCreateInput, secretValueInput } from "serverless-compute-api/shapes";
import { z } from "zod";
import { ServiceError } from "../../errors";
import type { Resources } from "../../resources";
import { gpuPools } from "../../resources/catalog";
import type { EndpointRow } from "../../resources/endpoint-table";
import { withoutNulls } from "../../resources/table";
import type { TemplateRow } from "../../resources/template-table";
import { volumeChange } from "../../resources/volumes";
import { parseInput } from "../../validation";
import { graphqlAccount } from "./account";
import { graphqlEndpoint, parseGraphqlEndpoint, readGraphqlEndpoint } from "./endpoint";
import { cpuFlavorRecord, dataCenterRecord, gpuAvailability, gpuTypeRecord } from "./graphql-catalog";
import { graphqlBounds, readDocument } from "./graphql-document";
import { publicError } from "./graphql-errors";
import { graphqlSchema } from "./graphql-schema";
import { graphqlSecret } from "./secret";
import { graphqlTemplate, readGraphqlServerlessTemplate, readGraphqlTemplate } from "./template";
import { rejectCreate } from "./unsupported-kinds";

const graphqlRequest = z.object({
  query: z.string(),
  variables: z.record(z.string(), z.unknown()).nullish(),
  operationName: z.string().nullish(),
});

const schema = buildSchema(graphqlSchema);

/**
 * Executes a GraphQL request (interface: GraphQL API). As on the hosted service, the status is 400 if the request cannot be executed and
 * 200 otherwise, even if fields fail.
 */
export async function executeGraphql(
  body: unknown,
  {
    resources,
    log,
    deleteNeedsScaleDown,
    requireKey,
  }: {
    resources: Resources;
    log: Pick<Logger, "error">;
    /** True if endpoints that still allow workers cannot be deleted. */
    deleteNeedsScaleDown: boolean;
    /** Rejects a request without a key, unless it is public; undefined with a key. */
    requireKey: (() => void) | undefined;
  },
): Promise<{ status: 200 | 400; body: object }> {
  const report = (fault: unknown): void => log.error({ err: fault }, "graphql: field failed");
  const { data, errors } = await executeRequest(createResolvers(resources, deleteNeedsScaleDown), body, requireKey);
  if (!errors?.length) return { status: 200, body: { data } };
  // Clients of the hosted service expect `data` to be null if there are errors.
  const errorBody = { data: null, errors: errors.map((error) => publicError(error, report)) };
  const isExecuted = errors.some((error) => error instanceof GraphQLError && error.path);
  return { status: isExecuted ? 200 : 400, body: errorBody };
}

/** Fields that do not require a key, as on the hosted service. */
const catalogFields = new Set(["gpuTypes", "cpuFlavors", "dataCenters", "serverlessGpuPools", "__typename"]);

/** Returns whether a document selects only the catalog. */
const isCatalogQuery = ({ definitions }: DocumentNode): boolean =>
  definitions.every(
    (definition) =>
      definition.kind === Kind.OPERATION_DEFINITION &&
      definition.operation === OperationTypeNode.QUERY &&
      definition.selectionSet.selections.every(
        (selection) => selection.kind === Kind.FIELD && catalogFields.has(selection.name.value),
      ),
  );

function readRequest(body: unknown, maxTokens: number) {
  const { query, variables, operationName } = parseInput(graphqlRequest, body);
  const document = readDocument(query, maxTokens);
  return { schema, document, variableValues: variables, operationName, errors: validate(schema, document) };
}

/**
 * Executes a request. A short document that selects only the catalog requires no key, and neither does one that fails validation, which the
 * hosted service checks first.
 */
async function executeRequest(
  rootValue: object,
  body: unknown,
  requireKey: (() => void) | undefined,
): Promise<{ data?: unknown; errors?: readonly unknown[] }> {
  let request: ReturnType<typeof readRequest>;
  try {
    request = readRequest(body, requireKey ? graphqlBounds.tokensWithoutKey : graphqlBounds.tokens);
  } catch (error) {
    requireKey?.();
    return { errors: [error] };
  }
  if (request.errors.length > 0) return { errors: request.errors };
  if (!isCatalogQuery(request.document)) requireKey?.();
  return execute({ ...request, rootValue });
}

/** Arguments of the schema's types; the resources validate them by their shapes. */
type Input<Fields = unknown> = { input?: Fields | null };
type ById = { id: string };
type Filter = Input<{ id?: string | null; ids?: (string | null)[] | null }>;

/** Resolvers of one request's queries and mutations, by name. */
function createResolvers(resources: Resources, needsScaleDown: boolean) {
  const { templates, endpoints, volumes, secrets, registryAuths, accountSettings, stock, transaction } = resources;
  let readCount = 0;
  const countRows = <Row>(rows: Row[]): Row[] => {
    readCount += rows.length + 1;
    if (readCount <= graphqlBounds.objects) return rows;
    throw new ServiceError("invalid", `query: reads more than ${graphqlBounds.objects} objects; request fewer objects`);
  };
  /** The members of a catalog list that match a filter. */
  const filterCatalog = <Member extends ById>(list: Member[], filter: Filter["input"]): Member[] => {
    const ids = filter?.ids ?? (filter?.id ? [filter.id] : undefined);
    const selected = ids && new Set(countRows(ids));
    return countRows(list).filter(({ id }) => !selected || selected.has(id));
  };

  const saveTemplate = (input: object | null | undefined): TemplateRow => {
    const { id, changes } = readGraphqlTemplate(requireArgument("input", input));
    return id === undefined ? templates.create(changes) : templates.update(id, changes);
  };

  const saveEndpoint = (input: object): EndpointRow =>
    transaction(() => {
      const values = parseGraphqlEndpoint(input);
      const { id, template } = values;
      const templateId = template ? templates.create(readGraphqlServerlessTemplate(template)).id : values.templateId;
      if (!id) return endpoints.create(readGraphqlEndpoint(values, templateId, undefined));
      return endpoints.replace(id, readGraphqlEndpoint(values, templateId, endpoints.get(id)));
    });

  /** An endpoint whose template and volumes are read only if the query selects them. */
  const endpointOf = (endpoint: EndpointRow) => ({
    ...graphqlEndpoint(endpoint),
    template: () => countRows([orNull(templates.find(endpoint.templateId), graphqlTemplate)])[0],
    networkVolume: () => (endpoint.networkVolumeId ? volumes.get(endpoint.networkVolumeId) : null),
    networkVolumeIds: () =>
      countRows(endpoint.networkVolumeIds).map((id) => ({
        networkVolumeId: id,
        dataCenterId: () => volumes.find(id)?.dataCenterId,
      })),
  });

  return {
    myself: () => ({
      ...graphqlAccount(accountSettings.get()),
      maxServerlessConcurrency: () => endpoints.quota().limit,
      podTemplates: () => countRows(templates.list()).map(graphqlTemplate),
      pods: [],
      endpoints: () => countRows(endpoints.list()).map(endpointOf),
      endpoint: ({ id }: ById) => orNull(endpoints.find(id), endpointOf),
      networkVolumes: () => countRows(volumes.list()),
      secrets: () => countRows(secrets.list()).map(graphqlSecret),
      containerRegistryCreds: () => countRows(registryAuths.list()),
    }),
    podTemplates: ({ input }: Input<{ ids?: (string | null)[] | null }>) =>
      countRows(templates.list())
        .filter(({ id }) => !input?.ids || input.ids.includes(id))
        .map(graphqlTemplate),
    pod: null,
    podTemplate: ({ id }: ById) => orNull(templates.find(id), graphqlTemplate),
    serverlessGpuPools: () => gpuPools,
    gpuTypes: ({ input }: Filter) => filterCatalog(gpuTypes, input).map((type) => gpuTypeRecord(type, stock.level)),
    cpuFlavors: ({ input }: Filter) =>
      filterCatalog(cpuFlavors, input).map((flavor) => cpuFlavorRecord(flavor, stock.level)),
    dataCenters: () =>
      countRows(dataCenters).map((center) => ({
        ...dataCenterRecord(center),
        gpuAvailability: () => countRows(gpuAvailability(center.id, stock.level)),
      })),

    saveTemplate: ({ input }: Input<object>) => graphqlTemplate(saveTemplate(input)),
    deleteTemplate: ({ templateName }: { templateName?: string | null }) =>
      templates.removeByName(requireArgument("templateName", templateName, "a string")),
    saveEndpoint: ({ input }: { input: object }) => endpointOf(saveEndpoint(input)),
    deleteEndpoint: ({ id }: ById) => endpoints.remove(id, { needsScaleDown }),
    updateEndpointTemplate: ({ input }: Input<{ endpointId: string; templateId: string }>) => {
      const { endpointId, templateId } = requireArgument("input", input);
      return endpointOf(endpoints.update(endpointId, { templateId }));
    },
    podFindAndDeployOnDemand: () => rejectCreate("pod"),
    podRentInterruptable: () => rejectCreate("pod"),
    deployCpuPod: () => rejectCreate("pod"),
    updateUserSettings: ({ input }: Input<object>) =>
      graphqlAccount(accountSettings.update(requireArgument("input", input))),
    secretCreate: ({ input }: Input) => graphqlSecret(secrets.create(parseInput(secretCreateInput, input))),
    secretValueUpdate: ({ input }: Input) => graphqlSecret(secrets.updateValue(parseInput(secretValueInput, input))),
    secretDescriptionUpdate: ({ input }: { input: ById & { description: string } }) =>
      graphqlSecret(secrets.updateDescription(input)),
    secretDelete: ({ id }: ById) => secrets.remove(id),
    createNetworkVolume: ({ input }: Input) => volumes.create(parseInput(restNetworkVolumeCreate, input)),
    updateNetworkVolume: ({ input: { id, ...body } }: { input: ById }) =>
      volumes.update(id, parseInput(volumeChange, withoutNulls(body))),
    deleteNetworkVolume: ({ input }: { input: ById }) => volumes.remove(input.id),
    saveRegistryAuth: ({ input }: Input) => registryAuths.create(requireArgument("input", input)),
    updateRegistryAuth: ({ input }: Input) => registryAuths.update(requireArgument("input", input)),
    deleteRegistryAuth: ({ registryAuthId }: { registryAuthId?: string | null }) =>
      registryAuths.remove(requireArgument("registryAuthId", registryAuthId, "a string")),
  };
}

/** Returns a required argument that is nullable in the schema; throws a ServiceError `invalid` if it is null. */
function requireArgument<Value>(name: string, value: Value | null | undefined, kind = "an object"): Value {
  if (value === null || value === undefined)
    throw new ServiceError("invalid", `${name}: is required and must be ${kind}`);
  return value;
}

/** The record of an object; null if the object does not exist. */
const orNull = <Row, Record>(row: Row | undefined, record: (row: Row) => Record): Record | null =>
  row === undefined ? null : record(row);

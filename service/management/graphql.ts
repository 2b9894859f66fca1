import type { FastifyInstance } from "fastify";
import { buildSchema, execute, parse, validate } from "graphql";
import type { Logger } from "pino";
import { z } from "zod";
import { ServiceError } from "../errors";
import type { EndpointRow } from "../store/endpoints";
import type { TemplateRow } from "../store/templates";
import { parseInput } from "../validation";
import { withChanges } from "./changes";
import { gpuPools } from "./gpu-pools";
import { tellableError } from "./graphql-errors";
import {
  endpointAnswer,
  endpointFromGraphql,
  readEndpointInput,
  secretAnswer,
  templateAnswer,
  templateFromGraphql,
} from "./graphql-records";
import { graphqlSchema } from "./graphql-schema";
import { account, type Management } from "./management";

/** Arguments as the schema let them through; the rules read them by their shapes. */
type Input = { input: unknown };
type ById = { id: string };

/** Body of a request. */
const graphqlRequest = z.object({
  query: z.string(),
  variables: z.record(z.string(), z.unknown()).nullish(),
  operationName: z.string().nullish(),
});

const schema = buildSchema(graphqlSchema);

/**
 * Bounds of one request, far above what clients ask for. Reading and answering it keeps the whole service from doing anything
 * else: a query of a megabyte of aliases took more than a minute.
 */
const most = { tokens: 10_000, objects: 10_000 } as const;

/** The GraphQL API (interface: GraphQL API) under `path`. Client errors have the status 200, as on the hosted service. */
export function registerGraphqlRoute(
  app: FastifyInstance,
  path: string,
  management: Management,
  log: Pick<Logger, "error">,
): void {
  const report = (fault: unknown): void => log.error({ err: fault }, "graphql");
  app.post(path, async ({ body }) => {
    const { data, errors } = await run(management, body);
    // Clients of the hosted service take `data` for null wherever there are errors.
    return errors?.length ? { data: null, errors: errors.map((error) => tellableError(error, report)) } : { data };
  });
}

async function run(management: Management, body: unknown): Promise<{ data?: unknown; errors?: readonly unknown[] }> {
  try {
    const { query, variables, operationName } = parseInput(graphqlRequest, body);
    const document = parse(query, { maxTokens: most.tokens });
    const errors = validate(schema, document);
    if (errors.length > 0) return { errors };
    const rootValue = rootOf(management);
    return await execute({ schema, document, rootValue, variableValues: variables, operationName });
  } catch (error) {
    return { errors: [error] };
  }
}

/** What the fields of queries and mutations do in one request, by name. */
function rootOf(management: Management) {
  const { templates, endpoints, volumes, secrets, registryAuths } = management;
  let read = 0;
  const counted = <Row>(rows: Row[]): Row[] => {
    read += rows.length + 1;
    if (read <= most.objects) return rows;
    throw new ServiceError("invalid", `query: reads more than ${most.objects} objects; ask for less at once`);
  };

  const saveTemplate = (input: unknown): TemplateRow => {
    const { id, values } = templateFromGraphql(input);
    return id === undefined ? templates.create(values) : templates.update(id, values);
  };

  const saveEndpoint = (input: unknown): EndpointRow =>
    management.transaction(() => {
      const read = readEndpointInput(input);
      const { id, template } = read;
      const templateId = template === undefined ? read.templateId : saveTemplate(template).id;
      if (!id) return endpoints.create(endpointFromGraphql(read, templateId, undefined));
      return endpoints.replace(id, endpointFromGraphql(read, templateId, endpoints.get(id)));
    });

  /** Its template and volume are looked up only where they are asked for. */
  const endpointOf = (endpoint: EndpointRow) => ({
    ...endpointAnswer(endpoint),
    template: () => counted([found(templates.find(endpoint.templateId), templateAnswer)])[0],
    networkVolume: () => (endpoint.networkVolumeId ? volumes.get(endpoint.networkVolumeId) : null),
  });

  return {
    myself: () => ({
      ...account,
      podTemplates: () => counted(templates.list()).map(templateAnswer),
      endpoints: () => counted(endpoints.list()).map(endpointOf),
      endpoint: ({ id }: ById) => found(endpoints.find(id), endpointOf),
      networkVolumes: () => counted(volumes.list()),
      secrets: () => counted(secrets.list()).map(secretAnswer),
      containerRegistryCreds: () => counted(registryAuths.list()),
    }),
    podTemplate: ({ id }: ById) => found(templates.find(id), templateAnswer),
    serverlessGpuPools: () => gpuPools,

    saveTemplate: ({ input }: Input) => templateAnswer(saveTemplate(input)),
    deleteTemplate: ({ templateName }: { templateName?: string | null }) => {
      if (!templateName) throw new ServiceError("invalid", "templateName: is required, must be a string");
      return nothing(() => templates.removeByName(templateName));
    },
    saveEndpoint: ({ input }: Input) => endpointOf(saveEndpoint(input)),
    deleteEndpoint: ({ id }: ById) => nothing(() => endpoints.remove(id, { needsScaleDown: true })),
    updateEndpointTemplate: ({ input }: { input: { endpointId: string; templateId: string } }) =>
      endpointOf(endpoints.update(input.endpointId, { templateId: input.templateId })),
    secretCreate: ({ input }: Input) => secretAnswer(secrets.create(input)),
    secretValueUpdate: ({ input }: Input) => secretAnswer(secrets.updateValue(input)),
    secretDescriptionUpdate: ({ input }: Input) => secretAnswer(secrets.updateDescription(input)),
    secretDelete: ({ id }: ById) => nothing(() => secrets.remove(id)),
    createNetworkVolume: ({ input }: Input) => volumes.create(input),
    updateNetworkVolume: ({ input: { id, ...body } }: { input: ById }) => volumes.update(id, withChanges({}, body)),
    deleteNetworkVolume: ({ input }: { input: ById }) => nothing(() => volumes.remove(input.id)),
    saveRegistryAuth: ({ input }: Input) => registryAuths.create(input),
    updateRegistryAuth: ({ input }: Input) => registryAuths.update(input),
    deleteRegistryAuth: ({ registryAuthId }: { registryAuthId: string }) =>
      nothing(() => registryAuths.remove(registryAuthId)),
  };
}

/** Absent objects are null in GraphQL. */
const found = <Row, Answer>(row: Row | undefined, answer: (row: Row) => Answer): Answer | null =>
  row === undefined ? null : answer(row);

/** The answer of a mutation that answers nothing. */
function nothing(work: () => void): null {
  work();
  return null;
}

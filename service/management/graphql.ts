import type { FastifyInstance } from "fastify";
import { createSchema, createYoga, type Plugin } from "graphql-yoga";
import type { Logger } from "pino";
import { ServiceError } from "../errors";
import type { EndpointRow } from "../store/endpoints";
import type { TemplateRow } from "../store/templates";
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

/** The GraphQL API (interface: GraphQL API) under `path`. */
export function registerGraphqlRoute(
  app: FastifyInstance,
  path: string,
  management: Management,
  log: Pick<Logger, "error">,
): void {
  const yoga = createYoga({
    schema: createSchema({ typeDefs: graphqlSchema, resolvers: resolversOf(management) }),
    graphqlEndpoint: path,
    graphiql: false,
    landingPage: false,
    logging: false,
    cors: false,
    maskedErrors: false,
    plugins: [tellErrors((fault) => log.error({ err: fault }, "graphql"))],
  });
  app.post(path, async (request, reply) => {
    // Asked for plain JSON, the library answers client errors with 200, as the hosted service does.
    const headers = { "content-type": "application/json", accept: "application/json" };
    const body = JSON.stringify(request.body ?? {});
    const response = await yoga.fetch(`http://localhost${path}`, { method: "POST", headers, body });
    const answer = await response.text();
    return reply.status(response.status).type("application/json; charset=utf-8").send(answer);
  });
}

/** Every result with errors, whatever stage it comes from: clients of the hosted service take its `data` for null. */
const tellErrors = (report: (error: unknown) => void): Plugin => ({
  onResultProcess: ({ result, setResult }) => {
    if (!("errors" in result) || !result.errors?.length) return;
    setResult({ data: null, errors: result.errors.map((error) => tellableError(error, report)) });
  },
});

function resolversOf(management: Management) {
  const { templates, endpoints, volumes, secrets, registryAuths } = management;

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

  return {
    Query: {
      myself: () => ({
        ...account,
        podTemplates: () => templates.list().map(templateAnswer),
        endpoints: () => endpoints.list().map(endpointAnswer),
        endpoint: ({ id }: ById) => found(endpoints.find(id), endpointAnswer),
        networkVolumes: () => volumes.list(),
        secrets: () => secrets.list().map(secretAnswer),
        containerRegistryCreds: () => registryAuths.list(),
      }),
      podTemplate: (_: unknown, { id }: ById) => found(templates.find(id), templateAnswer),
      serverlessGpuPools: () => gpuPools,
    },
    Endpoint: {
      template: ({ templateId }: { templateId: string }) => found(templates.find(templateId), templateAnswer),
      networkVolume: ({ networkVolumeId }: { networkVolumeId?: string }) =>
        networkVolumeId ? volumes.get(networkVolumeId) : null,
    },
    Mutation: {
      saveTemplate: (_: unknown, { input }: Input) => templateAnswer(saveTemplate(input)),
      deleteTemplate: (_: unknown, { templateName }: { templateName?: string | null }) => {
        if (!templateName) throw new ServiceError("invalid", "templateName: is required, must be a string");
        return nothing(() => templates.removeByName(templateName));
      },
      saveEndpoint: (_: unknown, { input }: Input) => endpointAnswer(saveEndpoint(input)),
      deleteEndpoint: (_: unknown, { id }: ById) => nothing(() => endpoints.remove(id, { needsScaleDown: true })),
      updateEndpointTemplate: (_: unknown, { input }: { input: { endpointId: string; templateId: string } }) =>
        endpointAnswer(endpoints.update(input.endpointId, { templateId: input.templateId })),
      secretCreate: (_: unknown, { input }: Input) => secretAnswer(secrets.create(input)),
      secretValueUpdate: (_: unknown, { input }: Input) => secretAnswer(secrets.updateValue(input)),
      secretDescriptionUpdate: (_: unknown, { input }: Input) => secretAnswer(secrets.updateDescription(input)),
      secretDelete: (_: unknown, { id }: ById) => nothing(() => secrets.remove(id)),
      createNetworkVolume: (_: unknown, { input }: Input) => volumes.create(input),
      updateNetworkVolume: (_: unknown, { input: { id, ...body } }: { input: ById }) =>
        volumes.update(id, withChanges({}, body)),
      deleteNetworkVolume: (_: unknown, { input }: { input: ById }) => nothing(() => volumes.remove(input.id)),
      saveRegistryAuth: (_: unknown, { input }: Input) => registryAuths.create(input),
      updateRegistryAuth: (_: unknown, { input }: Input) => registryAuths.update(input),
      deleteRegistryAuth: (_: unknown, { registryAuthId }: { registryAuthId: string }) =>
        nothing(() => registryAuths.remove(registryAuthId)),
    },
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

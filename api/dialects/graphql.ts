import { z } from "zod";
import { requestInfo, requireId } from "../address";
import { type ApiError, classifyResponse, isApiError } from "../errors";
import type { CallOptions, ManagementClient } from "../management";
import { longValues } from "../redaction";
import {
  optionsOf,
  registryAuthRecord,
  secretRecord,
  type TemplateSettings,
  templateFields,
  templateRecord,
} from "../shapes";
import type { Transport } from "../transport";
import { createGraphqlCalls, type GraphqlOperation } from "./graphql-calls";
import { createGraphqlCatalog } from "./graphql-catalog";

/** Template fields that every service has, or with `isOptional`, fields that a service may lack. */
const fieldsOf = (isOptional: boolean): string[] =>
  Object.entries(templateFields).flatMap(([name, field]) => {
    const { dialect, optionalInGraphql = false } = optionsOf(field);
    return dialect !== "v2" && optionalInGraphql === isOptional ? [name] : [];
  });

/** Template fields in every query. */
const requiredFields = fieldsOf(false);

/** Template fields that only the read before an update selects. */
const optionalFields = [...fieldsOf(true), "portsConfig", "startScript", "advancedStart", "config"];

const subfields: Record<string, string> = { env: " { key value }", portsConfig: " { name port }" };
const selection = (fields: readonly string[]): string =>
  ["id", ...requiredFields, ...fields].map((field) => field + (subfields[field] ?? "")).join(" ");
const templateSelection = selection([]);

/** The query texts; values are passed as variables, never inserted into the texts. */
const documents = {
  saveTemplate: `mutation saveTemplate($input: SaveTemplateInput!) { saveTemplate(input: $input) { ${templateSelection} } }`,
  podTemplate: `query podTemplate($id: String!) { podTemplate(id: $id) { ${templateSelection} } }`,
  podTemplates: `query podTemplates { myself { podTemplates { ${templateSelection} } } }`,
  deleteTemplate: "mutation deleteTemplate($name: String!) { deleteTemplate(templateName: $name) }",
  secrets: "query secrets { myself { secrets { id name description createdAt } } }",
  // The names of the input types for secrets are not documented, so each field is a separate variable.
  secretCreate: `mutation secretCreate($name: String!, $value: String!, $description: String) {
    secretCreate(input: { name: $name, value: $value, description: $description }) { id name description } }`,
  secretValueUpdate: `mutation secretValueUpdate($id: ID!, $value: String!) {
    secretValueUpdate(input: { id: $id, value: $value }) { id } }`,
  secretDescriptionUpdate: `mutation secretDescriptionUpdate($id: ID!, $description: String!) {
    secretDescriptionUpdate(input: { id: $id, description: $description }) { id } }`,
  secretDelete: "mutation secretDelete($id: ID!) { secretDelete(id: $id) }",
  registryCreds: "query registryCreds { myself { containerRegistryCreds { id name } } }",
  saveRegistryAuth: `mutation saveRegistryAuth($name: String!, $username: String!, $password: String!) {
    saveRegistryAuth(input: { name: $name, username: $username, password: $password }) { id name } }`,
  updateRegistryAuth: `mutation updateRegistryAuth($id: String!, $username: String!, $password: String!) {
    updateRegistryAuth(input: { id: $id, username: $username, password: $password }) { id } }`,
  deleteRegistryAuth: "mutation deleteRegistryAuth($id: String!) { deleteRegistryAuth(registryAuthId: $id) }",
} as const;

/** The data of a mutation whose result is not used. Every response has data. */
const anyData = z.looseObject({});

const entriesOf = (env: Readonly<Record<string, string>>) =>
  Object.entries(env).map(([key, value]) => ({ key, value }));

/** Changes in the form of saveTemplate, which has no CUDA versions: the environment as a list, an empty string for no credentials. */
const toSaveInput = ({ env = {}, containerRegistryAuthId, allowedCudaVersions: _, ...rest }: TemplateSettings) => ({
  ...rest,
  env: entriesOf(env),
  ...(containerRegistryAuthId === undefined ? {} : { containerRegistryAuthId: containerRegistryAuthId ?? "" }),
});

/** Creates the GraphQL client (interface: GraphQL API). The key is sent in a header, because URLs appear in logs. */
export function createGraphqlManagement(transport: Transport, graphqlUrl: string) {
  const calls = createGraphqlCalls(transport, graphqlUrl);
  type Name = keyof typeof documents;
  type Operation<Shape extends z.ZodType> = Omit<GraphqlOperation<Shape>, "document"> & { name: Name };
  const send = <Shape extends z.ZodType>(operation: Operation<Shape>, options?: CallOptions) =>
    calls.send({ document: documents[operation.name], ...operation }, options);
  const list = <Shape extends z.ZodType>(name: Name, key: string, shape: Shape, options: CallOptions | undefined) =>
    calls.list({ name, document: documents[name] }, key, shape, options);

  const infoOf = (operation: Name) => requestInfo({ method: "POST", url: graphqlUrl, operation });

  /** Sends a mutation of an object that can safely be sent twice. Its result is not used. */
  async function change(
    name: Name,
    subject: string,
    { id, ...values }: { id: string } & Record<string, string>,
    options: CallOptions | undefined,
    secrets: readonly string[] = [],
  ): Promise<void> {
    const variables = { id: requireId(id, subject, infoOf(name)), ...values };
    await send({ name, variables, shape: anyData, idempotent: true, secrets }, options);
  }

  async function saveTemplate(input: { id?: string; env: { key: string; value: string }[] }, options?: CallOptions) {
    const shape = z.looseObject({ saveTemplate: templateRecord });
    const secrets = longValues(input.env.map(({ value }) => value));
    const idempotent = input.id !== undefined;
    const response = await send({ name: "saveTemplate", variables: { input }, shape, idempotent, secrets }, options);
    return response.saveTemplate;
  }

  /** Optional template fields that this service supports, narrowed after rejected queries. */
  let supportedOptionalFields = optionalFields;

  /** Reads a template with every field known to this client. */
  async function readFullTemplate(id: string, options?: CallOptions) {
    const shape = z.looseObject({ podTemplate: templateRecord.unwrap().loose().nullish() });
    for (;;) {
      const requested = supportedOptionalFields;
      const document = `query podTemplate($id: String!) { podTemplate(id: $id) { ${selection(requested)} } }`;
      try {
        const operation = { name: "podTemplate", document, variables: { id }, shape, idempotent: true } as const;
        const response = await calls.send(operation, options);
        if (response.podTemplate) return response.podTemplate;
      } catch (error) {
        if (!isApiError(error) || error.code !== "unknown_field") throw error;
        const { field: rejectedField } = error;
        if (!requested.some((field) => field === rejectedField)) throw error;
        supportedOptionalFields = supportedOptionalFields.filter((field) => field !== rejectedField);
        continue;
      }
      throw missingTemplate(id);
    }
  }

  async function readTemplate(id: string, options?: CallOptions) {
    const variables = { id: requireId(id, "template", infoOf("podTemplate")) };
    const shape = z.looseObject({ podTemplate: templateRecord.nullish() });
    try {
      const response = await send({ name: "podTemplate", variables, shape, idempotent: true }, options);
      return response.podTemplate ?? undefined;
    } catch (error) {
      if (isApiError(error, "missing")) return undefined;
      throw error;
    }
  }

  const missingTemplate = (id: string): ApiError =>
    classifyResponse({ status: 200, text: `template "${id}" not found` }, infoOf("podTemplate"));

  return {
    createTemplate: ({ containerRegistryAuthId, ...rest }, options) => {
      const credentials = containerRegistryAuthId ? { containerRegistryAuthId } : {};
      return saveTemplate(toSaveInput({ volumeInGb: 0, dockerArgs: "", ...rest, ...credentials }), options);
    },
    async updateTemplate(id, changes, options) {
      const current = await readFullTemplate(requireId(id, "template", infoOf("podTemplate")), options);
      const currentFields: Record<string, unknown> = current;
      const currentEntries = [...requiredFields, ...supportedOptionalFields].map((field) => [
        field,
        currentFields[field],
      ]);
      const currentSettings = Object.fromEntries(currentEntries.filter(([, value]) => (value ?? null) !== null));
      return saveTemplate(
        {
          id,
          ...toSaveInput({
            containerRegistryAuthId: "",
            ...currentSettings,
            ...changes,
            env: changes.env ?? current.env,
          }),
        },
        options,
      );
    },
    readTemplate,
    listTemplates: (options) => list("podTemplates", "podTemplates", templateRecord, options),
    async deleteTemplate(id, options) {
      const template = await readTemplate(id, options);
      if (!template) throw missingTemplate(id);
      const variables = { name: template.name };
      // A retry after a lost response could delete another template that has since taken the name.
      await send({ name: "deleteTemplate", variables, shape: anyData, idempotent: false }, options);
    },
    async createSecret({ name, value, description }, options) {
      const shape = z.looseObject({ secretCreate: secretRecord });
      const variables = { name, value, description };
      const response = await send(
        { name: "secretCreate", variables, shape, idempotent: false, secrets: [value] },
        options,
      );
      return response.secretCreate;
    },
    listSecrets: (options) => list("secrets", "secrets", secretRecord, options),
    updateSecretValue: ({ id, value }, options) =>
      change("secretValueUpdate", "secret", { id, value }, options, [value]),
    updateSecretDescription: ({ id, description }, options) =>
      change("secretDescriptionUpdate", "secret", { id, description }, options),
    deleteSecret: (id, options) => change("secretDelete", "secret", { id }, options),

    async createRegistryAuth({ name, username, password }, options) {
      const shape = z.looseObject({ saveRegistryAuth: registryAuthRecord });
      const variables = { name, username, password };
      const operation = { name: "saveRegistryAuth", variables, shape, idempotent: false, secrets: [password] } as const;
      return (await send(operation, options)).saveRegistryAuth;
    },
    listRegistryAuths: (options) => list("registryCreds", "containerRegistryCreds", registryAuthRecord, options),
    updateRegistryAuth: ({ id, username, password }, options) =>
      change("updateRegistryAuth", "registry auth", { id, username, password }, options, [password]),
    deleteRegistryAuth: (id, options) => change("deleteRegistryAuth", "registry auth", { id }, options),

    ...createGraphqlCatalog(calls),
  } satisfies Partial<ManagementClient>;
}

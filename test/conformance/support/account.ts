import { randomBytes } from "node:crypto";
import { afterAll, type TestContext } from "vitest";
import type { JobApi } from "../../support/job-api";
import type { Fields } from "../../support/local-service";
import { type RawApi, rawApi } from "../../support/raw-api";
import { expectResponse, pollUntil, type RawResponse, stringAt } from "../../support/raw-http";
import type { HandlerName, Target } from "../../support/target";

/** Input of `saveTemplate`; tests change single fields. */
export const templateFields = (fields: Fields = {}): Fields => ({
  name: uniqueName("template"),
  imageName: "conformance/none:1",
  containerDiskInGb: 5,
  volumeInGb: 0,
  dockerArgs: "",
  env: [],
  isServerless: true,
  ...fields,
});

/** A name that is unique across runs. */
export const uniqueName = (what: string): string => `conf-${what}-${randomBytes(5).toString("hex")}`;

/** A value in the syntax of a GraphQL query: JSON with unquoted keys. */
export function literal(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(literal).join(", ")}]`;
  if (!(value instanceof Object)) return JSON.stringify(value ?? null);
  const fields = Object.entries(value).filter(([, inner]) => inner !== undefined);
  return `{${fields.map(([key, inner]) => `${key}: ${literal(inner)}`).join(", ")}}`;
}

/** The tests' account, accessed by raw requests. Its objects are deleted after the file's last test. */
export interface Account extends Pick<RawApi, "rest" | "graphql" | "jobs"> {
  /** Creates a template by saveTemplate and returns its id. */
  template(fields?: Fields): Promise<string>;
  /** Registers a template that a test created in another way for deletion with the account. */
  discardTemplate(name: string): void;
  /** Creates an endpoint by POST /endpoints and returns its id. Creates a template if `templateId` is missing. */
  endpoint(fields?: Fields): Promise<string>;
  volume(fields?: Fields): Promise<string>;
  secret(fields?: Fields): Promise<string>;
  /** The job API of a new endpoint that runs the handler with at most one worker, started by the first job. */
  jobsOn(handler: HandlerName, context: TestContext, fields?: Fields, template?: Fields): Promise<JobApi>;
  /** Like `jobsOn`, with one endpoint per handler, for tests that do not depend on its settings and counters. */
  jobsOf(handler: HandlerName, context: TestContext): Promise<JobApi>;
  /** The job API of a new endpoint without workers, whose jobs stay in the queue. */
  parked(fields?: Fields): Promise<JobApi>;
}

/** The mutation for any template, with the documented fields. */
export const saveTemplate = `mutation Save($input: SaveTemplateInput!) { saveTemplate(input: $input) {
  id name imageName containerDiskInGb volumeInGb dockerArgs ports env { key value } readme volumeMountPath isServerless
} }`;

export function useAccount(target: Target): Account {
  // Endpoints first, because they may use other objects.
  const endpoints: (() => Promise<unknown>)[] = [];
  const created: (() => Promise<unknown>)[] = [];
  const { rest, graphql, jobs } = rawApi(() => target);

  async function template(fields: Fields = {}): Promise<string> {
    const response = await graphql(saveTemplate, { input: templateFields(fields) });
    discardTemplate(stringAt(response, "data", "saveTemplate", "name"));
    return stringAt(response, "data", "saveTemplate", "id");
  }

  function discardTemplate(name: string): void {
    const remove = (): Promise<RawResponse> =>
      graphql("mutation Delete($name: String) { deleteTemplate(templateName: $name) }", { name });
    // Templates stay in use for up to 2 minutes after their last endpoint; templates deleted by a test are not found.
    created.push(() => pollUntil(remove, ({ text }) => !text.includes("in use"), 150_000));
  }

  async function endpoint(fields: Fields = {}): Promise<string> {
    const templateId = fields["templateId"] ?? (await template());
    const response = await rest("POST", "/endpoints", {
      name: uniqueName("endpoint"),
      gpuTypeIds: ["NVIDIA L4"],
      workersMin: 0,
      workersMax: 0,
      idleTimeout: 5,
      ...fields,
      templateId,
    });
    expectResponse(response, 200);
    const id = stringAt(response, "id");
    endpoints.push(async () => {
      await rest("PATCH", `/endpoints/${id}`, { workersMin: 0, workersMax: 0 });
      await rest("DELETE", `/endpoints/${id}`);
    });
    return id;
  }

  async function volume(fields: Fields = {}): Promise<string> {
    const body = { name: uniqueName("volume"), size: 10, dataCenterId: "EU-RO-1", ...fields };
    const response = await rest("POST", "/networkvolumes", body);
    expectResponse(response, 200);
    const id = stringAt(response, "id");
    created.push(() => rest("DELETE", `/networkvolumes/${id}`));
    return id;
  }

  async function secret(fields: Fields = {}): Promise<string> {
    const input = { name: uniqueName("secret"), value: "hush", ...fields };
    const response = await graphql(`mutation { secretCreate(input: ${literal(input)}) { id name description } }`);
    const id = stringAt(response, "data", "secretCreate", "id");
    created.push(() => graphql("mutation Delete($id: ID!) { secretDelete(id: $id) }", { id }));
    return id;
  }

  const shared = new Map<HandlerName, Promise<JobApi>>();
  const jobsOn: Account["jobsOn"] = async (handler, context, fields = {}, more = {}) => {
    const templateId = await template({ imageName: target.image(handler, context), ...more });
    // One job per worker and REQUEST_COUNT: the first job starts the first worker without a wait.
    const scaling = { workersMax: 1, scalerType: "REQUEST_COUNT", scalerValue: 1, idleTimeout: 60 };
    return jobs(await endpoint({ ...scaling, ...fields, templateId }));
  };

  // A local service is deleted completely.
  if (target.isExternal) {
    afterAll(async () => {
      for (const remove of [...endpoints, ...created]) await remove();
    }, 180_000);
  }
  return {
    rest,
    graphql,
    jobs,
    template,
    discardTemplate,
    endpoint,
    volume,
    secret,
    jobsOn,
    async jobsOf(handler, context) {
      // Skips each test without an image, not only the first.
      target.image(handler, context);
      const found = shared.get(handler) ?? jobsOn(handler, context);
      shared.set(handler, found);
      return found;
    },
    parked: async (fields = {}) => jobs(await endpoint({ workersMax: 0, ...fields })),
  };
}

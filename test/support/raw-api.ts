import { createJobApi, type JobApi } from "./job-api";
import { type Access, type RawResponse, type Sending, send } from "./raw-http";

/** The APIs of a service, as raw requests with its key. */
export interface RawApi {
  /** Sends a request to any path of the service. */
  call(method: string, path: string, json?: unknown, sending?: Sending): Promise<RawResponse>;
  /** Sends a request of REST v1; the path has no version prefix. */
  rest(method: string, path: string, json?: unknown): Promise<RawResponse>;
  /** Sends a request of REST v2; the path has no version prefix. */
  v2(method: string, path: string, json?: unknown): Promise<RawResponse>;
  /** Sends a GraphQL request in the documented form: the key as a query parameter, `{query}` as the body. */
  graphql(query: string, variables?: object): Promise<RawResponse>;
  /** The job API of an endpoint. */
  jobs(endpointId: string): JobApi;
}

/** Creates the requests of a service; `access` is read for each request, because a restart changes the port. */
export function rawApi(access: () => Access): RawApi {
  const to = (method: string, url: string, json?: unknown, sending: Sending = {}): Promise<RawResponse> =>
    send(method, url, { key: access().apiKey, json, ...sending });
  return {
    call: (method, path, json, sending) => to(method, `${access().serverlessUrl}${path}`, json, sending),
    rest: (method, path, json) => to(method, `${access().baseUrl}${path}`, json),
    v2: (method, path, json) => to(method, `${access().serverlessUrl}/v2${path}`, json),
    graphql: (query, variables) =>
      send("POST", `${access().graphqlUrl}?api_key=${access().apiKey}`, {
        json: variables === undefined ? { query } : { query, variables },
      }),
    jobs: (endpointId) => createJobApi(access, endpointId),
  };
}

import { ApiError, type Clients, createClients, jobRequest } from "serverless-compute-api";
import type { JobService } from "serverless-compute-api/job-commands";
import { listAll } from "../../framework/lists";
import { toUserError } from "../../framework/messages";
import { keyExposures, resolveSettings } from "../../settings/settings";

/** The account of a command about jobs. */
export interface JobAccount extends JobService {
  clients: Clients;
  /** Name of the setting `dialect` in messages. */
  dialectName: string;
  /** Returns the error of a failed call with a message for users; `label` names its object. */
  explain(error: unknown, label: string): Error;
}

/** Maximum number of open connections, because each worker's log requires one. */
const maxInFlight = 1_000;

/** Runs a command with the account of the settings in the environment. `notify` receives warnings. */
export async function withJobAccount<Result>(
  notify: (text: string) => void,
  signal: AbortSignal | undefined,
  command: (account: JobAccount) => Promise<Result>,
): Promise<Result> {
  const settings = resolveSettings();
  keyExposures().forEach(notify);
  const { names } = settings.lifecycle;
  const clients = createClients({ ...settings.clients, maxInFlight });
  const explain = (error: unknown, label: string): Error => {
    const explained = toUserError(error, { label, operation: "look up", names });
    return explained instanceof Error ? explained : new Error(String(explained));
  };
  const account: JobAccount = {
    clients,
    dialectName: names.dialect,
    signal,
    explain,
    async endpoints() {
      try {
        return (await listAll(clients.management.listEndpoints, { signal })).objects;
      } catch (error) {
        throw explain(error, "endpoints");
      }
    },
    async send(method, endpointId, path, body, timeout) {
      const request = {
        ...jobRequest(clients.jobs.url(endpointId), method, path),
        ...(method === "POST" ? { body: body ?? "{}" } : {}),
      };
      try {
        const { status, text } = await clients.transport.send(request, { signal, timeout });
        return { status, text };
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        const { category, status, message, ambiguous } = error;
        if (status !== undefined && (category === "missing" || category === "invalid"))
          return { status, text: message };
        const { message: text } = explain(error, `${path.replace(/[/?].*$/s, "")} of endpoint ${endpointId}`);
        throw new Error(ambiguous ? `${text} The service may have applied the request.` : text, { cause: error });
      }
    },
  };
  try {
    return await command(account);
  } finally {
    await clients.close();
  }
}

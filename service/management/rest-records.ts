import type { restTemplateCreate, restTemplatePatch } from "serverless-compute-api/shapes";
import type { z } from "zod";
import type { EndpointRow } from "../store/endpoints";
import type { TemplateRow } from "../store/templates";
import type { VolumeRow } from "../store/volumes";
import { CommandLineError, splitCommandLine } from "../workers/command-line";
import { splitList } from "./gpu-pools";
import { account } from "./management";
import type { TemplateChanges } from "./templates";

/** Disk of a pod's volume in GB where the body says none. */
const podVolume = 20;

/** The rules' values of POST /templates. */
export function templateFromRest(body: z.output<typeof restTemplateCreate>): TemplateChanges {
  const { ports, dockerStartCmd, volumeInGb, ...same } = body;
  return {
    ...same,
    volumeInGb: volumeInGb ?? (body.isServerless ? 0 : podVolume),
    ports: ports.join(","),
    dockerArgs: commandLineOf(dockerStartCmd),
  };
}

/** The rules' changes of PATCH /templates/{id}. */
export function templateChangesFromRest(body: z.output<typeof restTemplatePatch>): TemplateChanges {
  const { ports, dockerStartCmd, ...same } = body;
  return {
    ...same,
    ports: ports === null ? null : ports?.join(","),
    dockerArgs: dockerStartCmd && commandLineOf(dockerStartCmd),
  };
}

/** REST has the start command as words, GraphQL as one line; the line is what is kept. */
const commandLineOf = (words: readonly string[]): string =>
  words.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)).join(" ");

/** The words of a start command; a line that cannot be split, which only GraphQL can set, is one word. */
function wordsOf(line: string): string[] {
  try {
    return splitCommandLine(line);
  } catch (error) {
    if (error instanceof CommandLineError) return [line];
    throw error;
  }
}

/** A template as REST tells it. */
export const templateRecord = ({ createdAt: _created, lastUsedAt: _used, ...template }: TemplateRow) => ({
  ...template,
  ports: splitList(template.ports),
  dockerStartCmd: wordsOf(template.dockerArgs),
});

/** A worker of an endpoint: what it does, and since when it runs in ms since the epoch. */
export interface WorkerState {
  id: string;
  status: string;
  startedAt: number;
}

/** An endpoint as REST tells it; `added` is what the query asked for. */
export const endpointRecord = (
  endpoint: EndpointRow,
  added: { template?: TemplateRow | undefined; workers: WorkerState[] },
) => ({
  ...endpoint,
  createdAt: time(endpoint.createdAt),
  userId: account.id,
  workers: added.workers.map((worker) => ({ ...worker, startedAt: time(worker.startedAt) })),
  template: added.template && templateRecord(added.template),
});

/** A network volume as REST tells it. */
export const volumeRecord = ({ id, name, size, dataCenterId }: VolumeRow) => ({ id, name, size, dataCenterId });

const time = (ms: number): string => new Date(ms).toISOString();

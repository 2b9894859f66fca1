import type { Duplex } from "node:stream";
import type { Clock } from "serverless-compute-api/clock";
import type { WorkerEnvironment } from "../../resources/endpoint-lookup";
import type { ServerPorts, WorkerServer } from "../worker-server";

/** A program on this machine that runs as a worker. */
export interface WorkerCommand {
  file: string;
  args: string[];
  /** True if the program communicates over file descriptor 3, as the Node worker does. */
  channel: boolean;
}

/** The reason why a worker cannot be started, or, if `isBroken`, why its command cannot run. */
export interface CommandProblem {
  error: string;
  isBroken?: true;
}

/** A worker that is about to be started. */
export interface StartRequest {
  image: string;
  /** Start arguments as one command line, not split. */
  dockerArgs: string;
  /** Requested ports of a load balancer's worker; undefined for a worker that takes jobs. */
  serverPorts: ServerPorts | undefined;
  /** An injected program, which runs on this machine instead of the image. */
  program: WorkerCommand | undefined;
}

/** A worker to start. */
export interface WorkerStart {
  endpointId: string;
  workerId: string;
  environment: WorkerEnvironment;
  /**
   * Returns the worker's environment. `serverlessUrl` is the root of the job API as seen by the worker, `serverPorts` the actual ports of
   * a load balancer's worker.
   */
  env(serverlessUrl: string, serverPorts: ServerPorts | undefined): Record<string, string>;
  /** A hash of all that the worker is started with. */
  configuration: string;
  /** Receives each line of the worker's output. */
  onLine(line: string): void;
}

/** A worker of an earlier service on the data folder that still runs. */
export interface Survivor {
  endpointId: string;
  workerId: string;
  /** The `configuration` of its start. */
  configuration: string;
  /** Continues the worker. */
  adopt(worker: WorkerStart, serverPorts: ServerPorts | undefined): WorkerProcess;
}

/** The reason why a worker does not run jobs yet; `lacksStock` if nothing has room for it. */
export interface Waiting {
  reason: string;
  lacksStock: boolean;
}

/** Location of a worker. */
export interface Location {
  node: string | undefined;
  pod: string;
  phase: string;
}

/**
 * The outcome of a preparation: a function that starts the worker, the reason why none can be started, or a promise that resolves when the
 * requirements are known.
 */
export type Preparation = { start(worker: WorkerStart): WorkerProcess } | { ready: Promise<void> } | CommandProblem;

/** A way to run the images of workers: as containers or as pods. */
export interface ImageRuntime {
  /**
   * Connects the runtime; rejects with a StartError if it is required and unavailable. `survivors` are workers of an earlier service on the
   * data folder; `listen` ends those that are not adopted before. `earlierEnded` resolves when all other earlier workers have ended.
   */
  open(): Promise<{ earlierEnded: Promise<void>; survivors: Survivor[] }>;
  /**
   * Accepts workers' calls; rejects with a StartError if their address cannot be used. Resolves with facts about the workers' place by name,
   * for the user; none for this machine.
   */
  listen(): Promise<Record<string, string>>;
  prepare(request: StartRequest): Preparation;
  /** Deletes the content of a deleted volume. */
  removeVolume(volumeId: string): Promise<void>;
  /** Removes images that the runtime pulled and that are no longer used. */
  removeUnusedImages(inUse: ReadonlySet<string>): Promise<void>;
  /** Cleans up after the workers, which have ended. */
  close(): Promise<void>;
}

/** All ways to run workers, also as processes. Nothing outside of this folder depends on which. */
export interface Runtime extends ImageRuntime {
  /** Deletes what belongs to a deleted endpoint, whose workers have ended. */
  removeEndpoint(endpointId: string): Promise<void>;
}

/** A running worker. */
export interface WorkerProcess {
  /** Requests the worker's end (SIGTERM), and kills it `grace` ms later. */
  stop(grace: number): void;
  /** Kills the worker with all its child processes; a pod gets SIGTERM first, and a second to end. */
  kill(): void;
  /** The other end of the worker's file descriptor 3, if it has one. Closes when the worker ends; errors are already handled. */
  readonly channel: Duplex | undefined;
  /** Resolves when the program runs; undefined for a program that runs immediately. An image may need a pull first. */
  readonly started?: Promise<void>;
  /** A possible obstacle to the worker's calls, as text after a ";". */
  obstacle?(): string | undefined;
  /** The reason why the worker, which has not sent a call yet, does not run jobs; undefined if nothing is known. */
  waiting?(): Waiting | undefined;
  /** Location of the worker; undefined if nothing is known. */
  location?(): Location | undefined;
  /** HTTP server of a load balancer's worker; resolves when its address is known. */
  readonly server?: Promise<WorkerServer> | undefined;
  /** Resolves when the worker and all its child processes have ended and its output has been read. */
  readonly ended: Promise<ProcessEnd>;
}

/** The end of a worker's program. */
export interface ProgramEnd {
  /** Description of the end, as text after "the worker". */
  description: string;
  /** True if the program exited with code 0. */
  clean: boolean;
  /** True if this machine could not start it, because it has no free process, file or memory. */
  isMachineFull?: boolean;
}

/** Kills a program `grace` ms after the request for its end, unless it ends before. */
export function killAfter(grace: number, program: Pick<WorkerProcess, "kill" | "ended">, clock: Clock): void {
  const timer = new AbortController();
  void program.ended.then(() => timer.abort());
  clock.sleep(grace, timer.signal).then(program.kill, () => undefined);
}

/** The end of a program in a container, whose exit code contains the signal that ended it. */
export function endWithCode(code: number): ProgramEnd {
  const signal = isSignal(code) ? ` (signal ${code - 128})` : "";
  return { description: `ended with exit code ${code}${signal}`, clean: code === 0 };
}

/** Returns whether an exit code of a container means that a signal ended its program. */
export const isSignal = (code: number): boolean => code > 128 && code < 160;

/** The end of a container that exceeded its memory limit, GB; undefined without a limit. `detail` follows as text. */
export const outOfMemory = (limit: number | undefined, detail = ""): ProgramEnd => ({
  description: `ran out of ${limit === undefined ? "memory" : `its ${limit} GB of memory`} and was killed${detail}`,
  clean: false,
});

/** The end of a worker. */
export interface ProcessEnd extends ProgramEnd {
  /** The last lines of the worker's errors; without errors, of its output. */
  lastErrors: string[];
}

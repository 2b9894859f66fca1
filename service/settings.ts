import { join, resolve } from "node:path";
import { type Clock, systemClock } from "serverless-compute-api/clock";
import { limits } from "serverless-compute-api/shapes";

/** What `createService` and the command line take; everything has a default. Times in milliseconds. */
export interface ServiceOptions {
  /** Port on 127.0.0.1; 0 takes a free one. Default 7337. */
  port?: number;
  /** Folder that holds the database, the key file and the logs. Default `.serverless-compute/service`. */
  dataFolder?: string;
  /** Image name → what runs here for it: a command line, or the path of a .mjs, .js or .ts handler file. */
  images?: Record<string, string>;
  /** How long a template stays in use after its last endpoint let go of it. Default 120000. */
  templateRelease?: number;
  /** Shape of /stream answers: the interface's bare array, or the envelope that the SDKs read. Default `array`. */
  stream?: "array" | "envelope";
  /** Whether REST refuses to delete an endpoint that still allows workers, as GraphQL always does. Default false. */
  deleteNeedsScaleDown?: boolean;
  /** Default: the machine's clock. */
  clock?: Clock;
  /** Default `info` for the command line, `silent` when embedded. */
  logLevel?: "silent" | "error" | "warn" | "info" | "debug";
}

export type ServiceSettings = Required<ServiceOptions>;

/** Port that clients try when they are told no address. */
export const defaultPort = 7337;

/** Data folder when none is named: under the current folder. */
export const defaultDataFolder = (): string => join(process.cwd(), ".serverless-compute", "service");

/** Options with every default filled in. */
export function resolveSettings(options: ServiceOptions): ServiceSettings {
  return {
    port: options.port ?? defaultPort,
    dataFolder: resolve(options.dataFolder ?? defaultDataFolder()),
    images: options.images ?? {},
    templateRelease: options.templateRelease ?? limits.templateRelease,
    stream: options.stream ?? "array",
    deleteNeedsScaleDown: options.deleteNeedsScaleDown ?? false,
    clock: options.clock ?? systemClock,
    logLevel: options.logLevel ?? "silent",
  };
}

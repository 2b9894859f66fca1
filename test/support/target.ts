import { fileURLToPath } from "node:url";
import type { ServiceOptions } from "serverless-compute-local";
import type { TestContext } from "vitest";
import { serviceDefaults, useSharedService } from "./local-service";
import { OffsetClock } from "./offset-clock";

/** Handlers of the conformance tests (test/conformance/handlers). */
export const handlers = ["echo", "fail", "slow", "stream", "crash", "env"] as const;
export type HandlerName = (typeof handlers)[number];

/** The service under test: selected by the CONFORMANCE_ variables, otherwise a local service for this file. */
export interface Target {
  readonly baseUrl: string;
  readonly graphqlUrl: string;
  readonly serverlessUrl: string;
  readonly apiKey: string;
  /** True if the tests did not start the service. */
  readonly isExternal: boolean;
  /** Image name that runs a handler; skips the test if an external service has none. */
  image(handler: HandlerName, context: TestContext): string;
  /** Advances the local service's clock, or waits for an external service; long waits skip its test. */
  advance(ms: number, context: TestContext): Promise<void>;
  /** Stops the local service's clock except for `advance` until the test ends. */
  freezeClock(context: TestContext): void;
  /** Skips the test for an external service, whose settings and machine are not accessible. */
  localOnly(context: TestContext, reason: string): void;
}

const maximumRealWait = 15_000;
/** File of a handler, for the option `images` of a service. */
export const handlerFile = (name: HandlerName): string =>
  fileURLToPath(new URL(`../conformance/handlers/${name}.mjs`, import.meta.url));
const localImage = (name: HandlerName): string => `conformance/${name}:1`;

function requiredSetting(name: string): string {
  const value = process.env[`CONFORMANCE_${name}`];
  if (!value) throw new Error(`CONFORMANCE_BASE_URL is set, so CONFORMANCE_${name} must be set too`);
  return value.replace(/\/$/, "");
}

/** Skips the test and prints the reason, even if the reporter hides it. */
export function skip(context: TestContext, reason: string): never {
  console.warn(`skipped: ${context.task.name}: ${reason}`);
  return context.skip(reason);
}

function externalTarget(): Target {
  return {
    baseUrl: requiredSetting("BASE_URL"),
    graphqlUrl: requiredSetting("GRAPHQL_URL"),
    serverlessUrl: requiredSetting("SERVERLESS_URL"),
    apiKey: requiredSetting("API_KEY"),
    isExternal: true,
    image(handler, context) {
      const variable = `CONFORMANCE_IMAGE_${handler.toUpperCase()}`;
      return process.env[variable] ?? skip(context, `${variable} names no image for the ${handler} handler`);
    },
    async advance(ms, context) {
      if (ms > maximumRealWait) skip(context, `would wait ${ms / 1000} s on a service whose clock is its own`);
      await new Promise((resolve) => setTimeout(resolve, ms));
    },
    freezeClock: () => undefined,
    localOnly: (context, reason) => skip(context, `only against the local service: ${reason}`),
  };
}

async function localTarget(options: ServiceOptions): Promise<Target> {
  const clock = new OffsetClock();
  const handlerImages = Object.fromEntries(handlers.map((name) => [localImage(name), handlerFile(name)]));
  const images = { ...handlerImages, ...options.images };
  // Workers of cancelled jobs are replaced immediately; by default this takes 5 s.
  const timings = { stopGrace: 100, ...options.timings };
  const { service } = await useSharedService({ ...serviceDefaults, clock, ...options, images, timings });
  return {
    baseUrl: service.baseUrl,
    graphqlUrl: service.graphqlUrl,
    serverlessUrl: service.serverlessUrl,
    apiKey: service.apiKey,
    isExternal: false,
    image: localImage,
    advance: (ms) => clock.advance(ms),
    freezeClock: (context) => context.onTestFinished(clock.freeze()),
    localOnly: () => undefined,
  };
}

/** The service under test, stopped after the last test of the file. `options` apply to a local service. */
export async function useTarget(options: ServiceOptions = {}): Promise<Target> {
  return process.env["CONFORMANCE_BASE_URL"] ? externalTarget() : localTarget(options);
}

import type { Service, ServiceOptions } from "serverless-compute-local";
import { expect } from "vitest";
import { useLocalService } from "../../../../support/local-service";
import { send } from "../../../../support/raw-http";
import { registerSecret } from "../../../../support/secret-scan";

/** Headers of a browser request from the console's own page. */
export const pageHeaders = (serverlessUrl: string, cookie: string): Record<string, string> => ({
  cookie,
  origin: serverlessUrl,
  "sec-fetch-site": "same-origin",
  "x-serverless-compute-console": "1",
});

/** Starts a service with its console on a free port, stopped after the test. */
export async function useConsoleService(options: ServiceOptions = {}): Promise<Service & { dataFolder: string }> {
  const { service, dataFolder } = await useLocalService({ console: true, logLevel: "debug", ...options });
  if (service.consoleUrl !== undefined) registerSecret(tokenOf(service.consoleUrl), "the token of a link");
  return { ...service, dataFolder };
}

/** The token of a link. */
export const tokenOf = (link: string | undefined): string => new URL(link ?? "").searchParams.get("t") ?? "";

/** Opens a link as a browser does. Returns the cookie for later requests. */
export async function openLink(link: string | undefined): Promise<string> {
  const opened = await send("GET", link ?? "");
  expect(opened.status, opened.text).toBe(303);
  const [cookie = ""] = (opened.headers.get("set-cookie") ?? "").split(";");
  registerSecret(cookie.split("=")[1] ?? "", "a session of the console");
  return cookie;
}

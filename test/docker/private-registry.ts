import { createServer } from "node:http";
import { onTestFinished } from "vitest";
import { z } from "zod";
import { closeServer, listenOnLoopback } from "../support/loopback";

const created = z.looseObject({ id: z.string() });

/** Starts a registry on this machine that rejects all credentials with its own message. */
export async function startPrivateRegistry() {
  const registry = createServer((_request, response) => {
    response.writeHead(401, { "www-authenticate": 'Basic realm="test"', "content-type": "application/json" });
    response.end(JSON.stringify({ errors: [{ code: "UNAUTHORIZED", message: "not for you" }] }));
  });
  const { host } = new URL(await listenOnLoopback(registry));
  onTestFinished(() => closeServer(registry));
  return { host };
}

/** Stores credentials in a service by raw HTTP, and returns their id. */
export async function storeCredentials(
  service: { baseUrl: string; apiKey: string },
  credentials: { name: string; username: string; password: string },
): Promise<string> {
  const response = await fetch(`${service.baseUrl}/containerregistryauth`, {
    method: "POST",
    headers: { authorization: `Bearer ${service.apiKey}`, "content-type": "application/json" },
    body: JSON.stringify(credentials),
  });
  return created.parse(await response.json()).id;
}

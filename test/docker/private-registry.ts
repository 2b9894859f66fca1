import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import { z } from "zod";

const created = z.looseObject({ id: z.string() });

/** Starts a registry on this machine that rejects all credentials with its own message. */
export async function startPrivateRegistry() {
  const registry = createServer((_request, response) => {
    response.writeHead(401, { "www-authenticate": 'Basic realm="test"', "content-type": "application/json" });
    response.end(JSON.stringify({ errors: [{ code: "UNAUTHORIZED", message: "not for you" }] }));
  });
  await new Promise<void>((resolve) => registry.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void registry.close());
  return { host: `127.0.0.1:${(registry.address() as AddressInfo).port}` };
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

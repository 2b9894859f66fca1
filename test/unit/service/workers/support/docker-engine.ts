import type { IncomingMessage, ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { serve } from "../../../../support/loopback";

/**
 * Starts a Docker Engine that ends each container immediately and returns its port; `create` responds to container creations. The engine has
 * the containers `ids`, and once it has created a container, it reports that the container `outOfMemory` ran out of memory. With `killStatus`, a
 * container runs until it is removed, and calls that kill it get this status. The names of removed images are added to `removedImages`, and all
 * calls to `calls`. `intercept` responds to a call instead if it returns true.
 */
export async function useDockerEngine(
  create: (body: string) => { status: number; json: object },
  {
    ids = [],
    exitCode = 0,
    outOfMemory,
    killStatus,
    removedImages = [],
    calls = [],
    intercept = () => false,
  }: {
    ids?: string[];
    exitCode?: number;
    outOfMemory?: string;
    killStatus?: number;
    removedImages?: string[];
    calls?: string[];
    intercept?(call: string, request: IncomingMessage, response: ServerResponse): boolean;
  } = {},
): Promise<number> {
  const ends = new Map<string, () => void>();
  let hasCreated = false;
  const origin = await serve(async (request, response) => {
    const body = await text(request);
    const { pathname: path, searchParams } = new URL(request.url ?? "", "http://engine");
    const call = `${request.method} ${path}`;
    calls.push(call);
    if (intercept(call, request, response)) return;
    const send = (status: number, json: unknown): unknown => response.writeHead(status).end(JSON.stringify(json));
    if (path === "/info") return send(200, { NCPU: 2, Runtimes: { nvidia: {} } });
    if (call === "GET /events") {
      const { event = [], container = [] } = JSON.parse(searchParams.get("filters") ?? "{}");
      const hasEvent =
        hasCreated && searchParams.has("since") && event.includes("oom") && container.includes(outOfMemory);
      return response.end(hasEvent ? `${JSON.stringify({ Actor: { ID: outOfMemory } })}\n` : undefined);
    }
    if (request.method === "DELETE" && request.url === `/containers/${ids[0]}?force=1&v=1`) ids.shift();
    if (path === "/containers/json")
      return send(
        200,
        ids.map((Id) => ({ Id })),
      );
    if (path === "/networks") return send(200, []);
    if (path === "/containers/create") {
      hasCreated = true;
      const { status, json } = create(body);
      return send(status, json);
    }
    if (request.method === "DELETE" && path.startsWith("/images/")) removedImages.push(path.slice("/images/".length));
    if (killStatus && path.endsWith("/kill")) return send(killStatus, { message: "no signal arrived" });
    if (killStatus && path.endsWith("/wait"))
      await new Promise<void>((resolve) => ends.set(path.replace("/wait", ""), resolve));
    if (request.method === "DELETE") ends.get(path)?.();
    if (path.endsWith("/attach")) return response.writeHead(200).end();
    return send(200, { StatusCode: exitCode });
  });
  return Number(new URL(origin).port);
}

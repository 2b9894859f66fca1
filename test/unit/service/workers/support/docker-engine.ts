import { text } from "node:stream/consumers";
import { serve } from "../../../../support/loopback";

/**
 * Starts a Docker Engine that ends each container immediately and returns its port; `create` responds to container creations. The engine has
 * the containers `ids`, and reports that the container `outOfMemory` ran out of memory. With `killStatus`, a container runs until it is
 * removed, and calls that kill it get this status. The names of removed images are added to `removedImages`.
 */
export async function useDockerEngine(
  create: (body: string) => { status: number; json: object },
  {
    ids = [],
    exitCode = 0,
    outOfMemory,
    killStatus,
    removedImages = [],
  }: { ids?: string[]; exitCode?: number; outOfMemory?: string; killStatus?: number; removedImages?: string[] } = {},
): Promise<number> {
  let end = (): void => undefined;
  const origin = await serve(async (request, response) => {
    const body = await text(request);
    const { pathname: path, searchParams } = new URL(request.url ?? "", "http://engine");
    const send = (status: number, json: unknown): unknown => response.writeHead(status).end(JSON.stringify(json));
    if (path === "/info") return send(200, { NCPU: 2, Runtimes: { nvidia: {} } });
    if (path === "/events" && request.method === "GET" && searchParams.get("filters")?.includes("oom"))
      return response.end(outOfMemory && `${JSON.stringify({ Actor: { ID: outOfMemory } })}\n`);
    if (request.method === "DELETE" && request.url === `/containers/${ids[0]}?force=1&v=1`) ids.shift();
    if (path === "/containers/json")
      return send(
        200,
        ids.map((Id) => ({ Id })),
      );
    if (path === "/networks") return send(200, []);
    if (path === "/containers/create") {
      const { status, json } = create(body);
      return send(status, json);
    }
    if (request.method === "DELETE" && path.startsWith("/images/")) removedImages.push(path.slice("/images/".length));
    if (killStatus && path.endsWith("/kill")) return send(killStatus, { message: "no signal arrived" });
    if (killStatus && path.endsWith("/wait")) await new Promise<void>((resolve) => (end = resolve));
    if (request.method === "DELETE") end();
    if (path.endsWith("/attach")) return response.writeHead(200).end();
    return send(200, { StatusCode: exitCode });
  });
  return Number(new URL(origin).port);
}

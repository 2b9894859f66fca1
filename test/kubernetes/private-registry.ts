import { createReadStream } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { z } from "zod";
import { scratchFolder } from "../support/folders";
import { closeServer, listenOnLoopback } from "../support/loopback";
import { runChecked } from "../support/run-checked";

const layout = z.looseObject({ manifests: z.tuple([z.looseObject({ digest: z.string(), mediaType: z.string() })]) });

/** Starts a registry on this machine that has the image of an archive under each name. Returns its host. */
export async function usePrivateRegistry(
  archive: string,
  { username, password }: { username: string; password: string },
): Promise<string> {
  const folder = scratchFolder();
  await runChecked("tar", ["-C", folder, "-xf", archive]);
  const [manifest] = layout.parse(JSON.parse(await readFile(join(folder, "index.json"), "utf8"))).manifests;
  const expected = `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
  const server = createServer(async (request, response) => {
    if (request.headers.authorization !== expected) {
      response.writeHead(401, { "www-authenticate": 'Basic realm="test"' }).end();
      return;
    }
    const [, kind, reference = ""] = /\/(manifests|blobs)\/(\S+)$/.exec(request.url ?? "") ?? [];
    if (kind === undefined) {
      response.end("{}");
      return;
    }
    // A manifest is requested by its tag first.
    const digest = reference.startsWith("sha256:") ? reference : manifest.digest;
    const file = join(folder, "blobs", digest.replace(":", "/"));
    response.writeHead(200, {
      "content-type": kind === "manifests" ? manifest.mediaType : "application/octet-stream",
      "content-length": (await stat(file)).size,
      "docker-content-digest": digest,
    });
    if (request.method === "HEAD") response.end();
    else createReadStream(file).pipe(response);
  });
  const { host } = new URL(await listenOnLoopback(server));
  onTestFinished(() => closeServer(server));
  return host;
}

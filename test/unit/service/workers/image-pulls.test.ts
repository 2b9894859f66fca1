import { systemClock } from "serverless-compute-api/clock";
import { expect, test } from "vitest";
import { steadyClock } from "../../../../service/steady-clock";
import { createEngineClient } from "../../../../service/workers/runtimes/container/engine-client";
import { createImages } from "../../../../service/workers/runtimes/container/images";
import { openPulledImages } from "../../../../service/workers/runtimes/container/pulled-images";
import { scratchFolder } from "../../../support/folders";
import { serve } from "../../../support/loopback";

/** An engine that has the image "present", and responds to each pull with these lines, one a second. */
async function useEngine({ status = 200, progress = [] }: { status?: number; progress?: object[] } = {}) {
  const pulls: { image: string | null; auth: unknown }[] = [];
  const removals: string[] = [];
  const origin = await serve((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "", "http://engine");
    if (request.method === "GET") {
      const found = pathname === "/images/present/json" ? 200 : 404;
      return response.writeHead(pathname === "/images/broken/json" ? 500 : found).end('{"message":"no disk"}');
    }
    if (request.method === "DELETE") {
      removals.push(pathname);
      if (pathname === "/images/cut") return request.destroy();
      return response
        .writeHead({ "/images/used": 409, "/images/gone": 404, "/images/broken": 500 }[pathname] ?? 200)
        .end();
    }
    const auth = request.headers["x-registry-auth"];
    pulls.push({
      image: searchParams.get("fromImage"),
      auth: auth && JSON.parse(Buffer.from(String(auth), "base64url").toString()),
    });
    return response.writeHead(status).end(progress.map((line) => `${JSON.stringify(line)}\n`).join(""));
  });
  const port = Number(new URL(origin).port);
  let time = 0;
  const clock = { ...systemClock, now: () => (time += 1000) };
  const pulled: string[] = [];
  const lines: string[] = [];
  const client = createEngineClient({ displayUrl: "engine", host: "127.0.0.1", port });
  const images = createImages({
    client,
    clock: steadyClock(clock),
    onPulled: (image) => pulled.push(image),
    signal: new AbortController().signal,
  });
  const ensure = (image: string, auth?: { username: string; password: string }) =>
    images.ensure(image, auth, (line) => lines.push(line));
  return { client, ensure, pulls, pulled, lines, removals };
}

test("an image that the engine has is not pulled", async () => {
  const { ensure, pulls, lines } = await useEngine();
  await ensure("present");
  expect([pulls, lines]).toEqual([[], []]);
});

test.each(["../info", "a b", "a?b", ""])("%j is not an image name", async (image) => {
  const { ensure, pulls } = await useEngine();
  await expect(ensure(image)).rejects.toThrow(`"${image}" is not an image name`);
  expect(pulls).toEqual([]);
});

test.each([
  ["acme/worker", "acme/worker:latest"],
  ["acme/worker:2", "acme/worker:2"],
  ["localhost:5000/worker", "localhost:5000/worker:latest"],
  ["acme/worker@sha256:abc", "acme/worker@sha256:abc"],
])("only one tag of %s is pulled", async (image, pulledImage) => {
  const { ensure, pulls, pulled, lines } = await useEngine();
  await ensure(image);
  expect(pulls).toEqual([{ image: pulledImage, auth: undefined }]);
  expect(pulled).toEqual([image]);
  expect(lines).toEqual([`pulls the image ${image}`, `pulled the image ${image}`]);
});

test.each([
  ["worker", "https://index.docker.io/v1/"],
  ["acme/worker:1.2", "https://index.docker.io/v1/"],
  ["ghcr.io/acme/worker", "ghcr.io"],
  ["registry:5000/worker", "registry:5000"],
  ["localhost/worker", "localhost"],
])("the credentials for %s are sent for its registry", async (image, serveraddress) => {
  const { ensure, pulls } = await useEngine();
  await ensure(image, { username: "u", password: "p" });
  expect(pulls).toMatchObject([{ auth: { username: "u", password: "p", serveraddress } }]);
});

test("a pull reports its progress every two seconds", async () => {
  const layer = (id: string, status: string, current = 0, total = 0) => ({
    id,
    status,
    progressDetail: { current: current * 1024 ** 2, total: total * 1024 ** 2 },
  });
  const { ensure, lines } = await useEngine({
    progress: [
      layer("latest", "Pulling from acme/worker"),
      layer("a", "Downloading", 1, 10),
      layer("b", "Downloading", 2, 20),
      layer("a", "Downloading", 10, 10),
      { id: "a", status: "Extracting" },
      { id: "a", status: "Pull complete" },
      { id: "c", status: "Already exists" },
      { status: "Digest: sha256:abc" },
    ],
  });
  await ensure("acme/worker");
  expect(lines.slice(1, -1)).toEqual([
    "pulls the image acme/worker: 1 of 10 MB, 0 of 1 layers done",
    "pulls the image acme/worker: 12 of 30 MB, 0 of 2 layers done",
    "pulls the image acme/worker: 12 of 30 MB, 1 of 2 layers done",
    "pulls the image acme/worker: 12 of 30 MB, 2 of 3 layers done",
  ]);
});

test.each([
  ["rejected", { status: 404, progress: [{ message: "manifest unknown" }] }],
  ["interrupted by the registry", { progress: [{ error: "manifest unknown" }, { error: "later" }] }],
])("a pull that is %s fails with the registry's message", async (_how, response) => {
  const { ensure, pulled } = await useEngine(response);
  await expect(ensure("acme/worker")).rejects.toThrow('the image "acme/worker" cannot be pulled: manifest unknown');
  expect(pulled).toEqual([]);
});

test("an engine that cannot look for an image does not pull it", async () => {
  const { ensure, pulls } = await useEngine();
  await expect(ensure("broken")).rejects.toThrow("no disk");
  expect(pulls).toEqual([]);
});

test("workers share the pull of an image with the same credentials, and a later worker pulls again", async () => {
  const { ensure, pulls, lines } = await useEngine();
  const auth = { username: "u", password: "p" };
  await Promise.all([ensure("acme/worker"), ensure("acme/worker"), ensure("acme/worker", auth)]);
  expect(pulls).toHaveLength(2);
  expect(lines).toContain("waits for the image acme/worker, which another worker pulls");
  await ensure("acme/worker");
  expect(pulls).toHaveLength(3);
});

test("an image that the engine does not remove stays listed, and prevents the removal of no other one", async () => {
  const { client, removals } = await useEngine();
  const pulledImages = openPulledImages(scratchFolder());
  for (const image of ["broken", "unused"]) pulledImages.add(image);
  await expect(pulledImages.removeUnused(client, new Set())).rejects.toThrow("status 500");
  expect(removals).toEqual(["/images/broken", "/images/unused"]);
  await expect(pulledImages.removeUnused(client, new Set())).rejects.toThrow("status 500");
  expect(removals.slice(2)).toEqual(["/images/broken"]);
});

test("an engine that does not respond is asked to remove no further image", async () => {
  const { client, removals } = await useEngine();
  const pulledImages = openPulledImages(scratchFolder());
  for (const image of ["cut", "unused"]) pulledImages.add(image);
  await expect(pulledImages.removeUnused(client, new Set())).rejects.toThrow("engine does not respond");
  expect(removals).toEqual(["/images/cut"]);
});

test("pulled images that no endpoint uses are removed, unless a container uses them", async () => {
  const { client, removals } = await useEngine();
  const folder = scratchFolder();
  const pulledImages = openPulledImages(folder);
  await pulledImages.removeUnused(client, new Set());
  for (const image of ["needed", "used", "gone", "unused", "unused"]) pulledImages.add(image);
  await pulledImages.removeUnused(client, new Set(["needed"]));
  expect(removals).toEqual(["/images/used", "/images/gone", "/images/unused"]);
  await openPulledImages(folder).removeUnused(client, new Set());
  expect(removals.slice(3)).toEqual(["/images/needed", "/images/used"]);
  const silent = createEngineClient({ displayUrl: "silent", host: "127.0.0.1", port: 1 });
  await expect(pulledImages.removeUnused(silent, new Set())).rejects.toThrow("silent does not respond");
});

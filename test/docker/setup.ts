import type { TestProject } from "vitest/node";
import { engineMissing, engineResponds, startEngine } from "../../scripts/docker-engine.mjs";
import { findEngine } from "../../service/workers/runtimes/container/engine-address";
import { createEngineClient } from "../../service/workers/runtimes/container/engine-client";
import { findPython } from "../sdk/programs";
import { importNode, importPython } from "./images";

/** An image of Python with the public SDK, the missing requirement, or the failure to build it. */
type PythonImage = { image: string } | { missing: string } | { failure: string };

/** An engine for the tests, with an image of Node and the programs of this folder, or the reason for its absence. */
type TestEngine = { host: string; image: string; python: PythonImage } | { missing: string };

declare module "vitest" {
  interface ProvidedContext {
    engine: TestEngine;
  }
}

/** Uses this machine's engine or starts an engine. Its objects are removed at the end. */
export async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const missing = engineMissing();
  if (missing !== undefined) {
    project.provide("engine", { missing });
    return undefined;
  }
  const own = engineResponds() ? undefined : await startEngine();
  const host = own?.host ?? findEngine(process.env).displayUrl;
  const image = `serverless-compute-test/node:${process.pid}`;
  const pythonImage = `serverless-compute-test/python:${process.pid}`;
  await importNode(host, image);
  const found = process.env["FULL"] ? await findPython() : { missing: "only full runs use Python" };
  const python = "path" in found ? { image: pythonImage } : found;
  if ("path" in found) await importPython(host, pythonImage, found.path);
  project.provide("engine", { host, image, python });
  return async () => {
    const client = createEngineClient(findEngine({ DOCKER_HOST: host }));
    const created = "image" in python ? [image, python.image] : [image];
    for (const name of created) await client.call("DELETE", `/images/${name}`, { query: { force: "1" } });
    await own?.stop();
  };
}

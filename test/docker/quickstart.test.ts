import { createHash } from "node:crypto";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { useEngineService } from "../support/engine-service";
import { createStack } from "../support/pulumi";
import { quickstartOn } from "../support/quickstart-program";
import { registerSecret } from "../support/secret-scan";
import { containersOf, useTestEngine } from "./rig";

const imageShape = z.array(z.looseObject({ Id: z.string(), RepoTags: z.array(z.string()).nullish() }));

test("the quickstart's program runs on a container image, and destroy removes everything", async (context) => {
  const { image, client } = useTestEngine(context);
  // Concurrent tests create and delete images.
  const isOfTests = (tags: string[]): boolean =>
    tags.length > 0 && tags.every((tag) => tag.startsWith("serverless-compute-test/"));
  const images = async (): Promise<string[]> =>
    imageShape
      .parse(await client.call("GET", "/images/json"))
      .filter(({ RepoTags }) => !isOfTests(RepoTags ?? []))
      .flatMap(({ Id, RepoTags }) => [Id, ...(RepoTags ?? [])]);
  const before = await images();
  const service = await useEngineService({ runtime: "docker" });
  const stack = await createStack(service.environment);
  onTestFinished(() => stack.remove());
  const hubToken = "a-hub-token-of-the-quickstart";
  registerSecret(hubToken, "the quickstart's secret");
  await stack.writeProgram(await quickstartOn(image));
  await stack.command(["config", "set", "--secret", "hubToken", hubToken]);

  const up = await stack.up();
  expect(up.output).toContain("Hello, world!");
  expect(up.code).toBe(0);
  expect(await stack.resources()).toHaveLength(4);
  const response = await stack.command(["stack", "output", "answer", "--json"]);
  const tokenFingerprint = createHash("sha256").update(hubToken).digest("hex").slice(0, 12);
  expect(JSON.parse(response.output)).toEqual({ text: "Hello, world!", tokenFingerprint });
  const [container] = await containersOf(client, service.dataFolder);
  expect(container).toMatchObject({ State: "running", Image: image });
  expect(await readdir(join(service.dataFolder, "volumes"))).toHaveLength(1);
  for (const args of [
    ["preview", "--expect-no-changes"],
    ["refresh", "--yes", "--expect-no-changes"],
  ]) {
    const { code, output } = await stack.command(args);
    expect(code, output).toBe(0);
  }

  expect((await stack.destroy()).code).toBe(0);
  await expect.poll(() => containersOf(client, service.dataFolder)).toEqual([]);
  await expect.poll(() => readdir(join(service.dataFolder, "volumes"))).toEqual([]);
  expect(await images()).toEqual(before);
  expect(service.retiredRequests()).toEqual([]);
});

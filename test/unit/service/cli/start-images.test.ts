import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createService } from "serverless-compute-local";
import { expect, onTestFinished, test } from "vitest";
import { send, stringAt } from "../../../support/raw-http";
import { discardServiceFolder } from "../../../support/service-artefacts";
import { command } from "./command";

test("start lists the images with a command and the images that containers would pull", async () => {
  const data = await mkdtemp(join(tmpdir(), "start-images-"));
  onTestFinished(() => discardServiceFolder(data));
  const { baseUrl, apiKey: key, stop } = await createService({ port: 0, dataFolder: data, runtime: "none" });
  const template = { name: "chat", imageName: "acme/chat:2", isServerless: true };
  const templateId = stringAt(await send("POST", `${baseUrl}/templates`, { key, json: template }), "id");
  await send("POST", `${baseUrl}/endpoints`, { key, json: { name: "chat", templateId } });
  await stop(0);
  const { child, firstLine, ended } = command([
    "start",
    "--port",
    "0",
    "--data",
    data,
    "--image",
    "acme/echo:1=node -",
  ]);
  await firstLine();
  child.kill("SIGINT");
  const { stdout } = await ended;
  expect(stdout).toMatch(/Images +acme\/echo:1 +node -\n +acme\/chat:2 +no --image: a container pulls it\n/);
  expect(stdout).toMatch(
    /any other +no --image: a container pulls the image if a Docker Engine is available; --runtime none prevents it\n/,
  );
}, 60_000);

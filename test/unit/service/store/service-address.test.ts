import { join } from "node:path";
import { createService } from "serverless-compute-local";
import { expect, onTestFinished, test } from "vitest";
import { readServiceAddress, writeServiceAddress } from "../../../../service/store/service-address";
import { serviceFolder } from "../../../support/folders";

/** The address that a service in another process would store. */
const other = { serverlessUrl: "http://127.0.0.1:1", pid: process.ppid };

test("a start removes the address of a killed service first, whose process id may belong to another process now", async () => {
  const dataFolder = serviceFolder();
  const options = { dataFolder, port: 0, runtime: "none" } as const;
  await (await createService(options)).stop(0);
  writeServiceAddress(dataFolder, other);
  const found: unknown[] = [];
  const onNotice = (): void => void found.push(readServiceAddress(dataFolder));
  const images = { "acme/echo:1": join(dataFolder, "missing.mjs") };
  const service = await createService({ ...options, images, onNotice });
  onTestFinished(() => service.stop(0));
  expect(found).toEqual([undefined]);
});

test("a stop leaves the address of another service, which started after the data folder was replaced", async () => {
  const dataFolder = serviceFolder();
  const service = await createService({ dataFolder, port: 0, runtime: "none" });
  writeServiceAddress(dataFolder, other);
  await service.stop(0);
  expect(readServiceAddress(dataFolder)).toEqual(other);
});

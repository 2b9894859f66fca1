import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { askUntil, at, expectAnswer } from "../../../support/raw-http";
import { useService } from "./service-rig";

const echo = fileURLToPath(new URL("../../../conformance/handlers/echo.mjs", import.meta.url));
const rig = await useService({ images: { "acme/echo:1": echo } });

test("includeWorkers adds the running workers; the plain record contains none", async () => {
  const template = await rig.template({ imageName: "acme/echo:1" });
  const id = await rig.endpoint(template, { workersMin: 1, workersMax: 1 });
  const answer = await askUntil(
    () => rig.rest("GET", `/endpoints/${id}?includeWorkers=true`),
    ({ json }) => at(json, "workers", 0) !== undefined,
  );
  expectAnswer(answer, 200, { id, workers: [{ startedAt: new Date(rig.clock.now()).toISOString() }] });
  expect(at(answer.json, "workers", 0, "status")).toBeTypeOf("string");
  expectAnswer(await rig.rest("GET", `/endpoints/${id}`), 200, { workers: [] });
});

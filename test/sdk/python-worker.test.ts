import { afterAll, beforeAll } from "vitest";
import { pythonWorkerAs } from "./python-worker";
import { type SdkRig, startRig } from "./rig";
import { versions } from "./versions";

let rig: SdkRig;
beforeAll(async () => {
  rig = await startRig();
});
afterAll(() => rig[Symbol.asyncDispose]());

pythonWorkerAs(`PyPI runpod ${versions.pythonSdk}: worker`, async (context) => {
  rig.python(context);
  return rig;
});

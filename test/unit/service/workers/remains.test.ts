import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createService } from "serverless-compute-local";
import { expect, test } from "vitest";
import { serviceFolder } from "../../../support/folders";

const containers = 'may remain of an earlier start; after a stop, "serverless-compute-local prune" removes them';
const pods = expect.stringMatching(
  /^pods may remain in the namespace gpu of http:\S+; delete them by their label serverless-compute\/service=\S+$/,
);

test.each([
  ["none", { containers, earlier: pods }],
  ["auto", { earlier: pods }],
] as const)(
  "a start with the runtime %s names the workers that a killed service may have left in others",
  async (runtime, place) => {
    const dataFolder = serviceFolder();
    const start = async () => {
      const service = await createService({ dataFolder, port: 0, runtime });
      await service.stop(0);
      return service.place;
    };
    expect(await start()).toEqual({});
    writeFileSync(join(dataFolder, "containers"), "");
    writeFileSync(join(dataFolder, "cluster-pods"), "the namespace gpu of http://192.0.2.1");
    expect(await start()).toEqual(place);
    expect(await start()).toEqual(place);
  },
);

import { mkdir, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type Finished, lastLines, run } from "../../scripts/child.mjs";
import { findGoProgram } from "./programs";
import { startRig } from "./rig";
import { versions } from "./versions";

const [program, suite] = [await findGoProgram("runpodctl"), await findGoProgram("runpodctl-suite")];
const title = `Go runpodctl ${versions.runpodctl}: its own end-to-end suite`;

/** Tests of the suite that fail or skip themselves, by the reason; the names begin with CLI_. */
const unsupported = {
  "the service has no pods": [
    "PodCreateCommunityPublicIP",
    "PodCreateFromTemplate",
    "PodCreateCPU",
    "PodGet",
    "LegacyGetPodWithID",
    "LegacyGetPodAllFields",
  ],
  "the service has no Hub": [
    "HubList",
    "HubListTypeServerless",
    "HubListTypePod",
    "HubListPagination",
    "HubSearch",
    "HubSearchNoResults",
    "HubGetByID",
    "HubGetByOwnerName",
    "HubGetBuildImage",
    "ServerlessCreateFromHub",
    "ServerlessCreateFromHubWithModel",
  ],
  "the service has no public templates": [
    "TemplateListOfficial",
    "TemplateListCommunity",
    "TemplateListPagination",
    "TemplateListAll",
    "TemplateSearch",
    "TemplateSearchWithLimit",
    "TemplateSearchOpenclawStack",
    "TemplateSearchWithTypeOfficial",
    "TemplateSearchWithTypeCommunity",
    "TemplateGet",
  ],
  "the service has no model repository": ["ModelList", "LegacyGetModels"],
};

/** Runs the suite in an account with one object of each kind that it reads. */
async function runSuite(cliPath: string, suitePath: string): Promise<Finished> {
  await using rig = await startRig();
  const home = await mkdtemp(join(tmpdir(), "runpodctl-suite-"));
  try {
    // The suite starts the program from here.
    await mkdir(join(home, "go/bin"), { recursive: true });
    await symlink(cliPath, join(home, "go/bin/runpodctl"));
    const env = {
      PATH: process.env["PATH"],
      HOME: home,
      RUNPOD_API_KEY: rig.service.apiKey,
      RUNPOD_API_URL: rig.service.baseUrl,
      RUNPOD_GRAPHQL_URL: rig.service.graphqlUrl,
    };
    await rig.endpoint("plain.mjs", { workersMin: 0 });
    await rig.clients.management.createNetworkVolume({ name: "suite", size: 10, dataCenterId: "EU-RO-1" });
    // The first start creates an SSH key, and prints more than the JSON that the suite expects.
    await run(cliPath, ["doctor"], { env });
    return await run(suitePath, ["-test.v"], { env, cwd: home, timeout: 600_000 });
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}

/** Results of the tests by name, such as PASS for CLI_Version. Throws if the suite does not end. */
function resultsOf(finished: Finished): Map<string, string> {
  const results = [...finished.stdout.matchAll(/^--- (PASS|FAIL|SKIP): Test(\w+)/gm)];
  if (!/^(PASS|FAIL)$/m.test(finished.stdout)) throw new Error(`the suite did not end: ${lastLines(finished)}`);
  return new Map(results.map(([, result = "", name = ""]) => [name, result]));
}

if ("missing" in program || "missing" in suite) {
  const missing = [program, suite].flatMap((one) => ("missing" in one ? [one.missing] : []));
  describe(title, () => it.skip(`not run: ${missing[0]}`));
} else if ("failure" in program || "failure" in suite) {
  const failures = [program, suite].flatMap((one) => ("failure" in one ? [one.failure] : []));
  it(title, () => expect(failures).toEqual([]));
} else {
  const results = resultsOf(await runSuite(program.path, suite.path));
  describe(title, () => {
    for (const [reason, names] of Object.entries(unsupported))
      it(`does not work: ${names.join(", ")} (${reason})`, () => {
        for (const name of names) expect(results.get(`CLI_${name}`), name).toMatch(/FAIL|SKIP/);
      });
    const unsupportedNames = Object.values(unsupported).flat();
    const supported = [...results].filter(([name]) => !unsupportedNames.includes(name.replace("CLI_", "")));
    it.each(supported)("%s", (_name, result) => expect(result).toBe("PASS"));
  });
}

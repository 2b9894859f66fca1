import { expect, test } from "vitest";
import type { Properties } from "../../provider/engine/values";
import { secretOutputs } from "../../provider/framework/properties/secret-paths";
import { kinds } from "../../provider/resources";
import { dialect } from "../support/dialect";
import { useLifecycleBench } from "../support/lifecycle-bench";
import { byHand } from "./support/by-hand";
import { createDeployment, type Declared, type Deployment } from "./support/deployment";
import { useImageJobs } from "./support/image-jobs";
import { endOf } from "./support/schedules";

const bench = await useLifecycleBench({ templateRelease: 0 });
const { servingNow, startRun, endKill } = await useImageJobs(bench);
const hand = byHand(bench);

const verify = { input: {}, expect: { output: { works: true } }, timeout: 60 };

/** A template with `replaceOnChange` and its endpoint. */
const programOf = (imageName: string, more: Properties = {}): Declared[] => [
  { name: "template", kind: "Template", level: 1, inputs: () => ({ imageName, replaceOnChange: true }) },
  {
    name: "endpoint",
    kind: "ServerlessEndpoint",
    level: 2,
    inputs: (deployed) => ({ templateId: deployed("template").id, workersMax: 1, verify, ...more }),
  },
];
const endpointIn = ({ state }: Deployment): { id: string; outputs: Properties } => {
  const endpoint = state.resources.get("endpoint");
  if (!endpoint) throw new Error("the state has no endpoint");
  return endpoint;
};
const imageOf = async (deployment: Deployment): Promise<string> => (await servingNow(endpointIn(deployment).id)).image;

async function deployed(more?: Properties): Promise<Deployment> {
  const deployment = createDeployment("rollback-states");
  await deployment.up(programOf("good:1", more), startRun());
  return deployment;
}

test.each([
  ["--continue-on-error", { continueOnError: true }],
  ["--target of the template", { targets: ["template"] }],
])(
  "a template that an endpoint serves is not deleted by %s, and the next failure is rolled back to it",
  async (_, options) => {
    const deployment = await deployed();
    expect(await endOf(deployment.up(programOf("bad:2"), startRun()))).toContain("good:1 (version 1) keeps serving");
    const again = await endOf(deployment.up(programOf("bad:3"), startRun(), options));
    expect(again).toMatch(/template "\S+" cannot be deleted: endpoint "\S+" \(\w+\) still uses it/);
    const last = await endOf(deployment.up(programOf("bad:4"), startRun()));
    expect(last).toMatch(/^failed: bad:4 \(version \d\) failed its verification; good:1 \(version \d\) keeps serving/);
    expect(await imageOf(deployment)).toBe("good:1");
    await deployment.up(programOf("good:5"), startRun());
    expect(deployment.state.replaced).toEqual([]);
  },
);

test.each(["refreshed", "unknown to the state"])(
  "an image that was changed by hand, %s, serves again after a failed verification",
  async (kind) => {
    const deployment = await deployed();
    await hand.changeImage(endpointIn(deployment).id, "good:by-hand");
    if (kind === "refreshed") await deployment.refresh(startRun());
    const end = await endOf(deployment.up(programOf("bad:2"), startRun()));
    expect(end).toMatch(/bad:2 \(version 3\) failed its verification; good:by-hand \(version 2\) keeps serving/);
    expect(end).toContain("error: bad:2 cannot work");
    expect(await imageOf(deployment)).toBe("good:by-hand");
    await deployment.up(programOf("good:3"), startRun());
    expect(await imageOf(deployment)).toBe("good:3");
  },
);

test("drift that an update heals serves again if the healed version fails its verification", async () => {
  const deployment = await deployed({ verify: { ...verify, timeout: 3 } });
  // The state has a version that never completes the job.
  await hand.changeImage(endpointIn(deployment).id, "good:by-hand");
  await deployment.refresh(startRun());
  const more = { verify: { ...verify, expect: { output: { works: "never" } } } };
  const end = await endOf(deployment.up(programOf("good:1", more), startRun()));
  expect(end).toMatch(/good:1 \(version 3\) failed its verification; good:by-hand \(version 2\) keeps serving/);
  expect(await imageOf(deployment)).toBe("good:by-hand");
});

if (dialect === "v2")
  test("an imported endpoint without a template serves again after a failed verification", async () => {
    const env = { TOKEN: "value-of-token" };
    const id = await hand.createOwnEndpoint("without-template", "good:own", 5, env);
    const deployment = createDeployment("rollback-states");
    await deployment.import({ name: "endpoint", kind: "ServerlessEndpoint", level: 2 }, id, startRun());
    const end = await endOf(deployment.up(programOf("bad:1"), startRun()));
    expect(end).toMatch(/bad:1 \(version 2\) failed its verification; good:own \(version 1\) keeps serving/);
    const { container } = (await startRun().context.clients.management.readEndpoint(id)) ?? {};
    expect(container).toMatchObject({ imageName: "good:own", env });

    // An interrupted update records what a later failure restores, with the variables as secrets.
    const stopped = startRun({ how: "Ctrl-C", afterProgress: 2 });
    expect(await endOf(deployment.up(programOf("bad:2"), stopped))).toContain("its verification was interrupted");
    expect(endpointIn(deployment).outputs["unverified"]).toMatchObject({ before: { env } });
    expect(secretOutputs(kinds.ServerlessEndpoint, [])).toContainEqual(["unverified", "before", "env"]);
    expect(await endOf(deployment.up(programOf("bad:2"), startRun()))).toContain("good:own keeps serving");
    expect(await imageOf(deployment)).toBe("good:own");
  });

test("an adopted endpoint serves as before if the adopting version fails, and the next deployment verifies again", async () => {
  const name = "adopted-and-failing";
  const id = await hand.createEndpoint(name, "good:theirs");
  const before = await servingNow(id);
  const deployment = createDeployment("rollback-states");
  const more = { name, adoptExisting: true, idleTimeout: 33 };
  const end = await endOf(deployment.up(programOf("bad:1", more), startRun()));
  expect(end).toMatch(/bad:1 \(version 2\) failed its verification; good:theirs \(version 1\) keeps serving/);
  expect(end).not.toContain("was created");
  expect(endpointIn(deployment).id).toBe(id);
  expect(await servingNow(id)).toEqual(before);
  expect(endpointIn(deployment).outputs).toMatchObject({ unverified: { before: {} } });
  await deployment.up(programOf("good:2", more), startRun());
  expect(await servingNow(id)).toEqual({ image: "good:2", idleTimeout: 33 });
});

test("an interrupted update restores a secret setting, which the state repeats as a secret and no message shows", async () => {
  const deployment = await deployed({ idleTimeout: 3141 });
  const stopped = startRun({ how: "Ctrl-C", afterProgress: 2 });
  expect(await endOf(deployment.up(programOf("bad:2", { idleTimeout: 12 }), stopped))).toContain("interrupted");
  expect(endpointIn(deployment).outputs["unverified"]).toMatchObject({ before: { idleTimeout: 3141 } });
  expect(secretOutputs(kinds.ServerlessEndpoint, [["idleTimeout"]])).toContainEqual([
    "unverified",
    "before",
    "idleTimeout",
  ]);
  // If the program no longer makes the setting secret, the restored value stays secret.
  expect(secretOutputs(kinds.ServerlessEndpoint, [["unverified", "before", "idleTimeout"]])).toContainEqual([
    "idleTimeout",
  ]);
  const end = await endOf(deployment.up(programOf("bad:2", { idleTimeout: 12 }), startRun()));
  expect(end).toContain("good:1 keeps serving");
  expect(end).toContain("idleTimeout [secret]");
  expect(end).not.toContain("3141");
  expect(await servingNow(endpointIn(deployment).id)).toEqual({ image: "good:1", idleTimeout: 3141 });
});

test("after a killed update, the message numbers the failed version only", async () => {
  const deployment = await deployed();
  const killed = startRun({ how: "kill", afterProgress: 2 });
  await endOf(deployment.up(programOf("bad:2"), killed));
  endKill();
  expect(await imageOf(deployment)).toBe("bad:2");
  const end = await endOf(deployment.up(programOf("bad:2"), startRun()));
  expect(end).toMatch(/^failed: bad:2 \(version 2\) failed its verification; good:1 keeps serving \(as version 3\)/);
  expect(await imageOf(deployment)).toBe("good:1");
});

test("a refresh after a killed update marks the version, so that the next deployment verifies it", async () => {
  const deployment = await deployed();
  await endOf(deployment.up(programOf("bad:2"), startRun({ how: "kill", afterProgress: 2 })));
  endKill();
  await deployment.refresh(startRun());
  const end = await endOf(deployment.up(programOf("bad:2"), startRun()));
  expect(end).toMatch(
    /bad:2 \(version 2\) failed its verification, and no earlier version passed one; it keeps running/,
  );
  expect(end).toContain("error: bad:2 cannot work");
  expect(endpointIn(deployment).outputs).toHaveProperty("unverified");
  await deployment.up(programOf("good:3"), startRun());
  expect(endpointIn(deployment).outputs).not.toHaveProperty("unverified");
});

test.each(["the same template", "another template"])(
  "after a kill, an adopted endpoint serves as in the state if the next deployment, with %s, fails",
  async (kind) => {
    const name = `adopted-and-killed-${kind === "another template"}`;
    const id = await hand[dialect === "v2" ? "createOwnEndpoint" : "createEndpoint"](name, "good:theirs", 6);
    const deployment = createDeployment("rollback-states");
    const more = { name, adoptExisting: true };
    expect(await endOf(deployment.up(programOf("bad:1", more), startRun()))).toContain("good:theirs");
    await endOf(deployment.up(programOf("bad:1", more), startRun({ how: "kill", afterProgress: 2 })));
    endKill();
    expect((await servingNow(id)).image).toBe("bad:1");
    const image = kind === "the same template" ? "bad:1" : "bad:2";
    const end = await endOf(deployment.up(programOf(image, more), startRun()));
    expect(end).toMatch(/failed its verification; good:theirs(?: \(version \d\))? keeps serving/);
    expect((await servingNow(id)).image).toBe("good:theirs");
  },
);

const settings = (triggers: string[], idleTimeout: number): Properties => ({
  idleTimeout,
  verify: { ...verify, triggers },
});

test("a failed verification of other settings leaves a container changed by hand as it is", async () => {
  const deployment = await deployed(settings(["a"], 6));
  const { id } = endpointIn(deployment);
  await hand.changeImage(id, "bad:by-hand");
  const end = await endOf(deployment.up(programOf("good:1", settings(["b"], 9)), startRun()));
  expect(end).toMatch(
    /^failed: good:1 \(version \d\) failed its verification and keeps running, because the template /,
  );
  expect(end).not.toContain("keeps serving");
  expect(end).toContain("\nRestored idleTimeout [secret]. Revert or correct the template.");
  expect(end).toContain("error: bad:by-hand cannot work");
  expect(await servingNow(id)).toEqual({ image: "bad:by-hand", idleTimeout: 6 });
});

test.each(["by a killed update", "by hand"].flatMap((how) => [6, 9].map((idleTimeout) => [how, idleTimeout] as const)))(
  "an unverified version whose container was changed %s is sent again, with idleTimeout %i",
  async (how, idleTimeout) => {
    // A template for each version, so that the program has the templateId of the state.
    const versionOf = (image: string, more: Properties = {}): Declared[] => {
      const [template, endpoint] = programOf(image, { ...settings([], 6), ...more });
      if (!template || !endpoint) throw new Error("the program has two resources");
      const name = `template-${image.replace(":", "-")}`;
      const inputs: Declared["inputs"] = (find) => endpoint.inputs((key) => find(key === "template" ? name : key));
      return [
        { ...template, name },
        { ...endpoint, inputs },
      ];
    };
    const deployment = createDeployment("rollback-states");
    await deployment.up(versionOf("good:1"), startRun());
    const interrupted = startRun({ how: "Ctrl-C", afterProgress: 1 });
    expect(await endOf(deployment.up(versionOf("good:1", settings(["x"], 6)), interrupted))).toContain("interrupted");
    const { id } = endpointIn(deployment);
    if (how === "by hand") await hand.changeImage(id, "bad:2");
    else {
      await endOf(deployment.up(versionOf("bad:2"), startRun({ how: "kill", afterProgress: 2 })));
      endKill();
    }
    expect((await servingNow(id)).image).toBe("bad:2");
    await deployment.up(versionOf("good:1", settings(["x"], idleTimeout)), startRun());
    expect(await servingNow(id)).toEqual({ image: "good:1", idleTimeout });
    expect(endpointIn(deployment).outputs).not.toHaveProperty("unverified");
  },
);

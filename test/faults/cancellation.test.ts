import { describe, expect, test } from "vitest";
import { kinds } from "../../provider/resources";
import { useLifecycleBench } from "../support/lifecycle-bench";
import { ManualClock } from "../support/manual-clock";
import { naming } from "../support/naming";
import type { Fault } from "../support/recording-proxy";
import { freshName, objectCases } from "./support/kinds";

const bench = await useLifecycleBench({ templateRelease: 3_600_000 });
const cases = await objectCases(bench);

/** Advances time until the condition holds. */
async function waitUntil(done: () => boolean): Promise<void> {
  while (!done()) await new Promise((resolve) => setTimeout(resolve, 2));
}

const responseFaults: [string, Fault][] = [
  ["is dropped", { kind: "dropResponse" }],
  ["is replaced by a 502", { kind: "status", status: 502, applied: true }],
  ["is truncated", { kind: "halfBody" }],
];

describe.each(cases)("a $kind whose create is cancelled", ({ kind, create, inputsOf, idsOf }) => {
  const lifecycle = kinds[kind];

  test.each(responseFaults)("while its response %s is found and leaves no orphan", async (_, fault) => {
    const name = freshName();
    const controller = new AbortController();
    const context = bench.context({ signal: controller.signal });
    const { progress } = context;
    context.progress = (text) => {
      progress(text);
      if (text.includes("the response was lost")) controller.abort(new Error("stopped"));
    };
    bench.proxy.inject(create, fault);
    const { id } = await lifecycle.create(inputsOf(name), context);
    expect(await idsOf(name)).toEqual([id]);
  });

  test("while the service responds too slowly is found and leaves no orphan", async () => {
    const name = freshName();
    const controller = new AbortController();
    // The grace period of a cancelled create elapses immediately; the response arrives after it.
    const context = bench.context({ signal: controller.signal });
    bench.proxy.inject(create, { kind: "delayResponse", ms: 40 });
    const creation = lifecycle.create(inputsOf(name), context);
    await waitUntil(() => bench.proxy.requests.some(({ fault, applied }) => fault === "delayResponse" && applied));
    controller.abort(new Error("stopped"));
    expect(await idsOf(name)).toEqual([(await creation).id]);
  });
});

test("a cancellation immediately ends a create that waits for a retry, with its reason", async () => {
  const { NetworkVolume } = kinds;
  const controller = new AbortController();
  const context = bench.context({ signal: controller.signal, clock: new ManualClock() });
  bench.proxy.inject({ method: "POST" }, { kind: "status", status: 429, retryAfter: "30" }, 9);
  const { inputs } = NetworkVolume.check({}, { size: 10, dataCenterId: "EU-RO-1" }, naming("never-dev"));
  const outcome = NetworkVolume.create(inputs, context).catch((error: unknown) => error);
  await waitUntil(() => context.progressMessages.some((text) => text.includes("attempt 2")));
  controller.abort(new Error("stopped by its user"));
  // The clock does not advance, so the wait would never end.
  expect(await outcome).toMatchObject({ message: "stopped by its user" });
  expect(await bench.listObjects("networkvolumes")).not.toContainEqual(expect.objectContaining({ name: "never-dev" }));
});

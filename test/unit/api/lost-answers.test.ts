import { describe, expect, test } from "vitest";
import { startRig, waitsOf } from "../../support/client-rig";
import { type Behaviour, json } from "../../support/faulty-server";
import { endpointAnswer, templateAnswer, templateInput, volumeAnswer } from "../../support/records";

const page = { does: "answer", status: 502, headers: { "content-type": "text/html" } } as const;

/** Failures after which the request may have been applied. */
const lost: [string, Behaviour, code: string][] = [
  ["the connection ends before the body is read", { does: "hang up unread" }, "connection_lost"],
  ["the connection ends after the body was read", { does: "hang up" }, "connection_lost"],
  ["the connection is reset after the body was read", { does: "reset" }, "connection_lost"],
  [
    "the connection ends in the middle of the answer",
    { does: "answer half", status: 200, body: '{"id":"abc"}' },
    "connection_lost",
  ],
  [
    "the connection ends in the middle of a chunked answer",
    { does: "answer half", status: 200, body: '{"id":"abc"}', chunked: true },
    "connection_lost",
  ],
  ["no answer comes in time", { does: "hang" }, "answer_timeout"],
  ["the answer is a 500", json({ message: "out of cheese" }, 500), "server_error"],
  ["the answer is a 502 page of a proxy", { ...page, body: "<html><title>Bad Gateway</title></html>" }, "server_error"],
  ["the answer is a 503", json({ message: "upstream" }, 503), "unavailable"],
  ["the answer is a 504", json({ error: "upstream" }, 504), "server_error"],
];

describe.each(lost)("if %s", (_when, fault, code) => {
  // Short only where it is expected to expire, because responses are slow on a busy machine.
  const settings = { attemptTimeout: fault.does === "hang" ? 1000 : 10_000 };

  test("a create is not retried, and its error states that it may have been applied", async () => {
    const { clients, failure, seen } = await startRig([fault], settings);
    const error = await failure(
      clients.management.createNetworkVolume({ name: "v", size: 10, dataCenterId: "EU-RO-1" }),
    );
    expect(error).toMatchObject({ code, ambiguous: true });
    expect(error.request.method).toBe("POST");
    expect(seen.map(({ method, url }) => `${method} ${url}`)).toEqual(["POST /v1/networkvolumes"]);
  });

  test("a new template is not retried", async () => {
    const { clients, failure, seen } = await startRig([fault], settings);
    expect(await failure(clients.management.createTemplate(templateInput))).toMatchObject({ code, ambiguous: true });
    expect(seen).toHaveLength(1);
  });

  test("a job is not retried, by /run or by /retry", async () => {
    const { clients, failure, seen } = await startRig([fault], settings);
    expect(await failure(clients.jobs.run("ep", { input: {} }))).toMatchObject({ code, ambiguous: true });
    expect(await failure(clients.jobs.retry("ep", "job"))).toMatchObject({ code, ambiguous: true });
    expect(seen).toHaveLength(2);
  });

  test("a read, an update and a delete are retried until a response arrives", async () => {
    const plan = (answer: Behaviour) => [fault, fault, answer];
    const read = await startRig(plan(json(endpointAnswer())), settings);
    const reading = read.result(read.clients.management.readEndpoint("abc"));
    const update = await startRig(plan(json(volumeAnswer({ size: 200 }))), settings);
    const updating = update.result(update.clients.management.updateNetworkVolume("abc", { size: 200 }));
    const remove = await startRig(plan({ does: "answer", status: 204 }), settings);
    const removing = remove.result(remove.clients.management.deleteEndpoint("abc"));
    const whole = json({ data: { podTemplate: templateAnswer() } });
    const save = await startRig([whole, ...plan(json({ data: { saveTemplate: templateAnswer() } }))], settings);
    const saving = save.result(save.clients.management.updateTemplate("30zmvf89kd", { readme: "x" }));
    const cancel = await startRig(plan(json({ id: "job", status: "CANCELLED" })), settings);
    const cancelling = cancel.result(cancel.clients.jobs.cancel("ep", "job"));
    const done = await Promise.all([reading, updating, removing, saving, cancelling]);
    expect(done.slice(0, 2)).toMatchObject([{ name: "chat-dev" }, { size: 200 }]);
    for (const { seen } of [read, update, remove, cancel]) expect(seen).toHaveLength(3);
    // It reads the template first.
    expect(save.seen).toHaveLength(4);
  });

  test("a read fails after six attempts with growing waits", async () => {
    const { clients, failure, seen } = await startRig([fault], settings);
    const { waits, onRetry } = waitsOf();
    const error = await failure(clients.management.listEndpoints({ onRetry }));
    expect(error).toMatchObject({ code, retryable: true });
    expect(seen).toHaveLength(6);
    expect(waits).toEqual([125, 250, 500, 1000, 2000]);
  });
});

import { describe, expect, test } from "vitest";
import { kinds } from "../../../../provider/resources";
import { type Behaviour, json } from "../../../support/faulty-server";
import { naming } from "../../../support/naming";
import { startScriptedService } from "../../../support/scripted-service";

const { JobInvoke } = kinds;

/** Runs a JobInvoke with a request to endpoint `e1`, whose server responds with `response`. */
async function invoke(
  response: Behaviour,
  { expected = {}, timeout = 60 }: { expected?: object; timeout?: number } = {},
) {
  const service = await startScriptedService(({ url }) => {
    if (url !== "/v2/serverless/e1") return response;
    const { host } = new URL(service.context.clients.jobs.url("e1"));
    return json({
      id: "e1",
      name: "web",
      type: "LOAD_BALANCER",
      requestUrls: { base: `http://${host}/lb` },
      image: "acme/web:1",
    });
  }, "v2");
  const request = { path: "/generate?key=1#part", method: "POST", body: { text: "ping" }, expect: { ...expected } };
  const { inputs, failures } = JobInvoke.check({}, { endpointId: "e1", request, timeout }, naming());
  expect(failures).toEqual([]);
  const result = await JobInvoke.create(inputs, service.context).catch((error: Error) => error);
  return { result, ...service };
}

const text = (body: string, status: number): Behaviour => ({ action: "respond", status, body });

describe("a request of a JobInvoke", () => {
  test("has the response's body as its output and reports its progress without the query", async () => {
    const { result, messages } = await invoke(json({ text: "pong" }), { expected: { body: { text: "pong" } } });
    expect(result).toMatchObject({ outputs: { status: "COMPLETED", output: { text: "pong" } } });
    const title = 'POST /generate on endpoint "e1"';
    expect(messages).toEqual([`${title}: waiting for the response`, `${title} returned 200`]);
  });

  test("has exact numbers in its output: as text those that JavaScript cannot represent", async () => {
    const body = { seed: "12345678901234567890", factors: ["1e400", 0.1] };
    const { result } = await invoke(text('{"seed":12345678901234567890,"factors":[1e400,0.1]}', 200), {
      expected: { body },
    });
    expect(result).toMatchObject({ outputs: { output: body } });
  });

  test("fails with the status and the trimmed body of an unexpected response", async () => {
    const { result } = await invoke(text("\n no route \n", 404));
    expect(result).toMatchObject({
      message: [
        'POST /generate on endpoint "e1" returned 404, expected 200',
        "response: no route",
        "The endpoint's logs may have the details. Correct the worker or `expect`.",
      ].join("\n"),
    });
  });

  test("fails with a long body cut to 4000 characters", async () => {
    const { result } = await invoke(text("x".repeat(10_000), 404));
    expect(String(result)).toContain(`response: ${"x".repeat(4000)}…\n`);
  });

  test("fails without a response, with the reason and the next step", async () => {
    const { result } = await invoke({ action: "hang up" }, { timeout: 1 });
    expect(result).toMatchObject({
      message: expect.stringMatching(
        /^POST \/generate on endpoint "e1" received no response: .+\nRaise timeout if its workers start slowly/,
      ),
    });
  });
});

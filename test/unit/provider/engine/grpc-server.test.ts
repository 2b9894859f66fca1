import { once } from "node:events";
import { connect, type IncomingHttpHeaders } from "node:http2";
import { createServer, type Server } from "node:net";
import { Client, credentials, type Metadata, status } from "@grpc/grpc-js";
import { afterAll, beforeAll, expect, test } from "vitest";
import { CallFailure } from "../../../../provider/engine/grpc";
import { type Call, serveCalls } from "../../../../provider/engine/grpc-server";
import { listenOnLoopback } from "../../../support/loopback";

const limit = 1_000_000;
/** The longest header value that grpc-js accepts; the engine accepts more. */
const long = Buffer.alloc(40_000, "x");
const pending = { resolve: (): void => {} };
const abandoned = new Promise<void>((resolve) => {
  pending.resolve = resolve;
});

const calls: Record<string, Call> = {
  "/s/Echo": (request) => request,
  "/s/Later": async (request) => {
    await new Promise((done) => setImmediate(done));
    return request;
  },
  "/s/Twice": (request) => [request, Buffer.alloc(0), request],
  "/s/Empty": () => [],
  "/s/Throw": () => {
    throw new Error("50 % of it:\nüber „Straße“ \ud800");
  },
  "/s/Fail": () => {
    throw new CallFailure(9, "kept", long);
  },
  "/s/Never": async (request) => {
    await abandoned;
    return request;
  },
};

let listener: Server;
let client: Client;
let address: string;
beforeAll(async () => {
  listener = createServer();
  address = new URL(await listenOnLoopback(listener)).host;
  serveCalls(listener, (path) => (Object.hasOwn(calls, path) ? calls[path] : undefined), limit);
  client = new Client(address, credentials.createInsecure(), {
    "grpc.max_send_message_length": -1,
    "grpc.max_receive_message_length": -1,
    "grpc-node.max_session_memory": 1000,
  });
});
afterAll(async () => {
  pending.resolve();
  client.close();
  listener.close();
});

const asIs = (bytes: Buffer): Buffer => bytes;
const call = (path: string, request: Buffer): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    client.makeUnaryRequest(path, asIs, asIs, request, (error, response) =>
      error || !response ? reject(error) : resolve(response),
    );
  });

test("serves calls of grpc-js, concurrent and sequential, of all sizes", async () => {
  const sizes = [0, 1, 16_384, 70_000, limit - 10];
  const requests = [...sizes, ...sizes].map((size, index) => Buffer.alloc(size, index));
  const responses = await Promise.all(
    requests.map((request, index) => call(index % 2 ? "/s/Echo" : "/s/Later", request)),
  );
  for (const [index, response] of responses.entries())
    expect(response.equals(requests[index] ?? Buffer.alloc(0))).toBe(true);
});

test("streams a list of messages, also an empty list", async () => {
  const received = async (path: string): Promise<string[]> => {
    const texts: string[] = [];
    for await (const chunk of client.makeServerStreamRequest(path, asIs, asIs, Buffer.from("on")))
      texts.push(`${chunk}`);
    return texts;
  };
  expect(await received("/s/Twice")).toEqual(["on", "", "on"]);
  expect(await received("/s/Empty")).toEqual([]);
});

test("a failure keeps its text, including special characters", async () => {
  await expect(call("/s/Throw", Buffer.alloc(0))).rejects.toMatchObject({
    code: status.UNKNOWN,
    details: "50 % of it:\nüber „Straße“ \ufffd",
  });
});

test("a failure keeps its details, also with a large state", async () => {
  const failed: { code: number; metadata: Metadata } = await call("/s/Fail", Buffer.alloc(0)).then(
    () => expect.unreachable(),
    (error) => error,
  );
  expect(failed.code).toBe(status.FAILED_PRECONDITION);
  const [details] = failed.metadata.get("grpc-status-details-bin");
  expect(Buffer.from(details ?? "").equals(long)).toBe(true);
});

test("an unknown call is unimplemented, and the connection continues", async () => {
  await expect(call("/s/None", Buffer.alloc(0))).rejects.toMatchObject({ code: status.UNIMPLEMENTED });
  expect((await call("/s/Echo", Buffer.from("on"))).toString()).toBe("on");
});

test("a message over the limit is rejected while it arrives, and the connection continues", async () => {
  await expect(call("/s/Echo", Buffer.alloc(20 * limit))).rejects.toMatchObject({
    code: status.RESOURCE_EXHAUSTED,
    details: `the message is longer than ${limit} bytes`,
  });
  expect((await call("/s/Echo", Buffer.from("on"))).toString()).toBe("on");
});

/** Sends a raw body, framed or not. */
async function post(body: Buffer, headers: Record<string, string> = {}): Promise<IncomingHttpHeaders> {
  const session = connect(`http://${address}`);
  try {
    const stream = session.request({
      ":method": "POST",
      ":path": "/s/Echo",
      "content-type": "application/grpc",
      ...headers,
    });
    stream.end(body);
    const [responseHeaders] = await once(stream, "response");
    stream.resume();
    await once(stream, "close");
    return responseHeaders;
  } finally {
    session.close();
  }
}

test.each<[string, Buffer, number]>([
  ["an empty body", Buffer.alloc(0), status.INTERNAL],
  ["half a frame", Buffer.from([0, 0, 0]), status.INTERNAL],
  ["a frame that is longer than its message", Buffer.from([0, 0, 0, 0, 9, 1]), status.INTERNAL],
  ["a frame that is shorter than its message", Buffer.from([0, 0, 0, 0, 1, 1, 2]), status.INTERNAL],
  ["a compressed message", Buffer.from([1, 0, 0, 0, 1, 1]), status.UNIMPLEMENTED],
])("%s is rejected", async (_, body, code) => {
  expect(await post(body)).toMatchObject({ ":status": 200, "grpc-status": String(code) });
});

test("a request that is not gRPC is rejected by an HTTP status", async () => {
  expect(await post(Buffer.alloc(5), { "content-type": "application/json" })).toMatchObject({ ":status": 415 });
  expect(await post(Buffer.alloc(0), { ":method": "PUT" })).toMatchObject({ ":status": 415 });
});

test("a call that the client cancelled does not affect others", async () => {
  const cancelled = client.makeUnaryRequest("/s/Never", asIs, asIs, Buffer.alloc(0), () => {});
  await new Promise((done) => setImmediate(done));
  cancelled.cancel();
  pending.resolve();
  expect((await call("/s/Echo", Buffer.from("on"))).toString()).toBe("on");
});

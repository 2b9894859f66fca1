import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import { connect } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { watchConnections } from "../../../../service/api/connections";
import { createMalformedRequestHandler } from "../../../../service/api/responses";
import { closeServer, listenOnLoopback } from "../../../support/loopback";

const get = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
const malformedBody = "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nnonsense\r\n";

/** Sends bytes to a server that holds its responses; returns them, and the bytes that the client has received. */
async function exchange(text: string, count: number, onRequest: (response: ServerResponse) => void = () => undefined) {
  const responses: ServerResponse[] = [];
  const server = createServer((_request, response) => {
    onRequest(response);
    responses.push(response);
  });
  let errors = 0;
  const reject = createMalformedRequestHandler(watchConnections(server));
  server.on("clientError", (error, socket: Parameters<typeof reject>[1]) => {
    errors++;
    reject(error, socket);
  });
  const { port } = new URL(await listenOnLoopback(server));
  onTestFinished(() => closeServer(server));
  const client = connect(Number(port), "127.0.0.1").on("error", () => undefined);
  let received = "";
  client.setEncoding("latin1").on("data", (part: string) => {
    received += part;
  });
  const closed = once(client, "close");
  client.write(text);
  await expect.poll(() => [responses.length, errors > 0]).toEqual([count, true]);
  return { responses, client, ended: () => closed.then(() => received) };
}

const statuses = (text: string): string[] => [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status = ""]) => status);

test("the error of malformed bytes follows the responses to the requests before them", async () => {
  const { responses, client, ended } = await exchange(`${get}${get}nonsense\r\n\r\n`, 2);
  client.write("more nonsense");
  for (const [index, response] of responses.entries()) response.end(`response ${index}`);
  const text = await ended();
  expect(statuses(text)).toEqual(["200", "200", "400"]);
  expect(text).toMatch(/response 0.*response 1.*400 Bad Request.*must be valid HTTP"\}\]\}$/s);
});

test("malformed bytes do not enter a response that is being sent", async () => {
  const { responses, ended } = await exchange(`${get}nonsense\r\n\r\n`, 1, (response) => void response.write("begin"));
  responses[0]?.end("end");
  expect(await ended()).toMatch(/begin\r\n3\r\nend\r\n0\r\n\r\nHTTP\/1\.1 400 .*"\}\]\}$/s);
});

test("a malformed body receives the error, also behind another request, unless its response has begun", async () => {
  const alone = await exchange(malformedBody, 1);
  expect(statuses(await alone.ended())).toEqual(["400"]);
  const behind = await exchange(get + malformedBody, 2);
  behind.responses[0]?.end("first");
  expect(statuses(await behind.ended())).toEqual(["200", "400"]);
  const begun = await exchange(malformedBody, 1, (response) => void response.write("begin"));
  expect(await begun.ended()).not.toContain("400");
});

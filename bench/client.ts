import { Agent, request } from "node:http";

const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });

/** What came back: status 0 when no answer came at all, with the reason as the text. `ms` from the send to the end. */
export interface Answer {
  status: number;
  text: string;
  ms: number;
}

/** Sends one request; never rejects, since a measurement counts faults. */
export function call(method: string, url: string, apiKey: string, body?: string): Promise<Answer> {
  const began = performance.now();
  return new Promise((resolve) => {
    const headers = {
      authorization: `Bearer ${apiKey}`,
      ...(body === undefined
        ? {}
        : { "content-type": "application/json", "content-length": String(Buffer.byteLength(body)) }),
    };
    const end = (status: number, text: string): void => resolve({ status, text, ms: performance.now() - began });
    const sent = request(url, { method, agent, headers }, (answer) => {
      let text = "";
      answer.setEncoding("utf8");
      answer.on("data", (part: string) => {
        text += part;
      });
      answer.on("end", () => end(answer.statusCode ?? 0, text));
      answer.on("error", (error) => end(0, error.message));
    });
    sent.on("error", (error) => end(0, error.message));
    sent.end(body);
  });
}

import type { IncomingHttpHeaders } from "node:http";
import { afterAll, type TestContext, vi } from "vitest";
import { serve } from "../../support/loopback";
import { skip, type Target } from "../../support/target";

/** One received call. */
interface Notification {
  method: string;
  headers: IncomingHttpHeaders;
  /** The body as text and parsed. */
  text: string;
  json: unknown;
}

interface WebhookReceiver {
  /** Address for the `webhook` of a job. Returns `statuses` in turn; the last repeats. */
  address(name: string, ...statuses: number[]): string;
  /** Calls to an address so far. */
  calls(name: string): Notification[];
  /** Waits for the first call to an address. */
  call(name: string): Promise<Notification>;
}

/** Starts a receiver of webhooks on a free port of this machine, closed after the file's last test. */
export async function useWebhookReceiver(): Promise<WebhookReceiver> {
  const responses = new Map<string, number[]>();
  const calls = new Map<string, Notification[]>();
  const origin = await serve(async (request, response) => {
    const name = String(request.url).slice(1);
    let text = "";
    for await (const part of request) text += part;
    const received = calls.get(name) ?? [];
    calls.set(name, [
      ...received,
      { method: String(request.method), headers: request.headers, text, json: JSON.parse(text || "null") },
    ]);
    const statuses = responses.get(name) ?? [];
    response.writeHead(statuses[received.length] ?? statuses.at(-1) ?? 200).end();
  }, afterAll);
  return {
    address(name, ...statuses) {
      responses.set(name, statuses);
      return `${origin}/${name}`;
    },
    calls: (name) => calls.get(name) ?? [],
    call: (name) =>
      vi.waitFor(
        () => {
          const [first] = calls.get(name) ?? [];
          if (first) return first;
          throw new Error(`${name} received no call`);
        },
        { timeout: 15_000, interval: 10 },
      ),
  };
}

/** Skips the test if the service cannot reach this machine's loopback address. */
export function needsReachableReceiver(target: Target, context: TestContext): void {
  const { hostname } = new URL(target.serverlessUrl);
  if (!["127.0.0.1", "localhost", "[::1]"].includes(hostname)) {
    skip(context, "the webhook receiver listens on 127.0.0.1, which that service cannot reach");
  }
}

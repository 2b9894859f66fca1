/** Media type of an event stream. */
export const eventStreamType = "text/event-stream";

/** A comment, which clients ignore. It sends the head of a response, and detects closed connections. */
export const commentText = ":\n\n";

interface ServerSentEvent {
  /** Name of the event; clients call it "message" without one. */
  event?: string;
  /** Sent by a client that reconnects, as the last event it received. */
  id?: string;
  /** Delay after which a client reconnects, ms. */
  retry?: number;
  data?: string;
}

/** A server-sent event as text. Line breaks in `data` become spaces, because each would end the line; in JSON they only separate tokens. */
export function eventText({ event, id, retry, data }: ServerSentEvent): string {
  const fields = { event, id, retry, data: data?.replace(/[\r\n]+/g, " ") };
  const lines = Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : `${name}: ${value}\n`));
  return `${lines.join("")}\n`;
}

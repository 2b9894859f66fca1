/** Codes of gRPC's statuses that we send or expect. */
export const status = { ok: 0, unknown: 2, exhausted: 8, unimplemented: 12, internal: 13, unavailable: 14 } as const;

/** A call that failed, as gRPC passes it on. */
export class CallFailure extends Error {
  override readonly name = "CallFailure";
  constructor(
    readonly code: number,
    message: string,
    /** A google.rpc.Status for those who read more than the message. */
    readonly details?: Uint8Array,
  ) {
    super(message);
  }
}

/** Returns true if something thrown is a CallFailure, also one of another bundle of the plugin, whose class is a copy of this one. */
export const isCallFailure = (thrown: unknown): thrown is CallFailure =>
  thrown instanceof Error && thrown.name === "CallFailure" && "code" in thrown && typeof thrown.code === "number";

/** Bytes before each message: whether it is compressed, and its length. */
const prefixLength = 5;

/** A message as the body of an HTTP/2 request or response. */
export function framed(message: Uint8Array): Buffer {
  const body = Buffer.allocUnsafe(prefixLength + message.length);
  body[0] = 0;
  body.writeUInt32BE(message.length, 1);
  body.set(message, prefixLength);
  return body;
}

/** The one message of a unary call's body. */
export function unframed(body: Buffer): Buffer {
  if (body.length < prefixLength) throw new CallFailure(status.internal, "the request has no message");
  if (body[0] !== 0) throw new CallFailure(status.unimplemented, "the message is compressed, which was not agreed on");
  const length = body.readUInt32BE(1);
  const message = body.subarray(prefixLength);
  if (message.length === length) return message;
  throw new CallFailure(status.internal, `the message has ${message.length} bytes; its frame states ${length}`);
}

/** The text of a status in a header: printable ASCII as it is, everything else as percent-encoded UTF-8. */
export const headerText = (text: string): string =>
  // By way of bytes, for half of a character that takes two units cannot be encoded.
  Buffer.from(text)
    .toString()
    .replace(/[^\x20-\x24\x26-\x7e]+/g, encodeURIComponent);

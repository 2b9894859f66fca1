/** gRPC status codes that this package sends or expects. */
export const status = { ok: 0, unknown: 2, exhausted: 8, unimplemented: 12, internal: 13, unavailable: 14 } as const;

/** Failed gRPC call. */
export class CallFailure extends Error {
  override readonly name = "CallFailure";
  constructor(
    readonly code: number,
    message: string,
    /** Encoded google.rpc.Status with details beyond the message. */
    readonly details?: Uint8Array,
  ) {
    super(message);
  }
}

/** Returns the failure of a call whose bytes are not a valid message. */
export const malformed = (problem: string): CallFailure => new CallFailure(status.internal, problem);

/** Returns true for a CallFailure, including one from another bundle of the plugin, which contains its own copy of the class. */
export const isCallFailure = (thrown: unknown): thrown is CallFailure =>
  thrown instanceof Error && thrown.name === "CallFailure" && "code" in thrown && typeof thrown.code === "number";

/** Length of the prefix of each message (bytes): a compression flag and the message's length. */
const prefixLength = 5;

/** Returns a message as the body of an HTTP/2 request or response. */
export function frameMessage(message: Uint8Array): Buffer {
  const body = Buffer.allocUnsafe(prefixLength + message.length);
  body[0] = 0;
  body.writeUInt32BE(message.length, 1);
  body.set(message, prefixLength);
  return body;
}

/** Returns the message in the body of a unary call. */
export function unframeMessage(body: Buffer): Buffer {
  if (body.length < prefixLength) throw malformed("the request has no message");
  if (body[0] !== 0)
    throw new CallFailure(status.unimplemented, "the message is compressed, but no compression was negotiated");
  const length = body.readUInt32BE(1);
  const message = body.subarray(prefixLength);
  if (message.length === length) return message;
  throw malformed(`the message has ${message.length} bytes; its frame states ${length}`);
}

/** Encodes a status message for a header: printable ASCII is unchanged, everything else is percent-encoded UTF-8. */
export const encodeHeaderText = (text: string): string =>
  // The conversion to bytes and back replaces lone surrogates, which encodeURIComponent rejects.
  Buffer.from(text)
    .toString()
    .replace(/[^\x20-\x24\x26-\x7e]+/g, encodeURIComponent);

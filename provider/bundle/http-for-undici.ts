// What undici needs of Node's HTTP to send a request. In the bundle of the clients this stands for `node:http`, which
// node:http2 has loaded under Node, while Bun has an HTTP/2 of its own: there it takes 2 ms that nothing needs.

const isBun = "bun" in process.versions;

/** Bytes of a response's headers that are accepted; the usual ones of Node, too. */
export const maxHeaderSize = isBun ? 16 * 1024 : process.getBuiltinModule("node:http").maxHeaderSize;

/** Only told apart from other bodies of a request, which are all texts here. */
export class IncomingMessage {}

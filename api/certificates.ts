import { readFileSync } from "node:fs";
import { createSecureContext, rootCertificates, type SecureContext } from "node:tls";
import { buildConnector } from "undici";

/**
 * Trust in Node's own certificates and in those of a file, as Node has it where NODE_EXTRA_CA_CERTS names the file. Like
 * Node, it goes on with a warning when the file cannot be read: connections that need it then fail by themselves.
 */
export function trustWith(file: string): SecureContext {
  const extra: string[] = [];
  try {
    extra.push(readFileSync(file, "utf8"));
  } catch (error) {
    process.emitWarning(`Ignoring extra certs from ${JSON.stringify(file)}: ${error}`);
  }
  return createSecureContext({ ca: [...rootCertificates, ...extra] });
}

/** Opens the connections of a pool; those by TLS trust the file's certificates, which are read for the first of them. */
export function connectorTrusting(file: string, timeout: number): buildConnector.connector {
  const plain = buildConnector({ timeout });
  let secure: buildConnector.connector | undefined;
  return (options, callback) => {
    if (options.protocol !== "https:") return plain(options, callback);
    secure ??= buildConnector({ timeout, secureContext: trustWith(file) });
    return secure(options, callback);
  };
}

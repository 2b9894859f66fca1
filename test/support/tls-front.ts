import { readFile } from "node:fs/promises";
import { request } from "node:http";
import { createServer } from "node:https";
import { join } from "node:path";
import { run } from "../../scripts/child.mjs";
import { listenOnLoopback, shut } from "./loopback";

/** A TLS server in front of another one, with a self-signed certificate. */
export interface TlsFront {
  origin: string;
  /** The certificate's file, in PEM. */
  certificate: string;
  close(): Promise<void>;
}

/** Starts one in front of `target`; its key and certificate are created in `folder`. */
export async function startTlsFront(target: string, folder: string): Promise<TlsFront> {
  const [key, certificate] = [join(folder, "key.pem"), join(folder, "certificate.pem")];
  const made = await run("openssl", [
    "req",
    "-x509",
    "-newkey",
    "ec",
    "-pkeyopt",
    "ec_paramgen_curve:prime256v1",
    "-nodes",
    "-days",
    "2",
    "-subj",
    "/CN=private",
    "-addext",
    "subjectAltName=IP:127.0.0.1",
    "-keyout",
    key,
    "-out",
    certificate,
  ]);
  if (made.code !== 0) throw new Error(`openssl made no certificate: ${made.stderr}`);
  const server = createServer({ key: await readFile(key), cert: await readFile(certificate) }, (incoming, outgoing) => {
    const { method, headers } = incoming;
    const onward = request(new URL(incoming.url ?? "/", target), { method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    onward.on("error", () => outgoing.destroy());
    incoming.pipe(onward);
  });
  const { port } = new URL(await listenOnLoopback(server));
  return { origin: `https://127.0.0.1:${port}`, certificate, close: () => shut(server) };
}

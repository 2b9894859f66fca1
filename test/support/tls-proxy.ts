import { readFile } from "node:fs/promises";
import { request } from "node:http";
import { createServer } from "node:https";
import { join } from "node:path";
import { run } from "../../scripts/child.mjs";
import { closeServer, listenOnLoopback } from "./loopback";

/** A TLS server with a self-signed certificate in front of another server. */
export interface TlsProxy {
  origin: string;
  /** The certificate's file, in PEM. */
  certificate: string;
  close(): Promise<void>;
}

/** Starts one in front of `target`; its key and certificate are created in `folder`. */
export async function startTlsProxy(target: string, folder: string): Promise<TlsProxy> {
  const [key, certificate] = [join(folder, "key.pem"), join(folder, "certificate.pem")];
  const openssl = await run("openssl", [
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
  if (openssl.code !== 0) throw new Error(`openssl created no certificate: ${openssl.stderr}`);
  const server = createServer(
    { key: await readFile(key), cert: await readFile(certificate) },
    (clientRequest, clientResponse) => {
      const { method, headers } = clientRequest;
      const upstream = request(new URL(clientRequest.url ?? "/", target), { method, headers }, (response) => {
        clientResponse.writeHead(response.statusCode ?? 502, response.headers);
        response.pipe(clientResponse);
      });
      upstream.on("error", () => clientResponse.destroy());
      clientRequest.pipe(upstream);
    },
  );
  const { port } = new URL(await listenOnLoopback(server));
  return { origin: `https://127.0.0.1:${port}`, certificate, close: () => closeServer(server) };
}

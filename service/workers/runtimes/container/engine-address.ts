import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { z } from "zod";

/** Address of a Docker Engine as options of `http.request`; `displayUrl` is its form in messages. */
export interface EngineAddress {
  displayUrl: string;
  socketPath?: string;
  host?: string;
  port?: number;
  /** Certificates of a TLS connection. */
  tls?: { ca: Buffer | undefined; cert: Buffer | undefined; key: Buffer | undefined };
}

const defaultHost = process.platform === "win32" ? "npipe:////./pipe/docker_engine" : "unix:///var/run/docker.sock";

const clientConfig = z.looseObject({ currentContext: z.string().optional() });
const contextMeta = z.looseObject({
  Endpoints: z.looseObject({ docker: z.looseObject({ Host: z.string() }).optional() }),
});

/**
 * Finds the engine as the Docker CLI does: DOCKER_HOST, then DOCKER_CONTEXT, then the current context, then the default socket. Throws an
 * Error with the reason if the address is invalid.
 */
export function findEngine(environment: NodeJS.ProcessEnv): EngineAddress {
  const { DOCKER_HOST: host, DOCKER_CERT_PATH: certificates } = environment;
  const folder = environment["DOCKER_CONFIG"] || join(homedir(), ".docker");
  if (host)
    return parseHost(host, "DOCKER_HOST", environment["DOCKER_TLS_VERIFY"] ? certificates || folder : undefined);
  const context = environment["DOCKER_CONTEXT"] || readJson(join(folder, "config.json"), clientConfig)?.currentContext;
  if (!context || context === "default") return parseHost(defaultHost, "the default", undefined);
  const id = createHash("sha256").update(context).digest("hex");
  const meta = readJson(join(folder, "contexts", "meta", id, "meta.json"), contextMeta);
  const source = `the Docker context "${context}"`;
  if (!meta?.Endpoints.docker)
    throw new Error(`${source} does not exist; "docker context ls" lists the existing contexts`);
  const tls = join(folder, "contexts", "tls", id, "docker");
  return parseHost(meta.Endpoints.docker.Host, source, existsSync(tls) ? tls : undefined);
}

function parseHost(text: string, source: string, certificates: string | undefined): EngineAddress {
  const [, scheme = "", rest = ""] = /^([a-z]+):\/\/(.+)$/.exec(text) ?? [];
  if (scheme === "unix" || scheme === "npipe") return { displayUrl: text, socketPath: rest };
  if (scheme !== "tcp" && scheme !== "http" && scheme !== "https")
    throw new Error(`${source}: "${text}" is not supported; must begin with unix://, npipe:// or tcp://`);
  const url = URL.canParse(`http://${rest}`) ? new URL(`http://${rest}`) : undefined;
  if (!url) throw new Error(`${source}: "${text}" is not an address; must have the form tcp://127.0.0.1:2375`);
  const usesTls = certificates !== undefined || scheme === "https";
  const port = Number(url.port || (usesTls ? 2376 : 2375));
  const address = { displayUrl: text, host: url.hostname.replace(/^\[|\]$/g, ""), port };
  return usesTls ? { ...address, tls: readCertificates(certificates) } : address;
}

function readCertificates(folder: string | undefined): NonNullable<EngineAddress["tls"]> {
  const read = (name: string): Buffer | undefined => {
    const file = folder === undefined ? undefined : join(folder, name);
    return file !== undefined && existsSync(file) ? readFileSync(file) : undefined;
  };
  return { ca: read("ca.pem"), cert: read("cert.pem"), key: read("key.pem") };
}

/** Reads a file of the Docker CLI; returns undefined if it does not exist or is invalid. */
function readJson<Value>(file: string, shape: z.ZodType<Value>): Value | undefined {
  try {
    return shape.safeParse(JSON.parse(readFileSync(file, "utf8"))).data;
  } catch {
    return undefined;
  }
}

import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { findEngine } from "../../../../service/workers/runtimes/container/engine-address";
import { scratchFolder } from "../../../support/folders";

/** A folder of the Docker CLI with contexts; the second one has certificates. */
const folder = scratchFolder(afterAll);
const contexts: Record<string, object> = {
  far: { Endpoints: { docker: { Host: "tcp://10.0.0.1" } } },
  secure: { Endpoints: { docker: { Host: "tcp://10.0.0.2" } } },
  other: { Endpoints: {} },
};
for (const [name, meta] of Object.entries(contexts)) {
  const id = createHash("sha256").update(name).digest("hex");
  mkdirSync(join(folder, "contexts", "meta", id), { recursive: true });
  writeFileSync(join(folder, "contexts", "meta", id, "meta.json"), JSON.stringify(meta));
  if (name !== "secure") continue;
  mkdirSync(join(folder, "contexts", "tls", id, "docker"), { recursive: true });
  writeFileSync(join(folder, "contexts", "tls", id, "docker", "ca.pem"), "ca of the context");
}
writeFileSync(join(folder, "config.json"), JSON.stringify({ currentContext: "far" }));
writeFileSync(join(folder, "cert.pem"), "certificate of the folder");
const empty = scratchFolder(afterAll);

const defaultAddress = { displayUrl: "unix:///var/run/docker.sock", socketPath: "/var/run/docker.sock" };
const far = { displayUrl: "tcp://10.0.0.1", host: "10.0.0.1", port: 2375 };
const noCertificates = { ca: undefined, cert: undefined, key: undefined };

describe("the address of the engine", () => {
  test.each([
    ["the default socket", {}, defaultAddress],
    ["DOCKER_HOST", { DOCKER_HOST: "unix:///run/x.sock" }, { socketPath: "/run/x.sock" }],
    ["DOCKER_HOST before a context", { DOCKER_HOST: "tcp://h:1", DOCKER_CONTEXT: "far" }, { host: "h", port: 1 }],
    ["a named pipe", { DOCKER_HOST: "npipe:////./pipe/x" }, { socketPath: "//./pipe/x" }],
    ["an IPv6 address", { DOCKER_HOST: "tcp://[::1]:1" }, { host: "::1", port: 1 }],
    ["HTTP without a port", { DOCKER_HOST: "http://h" }, { host: "h", port: 2375 }],
    ["HTTPS without a port", { DOCKER_HOST: "https://h" }, { host: "h", port: 2376, tls: noCertificates }],
    ["a context", { DOCKER_CONFIG: folder, DOCKER_CONTEXT: "far" }, far],
    ["the current context", { DOCKER_CONFIG: folder }, far],
    [
      "the default context instead of the current one",
      { DOCKER_CONFIG: folder, DOCKER_CONTEXT: "default" },
      defaultAddress,
    ],
    [
      "a context with certificates",
      { DOCKER_CONFIG: folder, DOCKER_CONTEXT: "secure" },
      { host: "10.0.0.2", port: 2376, tls: { ...noCertificates, ca: Buffer.from("ca of the context") } },
    ],
    [
      "the certificates of the folder with DOCKER_TLS_VERIFY",
      { DOCKER_HOST: "tcp://h", DOCKER_TLS_VERIFY: "1", DOCKER_CONFIG: folder },
      { host: "h", port: 2376, tls: { ...noCertificates, cert: Buffer.from("certificate of the folder") } },
    ],
    [
      "DOCKER_CERT_PATH before the folder",
      { DOCKER_HOST: "tcp://h", DOCKER_TLS_VERIFY: "1", DOCKER_CONFIG: folder, DOCKER_CERT_PATH: empty },
      { host: "h", port: 2376, tls: noCertificates },
    ],
  ])("is that of %s", (_name, environment, address) => {
    const found = findEngine({ DOCKER_CONFIG: empty, ...environment });
    expect(found).toMatchObject(address);
    expect("tls" in found).toBe("tls" in address);
  });

  test.each([
    ["a context that does not exist", { DOCKER_CONTEXT: "gone" }, 'the Docker context "gone" does not exist'],
    ["a context of another engine", { DOCKER_CONTEXT: "other" }, 'the Docker context "other" does not exist'],
    ["another protocol", { DOCKER_HOST: "ssh://h" }, 'DOCKER_HOST: "ssh://h" is not supported; must begin with'],
    ["text without a protocol", { DOCKER_HOST: "h:2375" }, 'DOCKER_HOST: "h:2375" is not supported'],
    ["an invalid port", { DOCKER_HOST: "tcp://h:x" }, 'DOCKER_HOST: "tcp://h:x" is not an address'],
  ])("cannot be found with %s", (_name, environment, message) => {
    expect(() => findEngine({ DOCKER_CONFIG: folder, ...environment })).toThrow(message);
  });
});

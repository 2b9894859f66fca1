import { createJsonClient, type JsonClient } from "../json-client";
import type { EngineAddress } from "./engine-address";

/** A client of the Engine API, Docker's or Podman's. */
export type EngineClient = JsonClient;

/**
 * A client for the few engine calls that workers need. Paths have no version, so that each engine uses its newest. The usual client
 * library has 56 dependencies, three of which build native code during installation.
 */
export const createEngineClient = ({ displayUrl, tls, ...address }: EngineAddress): EngineClient =>
  createJsonClient(`the Docker Engine at ${displayUrl}`, (request) => ({
    ...address,
    ...tls,
    ...request,
    protocol: tls ? "https:" : "http:",
    agent: false,
    headers: { host: "docker", ...request.headers },
  }));

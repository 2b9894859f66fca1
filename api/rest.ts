import { z } from "zod";
import { pathSegment, requestFacts } from "./address";
import { parseAnswer, parseElements, parseJson } from "./answer";
import { isApiError } from "./errors";
import type { CallOptions, Management } from "./management";
import { networkVolumeRecord, serverlessEndpointRecord } from "./shapes";
import type { Transport, TransportRequest } from "./transport";

/** The part of the management operations that goes by REST v1. */
export type RestManagement = Pick<
  Management,
  | "createEndpoint"
  | "readEndpoint"
  | "listEndpoints"
  | "updateEndpoint"
  | "deleteEndpoint"
  | "createNetworkVolume"
  | "readNetworkVolume"
  | "listNetworkVolumes"
  | "updateNetworkVolume"
  | "deleteNetworkVolume"
>;

/** A fresh template can be unknown to the next call for some seconds. */
const freshTemplate = ["template_not_found"];

/** Speaks REST v1 (interface: REST management API). `baseUrl` carries the version prefix and no slash at its end. */
export function createRestManagement(transport: Transport, baseUrl: string): RestManagement {
  const endpoints = `${baseUrl}/endpoints`;
  const volumes = `${baseUrl}/networkvolumes`;

  async function ask<Shape extends z.ZodType>(
    shape: Shape,
    request: TransportRequest,
    options: CallOptions | undefined,
  ): Promise<z.output<Shape>> {
    const answer = await transport.send(request, options);
    const facts = { ambiguous: !request.idempotent, status: answer.status };
    return parseAnswer(parseJson(answer.text), shape, requestFacts(request), facts);
  }

  /** All that a collection lists. */
  async function list<Shape extends z.ZodType>(
    shape: Shape,
    url: string,
    options: CallOptions | undefined,
  ): Promise<z.output<Shape>[]> {
    const request = { method: "GET", url, idempotent: true } as const;
    const { text, status } = await transport.send(request, options);
    const facts = requestFacts(request);
    const elements = parseAnswer(parseJson(text), z.array(z.unknown()), facts, { ambiguous: false, status });
    return parseElements(elements, shape, facts, { status, onUnreadable: options?.onUnreadable });
  }

  /** A record by its id, undefined when the service knows none. */
  async function read<Shape extends z.ZodType>(
    shape: Shape,
    url: string,
    options: CallOptions | undefined,
  ): Promise<z.output<Shape> | undefined> {
    try {
      return await ask(shape, { method: "GET", url, idempotent: true }, options);
    } catch (error) {
      if (isApiError(error, "missing")) return undefined;
      throw error;
    }
  }

  const endpointUrl = (method: string, id: string) =>
    `${endpoints}/${pathSegment(id, "endpoint", { method, url: endpoints })}`;
  const volumeUrl = (method: string, id: string) =>
    `${volumes}/${pathSegment(id, "network volume", { method, url: volumes })}`;

  return {
    createEndpoint: (input, options) =>
      ask(
        serverlessEndpointRecord,
        { method: "POST", url: endpoints, body: input, idempotent: false, settling: freshTemplate },
        options,
      ),
    async readEndpoint(id, options) {
      return read(serverlessEndpointRecord, endpointUrl("GET", id), options);
    },
    listEndpoints: (options) => list(serverlessEndpointRecord, endpoints, options),
    async updateEndpoint(id, patch, options) {
      const url = endpointUrl("PATCH", id);
      const settling = patch.templateId === undefined ? [] : freshTemplate;
      return ask(serverlessEndpointRecord, { method: "PATCH", url, body: patch, idempotent: true, settling }, options);
    },
    async deleteEndpoint(id, options) {
      await transport.send({ method: "DELETE", url: endpointUrl("DELETE", id), idempotent: true }, options);
    },

    createNetworkVolume: (input, options) =>
      ask(networkVolumeRecord, { method: "POST", url: volumes, body: input, idempotent: false }, options),
    async readNetworkVolume(id, options) {
      return read(networkVolumeRecord, volumeUrl("GET", id), options);
    },
    listNetworkVolumes: (options) => list(networkVolumeRecord, volumes, options),
    async updateNetworkVolume(id, patch, options) {
      const url = volumeUrl("PATCH", id);
      return ask(networkVolumeRecord, { method: "PATCH", url, body: patch, idempotent: true }, options);
    },
    async deleteNetworkVolume(id, options) {
      await transport.send({ method: "DELETE", url: volumeUrl("DELETE", id), idempotent: true }, options);
    },
  };
}

import {
  CheckFailure,
  type CheckRequest,
  CheckResponse,
  type ConfigureRequest,
  ConfigureResponse,
  type DiffRequest,
  DiffResponse,
} from "@pulumi/pulumi/proto/provider_pb";
import type { Host } from "../engine/host";
import { Unknown } from "../lifecycle/lifecycle";
import { settingNames } from "../settings";
import { readStruct, textOf, writeStruct } from "./structs";

/** The calls that concern the provider's own configuration. */
export function configCalls(host: Host) {
  return {
    checkConfig: (request: CheckRequest): CheckResponse => {
      const { properties, secrets } = readStruct(request.getNews());
      const response = new CheckResponse();
      for (const [key, value] of Object.entries(properties)) {
        // The engine adds settings of its own, such as version and pluginDownloadURL.
        if (!settingNames.has(key) || value instanceof Unknown || typeof value === "string") continue;
        const failure = new CheckFailure();
        failure.setReason(`${key}: must be a text`);
        response.addFailures(failure);
      }
      const key = properties["apiKey"] === undefined ? [] : [["apiKey"]];
      response.setInputs(writeStruct(properties, [...secrets, ...key]));
      return response;
    },

    /** A new key or address is the same provider: nothing is replaced for it. */
    diffConfig: (request: DiffRequest): DiffResponse => {
      const [olds, news] = [readStruct(request.getOlds()).properties, readStruct(request.getNews()).properties];
      const differs = [...settingNames].some((key) => textOf(olds[key]) !== textOf(news[key]));
      const response = new DiffResponse();
      response.setChanges(differs ? DiffResponse.DiffChanges.DIFF_SOME : DiffResponse.DiffChanges.DIFF_NONE);
      return response;
    },

    configure: (request: ConfigureRequest): ConfigureResponse => {
      const { properties } = readStruct(request.getArgs());
      const response = new ConfigureResponse();
      response.setAcceptsecrets(true);
      response.setSupportspreview(true);
      response.setSupportsAutonamingConfiguration(true);
      host.beginDeployment((key) => textOf(properties[key.slice(key.indexOf(":") + 1)]));
      return response;
    },
  };
}

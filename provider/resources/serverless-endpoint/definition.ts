import { createOnce } from "../../framework/create/create-once";
import { isReplacement, type ObjectDefinition } from "../../framework/definition";
import { defineObject } from "../../framework/object";
import { endpointReader } from "../template/endpoints";
import { type CompleteRecord, withTemplate } from "./container";
import { deleteEndpoint } from "./deletion";
import { validate } from "./dialect-rules";
import {
  checkedInputs,
  type Inputs,
  type Outputs,
  serverlessEndpointInputs,
  serverlessEndpointOutputs,
} from "./inputs";
import { preflight } from "./preflight";
import { firstVersion, observe, withPools, withVersion } from "./record";
import { asUnverified, derivedSecrets, inPlaceWarnings, markAfter, pendingVerification } from "./rollout-states";
import { settingsOf } from "./update";
import { updateVerified, verifyCreated } from "./verified-update";

const endpoints: ObjectDefinition<CompleteRecord, Inputs, Outputs> = {
  kind: "ServerlessEndpoint",
  description:
    "Queues jobs and runs them on workers, which have the container of a template or one of their own; the scaling rules determine the number of workers.",
  inputs: serverlessEndpointInputs,
  checkedInputs,
  outputs: serverlessEndpointOutputs,
  plan: ({ changes, olds, news }) => ({
    changes: changes.length > 0 ? changes : pendingVerification(olds, news),
    warnings: [
      ...(isReplacement(changes)
        ? ["replacing an endpoint permanently deletes its configuration, logs and job history"]
        : []),
      ...inPlaceWarnings(changes),
    ],
  }),
  validate,

  client: (management) => ({
    list: management.listEndpoints,
    read: management.readEndpoint,
    create: (inputs, options) => management.createEndpoint(settingsOf(inputs), options),
    delete: management.deleteEndpoint,
  }),
  observe,
  // The versions of all endpoints of an account would be one request for each.
  complete: async (record, desired, context, purpose) => {
    const bound = await withPools(await withTemplate(record, desired, context), desired, context);
    return purpose === "import" ? bound : withVersion(bound, desired, context);
  },
  update: updateVerified,
  delete: deleteEndpoint,
};

/** Updates an adopted endpoint, which no deployment has verified yet. */
const updateAdopted: typeof endpoints.update = (id, update, context) =>
  updateVerified(id, { ...update, olds: { ...update.olds, ...markAfter("adopted") } }, context);

/** Endpoint: workers with their own API root (interface: Endpoint). Names need not be unique. */
export const serverlessEndpoint = {
  ...defineObject(endpoints, {
    async create(inputs, context, properties) {
      const definition = { ...endpoints, update: updateAdopted };
      const { id, outputs, isAdopted } = await createOnce(definition, inputs, properties, context).catch(
        (error: unknown) => {
          throw inputs.verify ? asUnverified(error) : error;
        },
      );
      // A record of REST v2 contains no version.
      const created = { id, outputs: { version: firstVersion, ...outputs } };
      if (!isAdopted) await verifyCreated(created, inputs, context);
      return created;
    },
    reader: endpointReader,
  }),
  preflight,
  derivedSecrets,
};

import { EventEmitter } from "node:events";

/** What the job path needs to hear of the management API, said after the change is in the store. */
interface ManagementEventMap {
  /** An endpoint exists, or came up with the service. */
  endpointCreated: [endpointId: string];
  /** Settings of an endpoint changed; `workersRestart` when running workers no longer fit them (GPU type, template, env). */
  endpointChanged: [endpointId: string, change: { workersRestart: boolean }];
  /** An endpoint is gone, with its jobs and logs. */
  endpointDeleted: [endpointId: string];
}

export type ManagementEvents = EventEmitter<ManagementEventMap>;

export const createManagementEvents = (): ManagementEvents => new EventEmitter<ManagementEventMap>();

export { parseAddress } from "./address";
export type { UnreadableElement } from "./answer";
export * from "./clients";
export * from "./clock";
export * from "./connection-faults";
export * from "./errors";
export * from "./jobs";
export * from "./management";
export * from "./shapes";

export { parseAddress } from "./address";
export * from "./clients";
export * from "./clock";
export * from "./connection-faults";
export * from "./errors";
export * from "./jobs";
export * from "./management";
export * from "./shapes";

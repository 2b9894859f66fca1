import type { EngineProperties } from "../engine/engine-properties";
import { asReason } from "../engine/error-text";

/**
 * Returns an error of an operation for the SDK. For most operations the SDK prints `${error}: ${error.stack}` under the stack and the
 * message under the resource. Therefore the string form and the stack only refer to the resource. The engine keeps an unfinished
 * object in state and retries it only if there is a reason; refresh and destroy require `__provider` among its properties.
 */
export function sdkError(
  subject: string,
  message: string,
  unfinished?: { id: string; properties: EngineProperties },
): Error {
  return Object.assign(
    new Error(message),
    { stack: "failed; see its own message", toString: () => subject },
    unfinished && { ...unfinished, reasons: [asReason(message)] },
  );
}

import type { EngineProperties } from "../engine/engine-properties";
import { asReason } from "../engine/error-text";

/**
 * Error of an operation. For most operations the SDK prints `${error}: ${error.stack}` under the stack and the message under the resource.
 * Therefore the string form and the stack only refer to the resource.
 */
export class OperationFailure extends Error {
  override readonly name = "OperationFailure";
  readonly #subject: string;

  constructor(subject: string, message: string) {
    super(message);
    this.#subject = subject;
    this.stack = "failed; see its own message";
  }

  override toString(): string {
    return this.#subject;
  }
}

/**
 * Keeps an unfinished object in state (Pulumi's InitError). The engine retries only if there is a reason; refresh and destroy
 * require `__provider` among the properties.
 */
export class UnfinishedFailure extends OperationFailure {
  readonly reasons: string[];

  constructor(
    subject: string,
    message: string,
    readonly id: string,
    readonly properties: EngineProperties,
  ) {
    super(subject, message);
    this.reasons = [asReason(message)];
  }
}

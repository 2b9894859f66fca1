import { InvalidArgumentError } from "commander";
import { isObjectJson } from "serverless-compute-api/job-commands";
import { defaultDataFolder } from "../settings";

/** Flags, description and default of the option `--data`. */
export const dataFlag = () =>
  ["--data <dir>", "data folder, which contains all state and the key file", defaultDataFolder()] as const;

/** Creates a parser of whole numbers from `least` to `most`; without `most`, any number of at least `least`. */
export const wholeNumber =
  (least: number, most?: number) =>
  (text: string): number => {
    const value = Number(text);
    const isAllowed = /^\d+$/.test(text) && Number.isSafeInteger(value) && value >= least;
    if (isAllowed && value <= (most ?? value)) return value;
    throw new InvalidArgumentError(
      `It must be a whole number${most === undefined ? `, ${least} or more` : ` from ${least} to ${most}`}.`,
    );
  };

/** Reads a JSON object; returns its text. */
export function readInput(text: string): string {
  if (isObjectJson(text)) return text;
  throw new InvalidArgumentError("It must be a JSON object.");
}

/** Reads a number of seconds; returns whole milliseconds. */
export function readSeconds(text: string): number {
  const seconds = Number(text);
  if (text.trim() !== "" && seconds >= 0 && Number.isFinite(seconds)) return Math.round(seconds * 1000);
  throw new InvalidArgumentError("It must be a number of seconds, 0 or more.");
}

import { InvalidArgumentError } from "commander";
import { isObjectJson } from "serverless-compute-api/job-commands";
import { showChoices } from "serverless-compute-api/shapes";
import { type RetirableApi, retirableApis } from "../errors";
import { type StockEntries, stockLevels } from "../resources/stock";
import { defaultDataFolder } from "../settings";

/** Reads the path of a folder. An empty path, such as an unset variable of a shell, would be the current folder. */
export function readFolder(text: string): string {
  if (text !== "") return text;
  throw new InvalidArgumentError("It must be the path of a folder.");
}

/** Flags, description, parser and default of the option `--data`. */
export const dataFlag = () =>
  ["--data <dir>", "data folder, which contains all state and the key file", readFolder, defaultDataFolder()] as const;

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

/** Reads a number of seconds; returns milliseconds. */
export function readSeconds(text: string): number {
  const seconds = Number(text);
  if (text.trim() !== "" && seconds >= 0 && Number.isFinite(seconds)) return seconds * 1000;
  throw new InvalidArgumentError("It must be a number of seconds, 0 or more.");
}

/** Reads a list of APIs that the hosted service retires. */
export function readRetirableApis(text: string): RetirableApi[] {
  return text.split(",").map((word) => {
    const api = retirableApis.find((candidate) => candidate === word.trim());
    if (api === undefined) throw new InvalidArgumentError('It must be "v1", "graphql" or "v1,graphql".');
    return api;
  });
}

/** Creates a parser that accepts only the given words. */
export const oneOf =
  (...allowed: string[]) =>
  (text: string): string => {
    if (allowed.includes(text)) return text;
    throw new InvalidArgumentError(`It must be ${showChoices(allowed)}.`);
  };

/** Reads `NAME=COMMAND` and adds it to the images. */
export function addImage(text: string, images: Record<string, string>): Record<string, string> {
  const [, name, command] = /^([^=\s]+)=(.*\S.*)$/s.exec(text) ?? [];
  if (name === undefined || command === undefined) {
    throw new InvalidArgumentError(
      'It must be NAME=COMMAND, such as acme/echo:1=./echo.mjs or acme/chat:1="python3 -u handler.py".',
    );
  }
  return { ...images, [name]: command };
}

/** Reads `ID=LEVEL` or `ID@DATACENTER=LEVEL` and adds it to the stock. */
export function addStock(text: string, stock: StockEntries): StockEntries {
  const [, key, word] = /^([^=]+)=(\w+)$/.exec(text) ?? [];
  const level = stockLevels.find((candidate) => candidate === word);
  if (key !== undefined && level !== undefined) return { ...stock, [key]: level };
  throw new InvalidArgumentError(
    'It must be ID=LEVEL or ID@DATACENTER=LEVEL, such as "NVIDIA L4@EU-RO-1=NONE"; levels are NONE, LOW, MEDIUM and HIGH.',
  );
}

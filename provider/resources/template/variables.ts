import { isProperties, type Properties } from "../../engine/values";
import { unconfirmedIn } from "../../framework/unfinished";

type Variables = Readonly<Record<string, string>>;

/** The variables in a state. */
export const variablesIn = ({ env }: Properties): Properties => (isProperties(env) ? env : {});

/** Returns a test for the variables that an update changes. A failed update may have set any of them. */
export function changedVariables(olds: Properties, news: Variables): (name: string) => boolean {
  const before = variablesIn(olds);
  const isUnconfirmed = unconfirmedIn(olds).includes("env");
  return (name) => isUnconfirmed || before[name] !== news[name];
}

/**
 * The variables of the service with the changes of an update. The others may have other values on purpose, such as those that the program
 * ignores.
 */
export const withChangedVariables = (
  actual: Variables,
  news: Variables,
  isChanged: (name: string) => boolean,
): Record<string, string> =>
  Object.fromEntries([
    ...Object.entries(actual).filter(([name]) => !isChanged(name)),
    ...Object.entries(news).filter(([name]) => isChanged(name)),
  ]);

import { isProperties, type Properties } from "../../engine/values";
import { unconfirmedIn } from "../../framework/unfinished";

/** Returns a test for the variables that an update changes. A failed update may have set any of them. */
export function changedVariables(olds: Properties, news: Readonly<Record<string, string>>): (name: string) => boolean {
  const before = isProperties(olds["env"]) ? olds["env"] : {};
  const isUnconfirmed = unconfirmedIn(olds).includes("env");
  return (name) => isUnconfirmed || before[name] !== news[name];
}

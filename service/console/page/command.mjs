import { h } from "./dom.mjs";

/**
 * A word of a command, which is not wrapped within: `--no` would break after its first hyphen.
 * @param {string} text
 * @param {number} at
 */
const word = (text, at) => [at > 0 && " ", h("span", { class: "word" }, text)];

/**
 * A command with a button that copies it.
 * @param {string} text
 */
export const command = (text) =>
  h(
    "div",
    { class: "command", "data-key": text },
    h("pre", { tabindex: 0 }, h("code", {}, text.split(" ").flatMap(word))),
    h("button", { type: "button", "data-action": "copy", "data-text": text, "aria-label": `Copy: ${text}` }, "Copy"),
  );

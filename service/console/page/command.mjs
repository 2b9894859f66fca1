import { h } from "./dom.mjs";

/**
 * A command with a button that copies it.
 * @param {string} text
 */
export const command = (text) =>
  h(
    "div",
    { class: "command", "data-key": text },
    h("pre", { tabindex: 0 }, h("code", {}, text)),
    h("button", { type: "button", "data-action": "copy", "data-text": text, "aria-label": `Copy: ${text}` }, "Copy"),
  );

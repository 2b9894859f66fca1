import { h, timeOf } from "./dom.mjs";

/** Maximum number of lines. */
const mostLines = 1000;

/** The live output of an endpoint's workers. It keeps its own elements, and follows the end unless the user scrolled up. */
export function createWorkerLog() {
  const list = h("div", {
    class: "log",
    tabindex: 0,
    role: "log",
    "aria-label": "Output of the workers",
    "aria-live": "off",
  });
  const empty = h(
    "p",
    { class: "quiet" },
    "Nothing yet: a worker starts with the first job, or at once where workersMin is above 0.",
  );

  let follows = true;
  const toEnd = () => {
    if (follows) list.scrollTop = list.scrollHeight;
  };
  list.addEventListener("scroll", () => {
    follows = list.scrollTop + list.clientHeight >= list.scrollHeight - 8;
  });
  // It may have lines before it has a place in the page.
  new ResizeObserver(toEnd).observe(list);

  /** @param {string} line `<time> <worker id> <text>`. */
  function item(line) {
    const [, time = "", worker = "", text = line] = /^(\d\S+T\S+Z) (local-\w+)? ?(.*)$/s.exec(line) ?? [];
    return h(
      "p",
      {},
      time && timeOf(Date.parse(time)),
      worker && h("span", { class: "worker", title: worker }, worker.slice(-4)),
      h("span", {}, text),
    );
  }

  return {
    element: h("div", { "data-own": true, "data-key": "log" }, list, empty),
    /** @param {string[]} lines */
    add(lines) {
      list.append(...lines.map(item));
      while (list.childElementCount > mostLines) list.firstElementChild?.remove();
      empty.toggleAttribute("hidden", list.childElementCount > 0);
      toEnd();
    },
    clear: () => list.replaceChildren(),
  };
}

import { h, timeOf } from "./dom.mjs";

/** Maximum number of lines. */
const mostLines = 1000;

/** The live output of an endpoint's workers. It keeps its own elements, and follows the end unless the user scrolled up. */
export function createWorkerLog() {
  const list = /** @type {HTMLElement} */ (
    h("div", { class: "log", tabindex: 0, role: "log", "aria-label": "Output of the workers", "aria-live": "off" })
  );
  const empty = h(
    "p",
    { class: "quiet" },
    "Nothing yet: a worker starts with the first job, or at once where workersMin is above 0.",
  );

  let follows = true;
  /** True if the next lines replace all others. */
  let replaces = false;
  const toEnd = () => {
    if (follows) list.scrollTop = list.scrollHeight;
  };
  let width = 0;
  list.addEventListener("scroll", () => {
    // Another width wraps the lines anew, which scrolls without the user.
    if (width === list.clientWidth) follows = list.scrollTop + list.clientHeight >= list.scrollHeight - 8;
  });
  // It may have lines before it has a place in the page.
  new ResizeObserver(() => {
    width = list.clientWidth;
    toEnd();
  }).observe(list);

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
    element: h("div", { "data-own": true, "data-key": "log" }, h("div", { class: "log-place" }, list), empty),
    /** @param {string[]} lines */
    add(lines) {
      if (replaces) list.replaceChildren(...lines.map(item));
      else list.append(...lines.map(item));
      replaces = false;
      while (list.childElementCount > mostLines) list.firstElementChild?.remove();
      empty.toggleAttribute("hidden", list.childElementCount > 0);
      toEnd();
    },
    /** The connection is open again: its first lines include those that are shown, so they replace them. */
    begin() {
      replaces = true;
    },
    /**
     * Scrolls to the last error of a job, marks its lines and moves the focus there; false if no line contains the job's id.
     * @param {string} jobId
     */
    find(jobId) {
      const lines = [...list.children];
      for (const line of lines) line.classList.remove("found");
      const first = lines.findLastIndex((line) => line.textContent?.includes(jobId));
      const found = lines[first];
      if (!found) return false;
      const worker = workerOf(found);
      const end = lines.findIndex((line, at) => at > first && (workerOf(line) !== worker || !isStack(line)));
      for (const line of lines.slice(first, end === -1 ? undefined : end)) line.classList.add("found");
      follows = false;
      list.scrollTop += found.getBoundingClientRect().top - list.getBoundingClientRect().top - 8;
      list.focus({ preventScroll: true });
      list.scrollIntoView({ block: "nearest" });
      return true;
    },
  };
}

/** @param {Element} line */
const workerOf = (line) => line.querySelector(".worker")?.getAttribute("title");

/**
 * Returns true for a line of a stack, or of a cause, below the first line of an error.
 * @param {Element} line
 */
const isStack = (line) => /^\s|^\}/.test(line.lastElementChild?.textContent ?? "");

import { h, timeOf } from "./dom.mjs";

/** Maximum number of lines. */
const maxLines = 1000;

/** The live output of an endpoint's workers. It manages its own elements, and follows the end unless the user scrolled up. */
export function createWorkerLog() {
  const list = /** @type {HTMLElement} */ (
    h("div", { class: "log", tabindex: 0, role: "log", "aria-label": "Output of the workers", "aria-live": "off" })
  );
  const empty = h(
    "p",
    { class: "quiet" },
    "No output yet: a worker starts with the first job, or immediately if workersMin is above 0.",
  );

  let followsEnd = true;
  /** True if the next lines replace all others. */
  let replacesLines = false;
  const scrollToEnd = () => {
    if (followsEnd) list.scrollTop = list.scrollHeight;
  };
  let width = 0;
  list.addEventListener("scroll", () => {
    // A new width rewraps the lines, which scrolls without the user.
    if (width === list.clientWidth) followsEnd = list.scrollTop + list.clientHeight >= list.scrollHeight - 8;
  });
  // Lines may arrive before the element is in the page.
  new ResizeObserver(() => {
    width = list.clientWidth;
    scrollToEnd();
  }).observe(list);

  /** @param {string} line `<time> <worker id> <text>`. */
  function lineElement(line) {
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
      if (replacesLines) list.replaceChildren(...lines.map(lineElement));
      else list.append(...lines.map(lineElement));
      replacesLines = false;
      while (list.childElementCount > maxLines) list.firstElementChild?.remove();
      empty.toggleAttribute("hidden", list.childElementCount > 0);
      scrollToEnd();
    },
    /** Called when the connection is open again: the next lines include the displayed lines, so they replace them. */
    restart() {
      replacesLines = true;
    },
    /**
     * Scrolls to the last error of a job, marks its lines and moves the focus there; false if no line contains the job's id.
     * @param {string} jobId
     */
    find(jobId) {
      const lines = [...list.children];
      for (const line of lines) line.classList.remove("found");
      const firstIndex = lines.findLastIndex((line) => line.textContent?.includes(jobId));
      const firstLine = lines[firstIndex];
      if (!firstLine) return false;
      const worker = workerOf(firstLine);
      const end = lines.findIndex(
        (line, index) => index > firstIndex && (workerOf(line) !== worker || !isStackLine(line)),
      );
      for (const line of lines.slice(firstIndex, end === -1 ? undefined : end)) line.classList.add("found");
      followsEnd = false;
      list.scrollTop += firstLine.getBoundingClientRect().top - list.getBoundingClientRect().top - 8;
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
const isStackLine = (line) => /^\s|^\}/.test(line.lastElementChild?.textContent ?? "");

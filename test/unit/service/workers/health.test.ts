import { expect, test } from "vitest";
import { waitReason } from "../../../../service/workers/health";

const lack = "no stock of NVIDIA L4, so no worker starts";
const workers = { idle: 0, running: 0, initializing: 0 };

test.each([
  [{}, 1, undefined, undefined],
  [{ initializing: 1 }, 1, undefined, undefined],
  [{ running: 1 }, 2, undefined, undefined],
  [{ idle: 1, running: 2 }, 2, undefined, undefined],
  [{ running: 1 }, 1, undefined, "the only worker is busy, and workersMax is 1"],
  [{ running: 1 }, 0, undefined, "the only worker is busy, and workersMax is 0"],
  [{ running: 2 }, 2, undefined, "all 2 workers are busy, and workersMax is 2"],
  [{}, 0, undefined, "workersMax is 0, so no worker starts"],
  [{}, 1, lack, lack],
  [{ running: 1 }, 2, lack, lack],
  [{ running: 2 }, 2, lack, "all 2 workers are busy, and workersMax is 2"],
  [{ idle: 1 }, 2, lack, undefined],
])(
  "the workers %j with workersMax %i and the lack of stock %s: jobs wait because %s",
  (some, workersMax, noStock, reason) => {
    expect(waitReason({ ...workers, ...some }, workersMax, noStock)).toBe(reason);
  },
);

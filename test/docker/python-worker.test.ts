import { describePythonWorker } from "../sdk/python-worker";
import { startRig, usePythonImage } from "./rig";

describePythonWorker("a container with the public Python SDK", async (context) => {
  const image = usePythonImage(context);
  const rig = await startRig(context);
  const endpoint = { workersMin: 1, workersMax: 1, idleTimeout: 60 };
  return {
    ...rig,
    endpoint: (handler) => rig.endpoint({ image, dockerArgs: `python3 -u /handlers/${handler}`, endpoint }),
  };
});

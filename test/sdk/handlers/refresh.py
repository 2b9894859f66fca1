import os
import socket

import runpod


def handler(job):
    # In a container every worker is process 1.
    process = f"{socket.gethostname()}/{os.getpid()}"
    return {"refresh_worker": True, "job_results": {"process": process}}


runpod.serverless.start({"handler": handler})

import os

import runpod


def handler(job):
    return {"refresh_worker": True, "job_results": {"process": os.getpid()}}


runpod.serverless.start({"handler": handler})

import os

import runpod


def handler(job):
    return {"text": f"{os.environ['GREETING']}, {job['input']['name']}!"}


runpod.serverless.start({"handler": handler})

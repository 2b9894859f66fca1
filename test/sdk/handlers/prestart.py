import runpod


@runpod.serverless.register_prestart_hook
def load_model():
    raise ValueError("no model")


runpod.serverless.start({"handler": lambda job: "ran"})

import pulumi
import pulumi_serverless_compute as serverless

config = pulumi.Config()

token = serverless.Secret("hub-token", value=config.require_secret("hubToken"))

models = serverless.NetworkVolume("models", size=10, data_center_id="EU-RO-1")

template = serverless.Template(
    "template",
    image_name="acme/echo:1",
    container_disk_in_gb=5,
    env={"MODEL": "small", "HUB_TOKEN": token.reference},
)

endpoint = serverless.ServerlessEndpoint(
    "chat",
    template_id=template.id,
    network_volume_id=models.id,
    workers_max=1,
)

# The deployment fails if the output differs. The job runs again whenever the workers change.
answers = serverless.JobInvoke(
    "answers",
    endpoint_id=endpoint.id,
    input={"text": "pong"},
    expect={"output": {"text": "pong"}},
    triggers=[template.revision],
)

pulumi.export("url", endpoint.url)
pulumi.export("answer", answers.output)

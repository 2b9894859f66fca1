"""Calls the client of dstack's runpod backend; prints one line of JSON. Only its calls that need no pods."""

import json
import sys

from dstack._internal.core.backends.runpod import api_client

# The package has no setting for the addresses.
root = sys.argv[1]
api_client.API_GRAPHQL_URL = f"{root}/graphql"
api_client.API_V2_URL = f"{root}/v2"

key = sys.stdin.readline().strip()
client = api_client.RunpodApiClient(key)
said = {
    "valid": client.validate_api_key(),
    "invalid": api_client.RunpodApiClient("wrong-key").validate_api_key(),
}

registry = client.create_container_registry_credentials(name="dstack", username="reader", password="hush-hush")
said["registry"] = registry in client.list_container_registry_credentials()
client.delete_container_registry_credentials(registry["id"])
said["registries"] = client.list_container_registry_credentials()

volume = client.create_network_volume(name="dstack", data_center_id="EU-RO-1", size=20)
said["volume"] = client.get_network_volume(volume["id"])
said["deleted"] = [client.delete_network_volume(volume["id"]), client.delete_network_volume(volume["id"])]
said["gone"] = client.get_network_volume(volume["id"])

said["pod"] = client.get_pod("absent")
said["terminated"] = [client.terminate_pod("absent"), client.delete_cluster("absent")]
print(json.dumps(said))

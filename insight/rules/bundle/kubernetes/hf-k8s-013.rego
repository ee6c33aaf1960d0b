# METADATA
# title: "Credentials stand in a config map"
# related_resources:
# - https://registry.terraform.io/providers/hashicorp/kubernetes/latest/docs/resources/config_map
# custom:
#   id: HF-K8S-013
#   severity: high
#   kind: credentials
#   types:
#   - kubernetes_config_map
#   - kubernetes_config_map_v1
#   recommendation: "Put it into a secret."
package holdfast.kubernetes.hf_k8s_013

import data.holdfast.lib

types := {"kubernetes_config_map", "kubernetes_config_map_v1"}

deny contains lib.finding(c, "it has what is called like a credential") if {
	some c in input.resource_changes
	c.type in types
	after := c.change.after
	is_object(after)
	some name, value in after.data
	lib.secret_name(name)
	lib.plain_secret(value)
}

# METADATA
# title: "A service is open to the world"
# related_resources:
# - https://registry.terraform.io/providers/hashicorp/kubernetes/latest/docs/resources/service
# custom:
#   id: HF-K8S-008
#   severity: medium
#   kind: networking
#   types:
#   - kubernetes_service
#   - kubernetes_service_v1
#   recommendation: "Name ranges in load_balancer_source_ranges, or make it internal."
package holdfast.kubernetes.hf_k8s_008

import data.holdfast.lib

types := {"kubernetes_service", "kubernetes_service_v1"}

deny contains lib.finding(c, "its load balancer takes requests from every address") if {
	some c in input.resource_changes
	c.type in types
	after := c.change.after
	is_object(after)
	some spec in lib.list(after, "spec")
	spec.type == "LoadBalancer"
	count(lib.list(spec, "load_balancer_source_ranges")) == 0
}

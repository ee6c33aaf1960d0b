# METADATA
# title: "An ingress speaks HTTP"
# related_resources:
# - https://registry.terraform.io/providers/hashicorp/kubernetes/latest/docs/resources/ingress
# custom:
#   id: HF-K8S-014
#   severity: medium
#   kind: encryption
#   types:
#   - kubernetes_ingress
#   - kubernetes_ingress_v1
#   recommendation: "Give it a tls block."
package holdfast.kubernetes.hf_k8s_014

import data.holdfast.lib

types := {"kubernetes_ingress", "kubernetes_ingress_v1"}

deny contains lib.finding(c, "it takes requests that are not encrypted") if {
	some c in input.resource_changes
	c.type in types
	after := c.change.after
	is_object(after)
	not lib.unknown(c, "spec")
	some spec in lib.list(after, "spec")
	count(lib.list(spec, "tls")) == 0
}

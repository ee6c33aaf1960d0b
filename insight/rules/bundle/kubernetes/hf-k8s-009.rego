# METADATA
# title: "A role allows everything"
# related_resources:
# - https://registry.terraform.io/providers/hashicorp/kubernetes/latest/docs/resources/cluster_role
# custom:
#   id: HF-K8S-009
#   severity: high
#   kind: access
#   types:
#   - kubernetes_cluster_role
#   - kubernetes_cluster_role_v1
#   - kubernetes_role
#   - kubernetes_role_v1
#   recommendation: "Name the verbs and resources that are needed."
package holdfast.kubernetes.hf_k8s_009

import data.holdfast.lib

types := {"kubernetes_cluster_role", "kubernetes_cluster_role_v1", "kubernetes_role", "kubernetes_role_v1"}

deny contains lib.finding(c, "it allows every verb on every resource") if {
	some c in input.resource_changes
	c.type in types
	after := c.change.after
	is_object(after)
	some rule in lib.list(after, "rule")
	"*" in lib.list(rule, "verbs")
	"*" in lib.list(rule, "resources")
}

# METADATA
# title: "Administrator rights are handed out"
# related_resources:
# - https://registry.terraform.io/providers/hashicorp/kubernetes/latest/docs/resources/cluster_role_binding
# custom:
#   id: HF-K8S-010
#   severity: high
#   kind: access
#   types:
#   - kubernetes_cluster_role_binding
#   - kubernetes_cluster_role_binding_v1
#   recommendation: "Bind a role with what is needed."
package holdfast.kubernetes.hf_k8s_010

import data.holdfast.lib

types := {"kubernetes_cluster_role_binding", "kubernetes_cluster_role_binding_v1"}

deny contains lib.finding(c, "it binds cluster-admin") if {
	some c in input.resource_changes
	c.type in types
	after := c.change.after
	is_object(after)
	some ref in lib.list(after, "role_ref")
	ref.name == "cluster-admin"
}

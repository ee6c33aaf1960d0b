# METADATA
# title: "Strangers have a role"
# related_resources:
# - https://registry.terraform.io/providers/hashicorp/kubernetes/latest/docs/resources/cluster_role_binding
# custom:
#   id: HF-K8S-011
#   severity: critical
#   kind: access
#   types:
#   - kubernetes_cluster_role_binding
#   - kubernetes_cluster_role_binding_v1
#   - kubernetes_role_binding
#   - kubernetes_role_binding_v1
#   recommendation: "Name users, groups or service accounts."
package holdfast.kubernetes.hf_k8s_011

import data.holdfast.lib

types := {"kubernetes_cluster_role_binding", "kubernetes_cluster_role_binding_v1", "kubernetes_role_binding", "kubernetes_role_binding_v1"}

deny contains lib.finding(c, "it gives a role to who is not signed in") if {
	some c in input.resource_changes
	c.type in types
	after := c.change.after
	is_object(after)
	some subject in lib.list(after, "subject")
	subject.name in {"system:anonymous", "system:unauthenticated"}
}

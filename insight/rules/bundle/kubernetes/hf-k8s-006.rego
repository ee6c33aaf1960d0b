# METADATA
# title: "A container may gain rights"
# related_resources:
# - https://registry.terraform.io/providers/hashicorp/kubernetes/latest/docs/resources/pod
# custom:
#   id: HF-K8S-006
#   severity: medium
#   kind: access
#   types:
#   - kubernetes_pod
#   - kubernetes_pod_v1
#   - kubernetes_deployment
#   - kubernetes_deployment_v1
#   - kubernetes_stateful_set
#   - kubernetes_stateful_set_v1
#   - kubernetes_daemonset
#   - kubernetes_daemon_set_v1
#   - kubernetes_job
#   - kubernetes_job_v1
#   - kubernetes_cron_job
#   - kubernetes_cron_job_v1
#   recommendation: "Set allow_privilege_escalation to false."
package holdfast.kubernetes.hf_k8s_006

import data.holdfast.lib

types := {"kubernetes_pod", "kubernetes_pod_v1", "kubernetes_deployment", "kubernetes_deployment_v1", "kubernetes_stateful_set", "kubernetes_stateful_set_v1", "kubernetes_daemonset", "kubernetes_daemon_set_v1", "kubernetes_job", "kubernetes_job_v1", "kubernetes_cron_job", "kubernetes_cron_job_v1"}

deny contains lib.finding(c, "a container may gain rights that it does not begin with") if {
	some c in input.resource_changes
	c.type in types
	after := c.change.after
	is_object(after)
	some pod in lib.pods(after)
	some container in lib.containers(pod)
	some context in lib.list(container, "security_context")
	context.allow_privilege_escalation == true
}

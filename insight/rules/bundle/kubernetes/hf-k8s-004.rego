# METADATA
# title: "A container runs as root"
# related_resources:
# - https://registry.terraform.io/providers/hashicorp/kubernetes/latest/docs/resources/pod
# custom:
#   id: HF-K8S-004
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
#   recommendation: "Set run_as_non_root to true."
package holdfast.kubernetes.hf_k8s_004

import data.holdfast.lib

types := {"kubernetes_pod", "kubernetes_pod_v1", "kubernetes_deployment", "kubernetes_deployment_v1", "kubernetes_stateful_set", "kubernetes_stateful_set_v1", "kubernetes_daemonset", "kubernetes_daemon_set_v1", "kubernetes_job", "kubernetes_job_v1", "kubernetes_cron_job", "kubernetes_cron_job_v1"}

deny contains lib.finding(c, "a container runs as root") if {
	some c in input.resource_changes
	c.type in types
	after := c.change.after
	is_object(after)
	some pod in lib.pods(after)
	some container in lib.containers(pod)
	some context in lib.list(container, "security_context")
	context.run_as_user in {"0", 0}
}

deny contains lib.finding(c, "a container runs as root") if {
	some c in input.resource_changes
	c.type in types
	after := c.change.after
	is_object(after)
	some pod in lib.pods(after)
	some context in lib.list(pod, "security_context")
	context.run_as_user in {"0", 0}
}

# METADATA
# title: "A pod has files of its node"
# related_resources:
# - https://registry.terraform.io/providers/hashicorp/kubernetes/latest/docs/resources/pod
# custom:
#   id: HF-K8S-003
#   severity: high
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
#   recommendation: "Use a persistent volume."
package holdfast.kubernetes.hf_k8s_003

import data.holdfast.lib

types := {"kubernetes_pod", "kubernetes_pod_v1", "kubernetes_deployment", "kubernetes_deployment_v1", "kubernetes_stateful_set", "kubernetes_stateful_set_v1", "kubernetes_daemonset", "kubernetes_daemon_set_v1", "kubernetes_job", "kubernetes_job_v1", "kubernetes_cron_job", "kubernetes_cron_job_v1"}

deny contains lib.finding(c, "it has files of its node") if {
	some c in input.resource_changes
	c.type in types
	after := c.change.after
	is_object(after)
	some pod in lib.pods(after)
	some volume in lib.list(pod, "volume")
	count(lib.list(volume, "host_path")) > 0
}

# METADATA
# title: "Credentials stand in the environment of a container"
# related_resources:
# - https://registry.terraform.io/providers/hashicorp/kubernetes/latest/docs/resources/pod
# custom:
#   id: HF-K8S-012
#   severity: high
#   kind: credentials
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
#   recommendation: "Use value_from with a secret_key_ref."
package holdfast.kubernetes.hf_k8s_012

import data.holdfast.lib

types := {"kubernetes_pod", "kubernetes_pod_v1", "kubernetes_deployment", "kubernetes_deployment_v1", "kubernetes_stateful_set", "kubernetes_stateful_set_v1", "kubernetes_daemonset", "kubernetes_daemon_set_v1", "kubernetes_job", "kubernetes_job_v1", "kubernetes_cron_job", "kubernetes_cron_job_v1"}

deny contains lib.finding(c, "a container's environment has what is called like a credential") if {
	some c in input.resource_changes
	c.type in types
	after := c.change.after
	is_object(after)
	some pod in lib.pods(after)
	some container in lib.containers(pod)
	some env in lib.list(container, "env")
	lib.secret_name(env.name)
	lib.plain_secret(env.value)
}

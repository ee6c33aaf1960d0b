# METADATA
# title: "A cluster keeps no audit log"
# related_resources:
# - https://registry.terraform.io/providers/hashicorp/aws/latest/docs/resources/eks_cluster
# custom:
#   id: HF-AWS-037
#   severity: medium
#   kind: logging
#   types:
#   - aws_eks_cluster
#   recommendation: "Add audit and authenticator to enabled_cluster_log_types."
package holdfast.aws.hf_aws_037

import data.holdfast.lib

deny contains lib.finding(c, "its audit log is off") if {
	some c in input.resource_changes
	c.type == "aws_eks_cluster"
	after := c.change.after
	is_object(after)
	not lib.unknown(c, "enabled_cluster_log_types")
	not "audit" in lib.list(after, "enabled_cluster_log_types")
}

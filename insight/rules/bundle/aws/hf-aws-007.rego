# METADATA
# title: "The Kubernetes API is open to the world"
# related_resources:
# - https://registry.terraform.io/providers/hashicorp/aws/latest/docs/resources/eks_cluster
# custom:
#   id: HF-AWS-007
#   severity: high
#   kind: networking
#   types:
#   - aws_eks_cluster
#   recommendation: "Restrict public_access_cidrs, or turn the public endpoint off."
package holdfast.aws.hf_aws_007

import data.holdfast.lib

deny contains lib.finding(c, "its API can be reached from every address") if {
	some c in input.resource_changes
	c.type == "aws_eks_cluster"
	after := c.change.after
	is_object(after)
	some vpc in lib.list(after, "vpc_config")
	not vpc.endpoint_public_access == false
	lib.world_or_default(c, vpc)
}

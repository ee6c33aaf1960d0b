# METADATA
# title: "A cache is not encrypted"
# related_resources:
# - https://registry.terraform.io/providers/hashicorp/aws/latest/docs/resources/elasticache_replication_group
# custom:
#   id: HF-AWS-022
#   severity: high
#   kind: encryption
#   types:
#   - aws_elasticache_replication_group
#   recommendation: "Set at_rest_encryption_enabled and transit_encryption_enabled to true."
package holdfast.aws.hf_aws_022

import data.holdfast.lib

deny contains lib.finding(c, "it is not encrypted at rest and on the way") if {
	some c in input.resource_changes
	c.type == "aws_elasticache_replication_group"
	is_object(c.change.after)
	some name in {"at_rest_encryption_enabled", "transit_encryption_enabled"}
	lib.off(c, name)
}

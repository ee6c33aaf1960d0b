# METADATA
# title: "A database exports no logs"
# related_resources:
# - https://registry.terraform.io/providers/hashicorp/aws/latest/docs/resources/db_instance
# custom:
#   id: HF-AWS-041
#   severity: low
#   kind: logging
#   types:
#   - aws_db_instance
#   - aws_rds_cluster
#   recommendation: "Name logs in enabled_cloudwatch_logs_exports."
package holdfast.aws.hf_aws_041

import data.holdfast.lib

types := {"aws_db_instance", "aws_rds_cluster"}

deny contains lib.finding(c, "it exports no logs") if {
	some c in input.resource_changes
	c.type in types
	after := c.change.after
	is_object(after)
	not lib.unknown(c, "enabled_cloudwatch_logs_exports")
	count(lib.list(after, "enabled_cloudwatch_logs_exports")) == 0
}

# METADATA
# title: "A queue or topic is not encrypted"
# related_resources:
# - https://registry.terraform.io/providers/hashicorp/aws/latest/docs/resources/sqs_queue
# custom:
#   id: HF-AWS-025
#   severity: low
#   kind: encryption
#   types:
#   - aws_sqs_queue
#   - aws_sns_topic
#   recommendation: "Set kms_master_key_id, or sqs_managed_sse_enabled."
package holdfast.aws.hf_aws_025

import data.holdfast.lib

types := {"aws_sqs_queue", "aws_sns_topic"}

deny contains lib.finding(c, "it is not encrypted") if {
	some c in input.resource_changes
	c.type in types
	after := c.change.after
	is_object(after)
	lib.absent(c, "kms_master_key_id")
	not after.sqs_managed_sse_enabled
	not lib.unknown(c, "sqs_managed_sse_enabled")
}

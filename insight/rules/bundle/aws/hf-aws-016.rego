# METADATA
# title: "Everybody can use a queue or topic"
# related_resources:
# - https://registry.terraform.io/providers/hashicorp/aws/latest/docs/resources/sqs_queue_policy
# custom:
#   id: HF-AWS-016
#   severity: high
#   kind: access
#   types:
#   - aws_sqs_queue_policy
#   - aws_sqs_queue
#   - aws_sns_topic_policy
#   - aws_sns_topic
#   recommendation: "Name the principals, or a condition on the source."
package holdfast.aws.hf_aws_016

import data.holdfast.lib

types := {"aws_sqs_queue_policy", "aws_sqs_queue", "aws_sns_topic_policy", "aws_sns_topic"}

deny contains lib.finding(c, "its policy allows everybody") if {
	some c in input.resource_changes
	c.type in types
	after := c.change.after
	is_object(after)
	some statement in lib.statements(after.policy)
	lib.anybody(statement)
}

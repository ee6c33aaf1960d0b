# METADATA
# title: "A stream is not encrypted"
# related_resources:
# - https://registry.terraform.io/providers/hashicorp/aws/latest/docs/resources/kinesis_stream
# custom:
#   id: HF-AWS-028
#   severity: medium
#   kind: encryption
#   types:
#   - aws_kinesis_stream
#   - aws_kinesis_firehose_delivery_stream
#   recommendation: "Set its encryption to KMS."
package holdfast.aws.hf_aws_028

import data.holdfast.lib

types := {"aws_kinesis_stream", "aws_kinesis_firehose_delivery_stream"}

deny contains lib.finding(c, "it is not encrypted") if {
	some c in input.resource_changes
	c.type in types
	after := c.change.after
	is_object(after)
	c.type == "aws_kinesis_stream"
	object.get(after, "encryption_type", null) in {null, "NONE"}
	not lib.unknown(c, "encryption_type")
}

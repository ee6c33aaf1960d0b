# METADATA
# title: "Files of a trail can be changed unseen"
# related_resources:
# - https://registry.terraform.io/providers/hashicorp/aws/latest/docs/resources/cloudtrail
# custom:
#   id: HF-AWS-036
#   severity: low
#   kind: logging
#   types:
#   - aws_cloudtrail
#   recommendation: "Set enable_log_file_validation to true."
package holdfast.aws.hf_aws_036

import data.holdfast.lib

deny contains lib.finding(c, "its files are not validated") if {
	some c in input.resource_changes
	c.type == "aws_cloudtrail"
	is_object(c.change.after)
	lib.off(c, "enable_log_file_validation")
}

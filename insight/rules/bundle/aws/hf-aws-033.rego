# METADATA
# title: "An access key is kept in the state"
# related_resources:
# - https://registry.terraform.io/providers/hashicorp/aws/latest/docs/resources/iam_access_key
# custom:
#   id: HF-AWS-033
#   severity: medium
#   kind: credentials
#   types:
#   - aws_iam_access_key
#   recommendation: "Give a pgp_key, or use a role instead of a key."
package holdfast.aws.hf_aws_033

import data.holdfast.lib

deny contains lib.finding(c, "its secret is kept in the state") if {
	some c in input.resource_changes
	c.type == "aws_iam_access_key"
	is_object(c.change.after)
	lib.absent(c, "pgp_key")
}

# METADATA
# title: "Old metadata requests can steal credentials"
# related_resources:
# - https://registry.terraform.io/providers/hashicorp/aws/latest/docs/resources/instance
# custom:
#   id: HF-AWS-030
#   severity: medium
#   kind: credentials
#   types:
#   - aws_instance
#   - aws_launch_template
#   - aws_launch_configuration
#   recommendation: "Set http_tokens to required in metadata_options."
package holdfast.aws.hf_aws_030

import data.holdfast.lib

types := {"aws_instance", "aws_launch_template", "aws_launch_configuration"}

deny contains lib.finding(c, "it answers metadata requests without a token") if {
	some c in input.resource_changes
	c.type in types
	after := c.change.after
	is_object(after)
	some options in lib.list(after, "metadata_options")
	not options.http_tokens == "required"
	not options.http_endpoint == "disabled"
}

deny contains lib.finding(c, "it answers metadata requests without a token") if {
	some c in input.resource_changes
	c.type in types
	after := c.change.after
	is_object(after)
	count(lib.list(after, "metadata_options")) == 0
	not lib.unknown(c, "metadata_options")
}

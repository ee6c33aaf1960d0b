# METADATA
# title: "A search domain is not encrypted"
# related_resources:
# - https://registry.terraform.io/providers/hashicorp/aws/latest/docs/resources/opensearch_domain
# custom:
#   id: HF-AWS-024
#   severity: high
#   kind: encryption
#   types:
#   - aws_opensearch_domain
#   - aws_elasticsearch_domain
#   recommendation: "Turn encrypt_at_rest on."
package holdfast.aws.hf_aws_024

import data.holdfast.lib

types := {"aws_opensearch_domain", "aws_elasticsearch_domain"}

deny contains lib.finding(c, "it is not encrypted at rest") if {
	some c in input.resource_changes
	c.type in types
	after := c.change.after
	is_object(after)
	not after.encrypt_at_rest[0].enabled
	not lib.unknown(c, "encrypt_at_rest")
}

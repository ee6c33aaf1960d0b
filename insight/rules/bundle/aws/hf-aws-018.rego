# METADATA
# title: "A store is public by its policy"
# related_resources:
# - https://registry.terraform.io/providers/hashicorp/aws/latest/docs/resources/ecr_repository_policy
# custom:
#   id: HF-AWS-018
#   severity: high
#   kind: access
#   types:
#   - aws_ecr_repository_policy
#   - aws_secretsmanager_secret_policy
#   - aws_elasticsearch_domain_policy
#   - aws_opensearch_domain_policy
#   - aws_backup_vault_policy
#   recommendation: "Name the accounts and roles that need access."
package holdfast.aws.hf_aws_018

import data.holdfast.lib

types := {"aws_ecr_repository_policy", "aws_secretsmanager_secret_policy", "aws_elasticsearch_domain_policy", "aws_opensearch_domain_policy", "aws_backup_vault_policy"}

deny contains lib.finding(c, "its policy allows everybody") if {
	some c in input.resource_changes
	c.type in types
	after := c.change.after
	is_object(after)
	some statement in lib.statements(after.policy)
	lib.anybody(statement)
}

deny contains lib.finding(c, "its policy allows everybody") if {
	some c in input.resource_changes
	c.type in types
	after := c.change.after
	is_object(after)
	some statement in lib.statements(after.access_policies)
	lib.anybody(statement)
}

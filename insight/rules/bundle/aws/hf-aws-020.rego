# METADATA
# title: "A database is not encrypted"
# related_resources:
# - https://registry.terraform.io/providers/hashicorp/aws/latest/docs/resources/db_instance
# custom:
#   id: HF-AWS-020
#   severity: high
#   kind: encryption
#   types:
#   - aws_db_instance
#   - aws_rds_cluster
#   - aws_docdb_cluster
#   - aws_neptune_cluster
#   recommendation: "Set storage_encrypted to true; a database that is there has to be replaced from a snapshot."
package holdfast.aws.hf_aws_020

import data.holdfast.lib

types := {"aws_db_instance", "aws_rds_cluster", "aws_docdb_cluster", "aws_neptune_cluster"}

deny contains lib.finding(c, "its storage is not encrypted") if {
	some c in input.resource_changes
	c.type in types
	after := c.change.after
	is_object(after)
	lib.off(c, "storage_encrypted")
	not after.replicate_source_db
}

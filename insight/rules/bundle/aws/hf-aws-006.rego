# METADATA
# title: "A database can be reached from the internet"
# related_resources:
# - https://registry.terraform.io/providers/hashicorp/aws/latest/docs/resources/db_instance
# custom:
#   id: HF-AWS-006
#   severity: high
#   kind: networking
#   types:
#   - aws_db_instance
#   - aws_rds_cluster_instance
#   - aws_redshift_cluster
#   - aws_dms_replication_instance
#   recommendation: "Set publicly_accessible to false and reach it over the VPC."
package holdfast.aws.hf_aws_006

import data.holdfast.lib

types := {"aws_db_instance", "aws_rds_cluster_instance", "aws_redshift_cluster", "aws_dms_replication_instance"}

deny contains lib.finding(c, "it is publicly accessible") if {
	some c in input.resource_changes
	c.type in types
	is_object(c.change.after)
	lib.on(c, "publicly_accessible")
}

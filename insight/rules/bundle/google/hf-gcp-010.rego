# METADATA
# title: "Everybody has a role"
# related_resources:
# - https://registry.terraform.io/providers/hashicorp/google/latest/docs/resources/cloud_run_service_iam_member
# custom:
#   id: HF-GCP-010
#   severity: critical
#   kind: access
#   types:
#   - google_cloud_run_service_iam_member
#   - google_cloud_run_v2_service_iam_member
#   - google_cloudfunctions_function_iam_member
#   - google_cloudfunctions2_function_iam_member
#   - google_pubsub_topic_iam_member
#   - google_kms_crypto_key_iam_member
#   - google_bigquery_dataset_iam_member
#   - google_secret_manager_secret_iam_member
#   recommendation: "Name members or groups."
package holdfast.google.hf_gcp_010

import data.holdfast.lib

types := {"google_cloud_run_service_iam_member", "google_cloud_run_v2_service_iam_member", "google_cloudfunctions_function_iam_member", "google_cloudfunctions2_function_iam_member", "google_pubsub_topic_iam_member", "google_kms_crypto_key_iam_member", "google_bigquery_dataset_iam_member", "google_secret_manager_secret_iam_member"}

deny contains lib.finding(c, "everybody has a role on it") if {
	some c in input.resource_changes
	c.type in types
	after := c.change.after
	is_object(after)
	some member in lib.google_members(after)
	member in {"allUsers", "allAuthenticatedUsers"}
}

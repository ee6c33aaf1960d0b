package facts

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/runs/changes"
)

// holdsData says what is gone when a resource of a type is.
func holdsData() map[string]string {
	const data, keys, history, address = "its data", "the key, and what only it can decrypt", "its records", "its address"
	return map[string]string{
		"aws_db_instance": data, "aws_rds_cluster": data, "aws_rds_cluster_instance": data, "aws_dynamodb_table": data,
		"aws_s3_bucket": data, "aws_s3_object": data, "aws_ebs_volume": data, "aws_ebs_snapshot": data,
		"aws_efs_file_system":     data,
		"aws_elasticache_cluster": data, "aws_elasticache_replication_group": data, "aws_redshift_cluster": data,
		"aws_opensearch_domain": data, "aws_elasticsearch_domain": data, "aws_docdb_cluster": data,
		"aws_neptune_cluster":        data,
		"aws_fsx_lustre_file_system": data, "aws_fsx_windows_file_system": data, "aws_ecr_repository": "its images",
		"aws_kms_key": keys, "aws_secretsmanager_secret": "the secret", "aws_ssm_parameter": "its value",
		"aws_cloudwatch_log_group": history, "aws_cloudtrail": "the trail", "aws_eip": address,
		"aws_route53_zone": "its records",
		"aws_backup_vault": "its backups", "aws_msk_cluster": data, "aws_kinesis_stream": data,
		"aws_sqs_queue":         "its messages",
		"aws_cognito_user_pool": "its users", "aws_key_pair": "the key", "aws_iam_access_key": "the key",
		"google_sql_database_instance": data, "google_sql_database": data, "google_storage_bucket": data,
		"google_compute_disk": data, "google_compute_snapshot": data, "google_bigquery_dataset": data,
		"google_bigquery_table": data, "google_spanner_instance": data, "google_spanner_database": data,
		"google_bigtable_instance": data, "google_filestore_instance": data, "google_firestore_database": data,
		"google_redis_instance": data, "google_kms_crypto_key": keys, "google_kms_key_ring": keys,
		"google_secret_manager_secret": "the secret", "google_compute_address": address, "google_dns_managed_zone": history,
		"google_service_account_key": "the key", "google_project": "everything in it", "google_pubsub_topic": "its messages",
		"azurerm_storage_account": data, "azurerm_storage_container": data, "azurerm_managed_disk": data,
		"azurerm_mssql_database": data, "azurerm_mssql_server": data, "azurerm_postgresql_server": data,
		"azurerm_postgresql_flexible_server": data, "azurerm_mysql_flexible_server": data, "azurerm_cosmosdb_account": data,
		"azurerm_redis_cache": data, "azurerm_key_vault": keys, "azurerm_key_vault_key": keys,
		"azurerm_key_vault_secret": "the secret", "azurerm_resource_group": "everything in it",
		"azurerm_public_ip": address, "azurerm_dns_zone": history, "azurerm_log_analytics_workspace": history,
		"azurerm_container_registry": "its images", "azurerm_recovery_services_vault": "its backups",
		"kubernetes_persistent_volume_claim": data, "kubernetes_persistent_volume": data, "kubernetes_stateful_set": data,
		"kubernetes_namespace": "everything in it", "kubernetes_secret": "the secret",
		"random_password": "the password", "tls_private_key": "the key", "random_id": "the identifier",
	}
}

// protections are attributes that keep a resource from being deleted, and what they are when they do.
func protections() map[string]string {
	return map[string]string{
		"deletion_protection": "true", "deletion_protection_enabled": "true", "enable_deletion_protection": "true",
		"disable_api_termination": "true", "termination_protection": "true", "prevent_destroy": "true",
		"purge_protection_enabled": "true", "point_in_time_recovery_enabled": "true",
		"force_destroy": "false", "skip_final_snapshot": "false", "force_delete": "false",
	}
}

// dangers tells what can't be undone.
type dangers struct {
	holds, protects map[string]string
	protections     []string // names of protects, sorted
}

func newDangers() dangers {
	protects := protections()
	return dangers{holdsData(), protects, slices.Sorted(maps.Keys(protects))}
}

// appendTo adds what can't be undone of a change.
func (d dangers) appendTo(list []api.InsightDanger, c Change, v values) []api.InsightDanger {
	if c.Mode == "data" {
		return list
	}
	add := func(format string, args ...any) {
		list = append(list, api.InsightDanger{Resource: c.Address, Reason: fmt.Sprintf(format, args...)})
	}
	lost, holds := d.holds[strings.TrimSuffix(c.Type, "_v1")]
	switch kind := c.Kind(); {
	case kind == Delete && holds:
		add("it is deleted, and %s with it", lost)
	case kind == Replace && holds:
		add("it is replaced because of %s, and %s is lost with the old one", because(c), lost)
	case kind == Forget:
		add("it leaves the state: nobody manages it any more")
	case kind == Update:
		for _, reason := range d.unprotects(v) {
			add("%s", reason)
		}
	}
	return list
}

// unprotects tells which protections an update takes away, and which it may.
func (d dangers) unprotects(v values) (reasons []string) {
	for _, name := range d.protections {
		safe, before, after := d.protects[name], string(v.before[name]), string(v.after[name])
		switch {
		case before == changes.Masked || after == changes.Masked:
			reasons = append(reasons, name+" is marked as sensitive: nobody sees whether it can be deleted then")
		case before == safe && after != safe && slices.Contains(v.changed, name):
			reasons = append(reasons, fmt.Sprintf("%s is turned from %s to %s: it can be deleted then", name, safe, plainOr(after)))
		}
	}
	return reasons
}

func plainOr(value string) string {
	if value == "true" || value == "false" {
		return value
	}
	return "something else"
}

func because(c Change) string {
	switch {
	case len(c.Because) > 0:
		return strings.Join(first(c.Because), ", ")
	case c.Reason == "replace_by_request":
		return "a request"
	case c.Reason == "replace_because_tainted":
		return "it is tainted"
	}
	return "what the plan does not say"
}

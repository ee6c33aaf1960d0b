package enclave

import "maps"

// Cloud is where an enclave is.
type Cloud string

// The clouds.
const (
	Local Cloud = "local"
	GCP   Cloud = "gcp"
	AWS   Cloud = "aws"
	Azure Cloud = "azure"
)

// Clouds lists them.
func Clouds() []Cloud { return []Cloud{Local, GCP, AWS, Azure} }

// Driver knows a cloud: what partitions get to know of it, and as whom they act there.
type Driver interface {
	// Handle lists what an enclave must say of where it is.
	Handle() []string
	// ContextVars are variables that configurations can use; their names begin with nclav_.
	ContextVars(*Enclave) map[string]string
	// AuthEnv is the environment from which the cloud's provider knows whom to act as. None of it is a secret.
	AuthEnv(*Enclave) map[string]string
}

func (c Cloud) driver() Driver {
	switch c {
	case GCP:
		return gcp{}
	case AWS:
		return aws{}
	case Azure:
		return azure{}
	}
	return local{}
}

// Driver is that of the enclave's cloud.
func (e *Enclave) Driver() Driver { return e.Cloud.driver() }

// local needs nothing: what it makes is on this machine.
type local struct{}

func (local) Handle() []string                       { return nil }
func (local) ContextVars(*Enclave) map[string]string { return map[string]string{} }
func (local) AuthEnv(*Enclave) map[string]string     { return map[string]string{} }

// gcp acts as a service account by impersonation, with whatever credentials the operator has.
type gcp struct{}

func (gcp) Handle() []string { return []string{"project_id"} }

func (gcp) ContextVars(e *Enclave) map[string]string {
	return map[string]string{"nclav_project_id": e.Handle["project_id"], "nclav_region": e.Region}
}

func (gcp) AuthEnv(e *Enclave) map[string]string {
	project := e.Handle["project_id"]
	env := map[string]string{"GOOGLE_PROJECT": project}
	if e.Identity != "" {
		env["GOOGLE_IMPERSONATE_SERVICE_ACCOUNT"] = e.Identity + "@" + project + ".iam.gserviceaccount.com"
	}
	return env
}

// aws acts as a role of the enclave's account.
type aws struct{}

func (aws) Handle() []string { return []string{"account_id"} }

func (aws) ContextVars(e *Enclave) map[string]string {
	return map[string]string{"nclav_account_id": e.Handle["account_id"], "nclav_region": e.Region}
}

func (aws) AuthEnv(e *Enclave) map[string]string {
	env := map[string]string{}
	if e.Region != "" {
		env["AWS_REGION"] = e.Region
	}
	if e.Identity != "" {
		env["AWS_ROLE_ARN"] = "arn:aws:iam::" + e.Handle["account_id"] + ":role/" + e.Identity
		env["AWS_ROLE_SESSION_NAME"] = "holdfast"
	}
	return env
}

// azure acts as an application, by the ID of its client.
type azure struct{}

func (azure) Handle() []string { return []string{"subscription_id", "tenant_id"} }

func (azure) ContextVars(e *Enclave) map[string]string {
	return map[string]string{"nclav_subscription_id": e.Handle["subscription_id"],
		"nclav_tenant_id": e.Handle["tenant_id"], "nclav_region": e.Region}
}

func (azure) AuthEnv(e *Enclave) map[string]string {
	env := map[string]string{"ARM_SUBSCRIPTION_ID": e.Handle["subscription_id"], "ARM_TENANT_ID": e.Handle["tenant_id"]}
	if e.Identity != "" {
		env["ARM_CLIENT_ID"] = e.Identity
	}
	return env
}

// Context is what each partition gets as variables, beside its inputs.
func (p *Partition) Context() map[string]string {
	all := map[string]string{"nclav_enclave_id": p.Enclave.ID, "nclav_partition_id": p.ID,
		"nclav_region": p.Enclave.Region, "nclav_project_id": ""}
	maps.Copy(all, p.Enclave.Driver().ContextVars(p.Enclave))
	return all
}

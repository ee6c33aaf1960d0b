package plainlog

import (
	"strings"
	"testing"
)

func TestKeepDropsWhatMayBeAValue(t *testing.T) {
	const text = "Initializing the backend...\n" +
		"opentofu 1.12.6, sandbox landlock\n" +
		"- Installing hashicorp/null v3.2.1...\n" +
		"terraform_data.a[0]: Refreshing state... [id=secret-1]\n" +
		"module.net[\"eu west\"].aws_vpc.main: Creating...\n" +
		"module.net[\"eu west\"].aws_vpc.main: Still creating... [id=secret-2, 10s elapsed]\n" +
		"terraform_data.a[0]: Creation complete after 1m2s [id=secret-3]\n" +
		"\nOpenTofu will perform the following actions:\n\n" +
		"  # terraform_data.a[0] will be updated in-place\n" +
		"terraform_data.a[0] (local-exec): secret-4\n" +
		"\nPlan: 2 to add, 0 to change, 0 to destroy.\n" +
		"\x1b[1mApply complete! Resources: 2 added, 0 changed, 0 destroyed.\x1b[0m\n" +
		"\nOutputs:\n\nregion = \"secret-5\"\n" +
		"    Plan: 1 to add, 0 to change, 0 to destroy.secret-6\n" +
		"\nError: creating S3 Bucket (secret-7): exists\n\n" +
		"  with aws_s3_bucket.b,\n" +
		"  on main.tf line 3, in resource \"aws_s3_bucket\" \"b\":\n" +
		"   3:   bucket = \"secret-8\"\n" +
		"    │ var.x is \"secret-9\"\n" +
		"[holdfast: apply failed: secret-10]\n"
	got := string(NewLines().Keep([]byte(text)))
	if strings.Contains(got, "secret") {
		t.Errorf("a value is left:\n%s", got)
	}
	for _, want := range []string{
		"Initializing the backend...\n", "- Installing hashicorp/null v3.2.1...\n",
		"terraform_data.a[0]: Refreshing state...\n", "aws_vpc.main: Still creating... [10s elapsed]\n",
		"terraform_data.a[0]: Creation complete after 1m2s\n", "  # terraform_data.a[0] will be updated in-place\n",
		"\nPlan: 2 to add, 0 to change, 0 to destroy.\n", "\nApply complete! Resources: 2 added, 0 changed, 0 destroyed.\n",
		"Error: creating S\n", "  on main.tf line 3\n", "[holdfast: apply failed]\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in:\n%s", want, got)
		}
	}
}

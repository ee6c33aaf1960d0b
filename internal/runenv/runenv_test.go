package runenv

import "testing"

func TestReserved(t *testing.T) {
	for name, reserved := range map[string]bool{
		"TF_HTTP_PASSWORD": true, "tf_http_address": true, "TF_CLI_ARGS": true, "TF_CLI_ARGS_apply": true, "HOME": true,
		"TF_LOG_PATH":      true,
		"TF_LOG_PATH_MASK": true, "TF_PLUGIN_CACHE_DIR": true, "TG_TF_PATH": true, "LD_PRELOAD": true,
		"HOLDFAST_COMMAND": true,
		"AWS_REGION":       false, "TF_LOG": false, "TF_TOKEN_example_com": false, "HOMEPAGE": false,
	} {
		if why := WhyReserved(name); (why != "") != reserved {
			t.Errorf("%s: %q", name, why)
		}
	}
}

// Vulnerability: a tool that logs all it does prints attributes of the state, sensitive ones too.
func TestNoLogsWithSecrets(t *testing.T) {
	for _, name := range []string{"TF_LOG", "TF_LOG_CORE", "TF_LOG_PROVIDER", "TF_LOG_PROVIDER_AWS", "TF_LOG_SDK_PROTO",
		"tf_log", "TG_LOG_LEVEL", "TERRAGRUNT_LOG_LEVEL"} {
		for value, fine := range map[string]bool{
			"TRACE": false, "trace": false, "DEBUG": false, "JSON": false, "json": false, "1": false, "x": false, " INFO": false,
			"": true, "off": true, "ERROR": true, "WARN": true, "info": true,
		} {
			if why := WhyTooMuch(name, value); (why == "") != fine {
				t.Errorf("%s=%s: %q", name, value, why)
			}
		}
	}
	if why := WhyTooMuch("AWS_REGION", "TRACE"); why != "" {
		t.Error(why)
	}
}

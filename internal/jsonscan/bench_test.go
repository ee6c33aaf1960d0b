package jsonscan

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

// realisticState returns a version 4 state of about 1 MB, indented as Terraform writes it:
// short attributes, ARNs, tags, and policies that are JSON within a string.
func realisticState() []byte {
	var b strings.Builder
	b.WriteString(`{
  "version": 4,
  "terraform_version": "1.9.8",
  "serial": 4711,
  "lineage": "3f0c2f51-6d0a-7c0d-9a3e-0f4c1b7d2e65",
  "outputs": {
    "bucket_arns": {
      "value": [
        "arn:aws:s3:::logs",
        "arn:aws:s3:::artifacts"
      ],
      "type": [
        "list",
        "string"
      ]
    }
  },
  "resources": [`)
	for i := range 400 {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, stateResource, i, i, i, i, i*7919, i)
	}
	b.WriteString("\n  ],\n  \"check_results\": null\n}\n")
	return []byte(b.String())
}

const stateResource = `
    {
      "module": "module.service[\"blue-%d\"]",
      "mode": "managed",
      "type": "aws_iam_role",
      "name": "task_execution",
      "provider": "provider[\"registry.terraform.io/hashicorp/aws\"]",
      "instances": [
        {
          "index_key": "eu-central-1%d",
          "schema_version": 0,
          "attributes": {
            "arn": "arn:aws:iam::123456789012:role/service-blue-task-execution-%d",
            "assume_role_policy": "{\"Statement\":[{\"Action\":\"sts:AssumeRole\",\"Effect\":\"Allow\",\"Principal\":{\"Service\":\"ecs-tasks.amazonaws.com\"}}],\"Version\":\"2012-10-17\"}",
            "create_date": "2024-05-17T09:12:33Z",
            "description": "",
            "force_detach_policies": false,
            "id": "service-blue-task-execution-%d",
            "inline_policy": [],
            "managed_policy_arns": [
              "arn:aws:iam::aws:policy/service-role/AmazonECSTaskExecutionRolePolicy"
            ],
            "max_session_duration": 3600,
            "name": "service-blue-task-execution",
            "name_prefix": "",
            "network": {
              "cidr_block": "10.42.0.0/16",
              "cost": 12.75,
              "ipv6_cidr_block": null,
              "subnet_ids": [
                "subnet-0a1b2c3d4e5f60718",
                "subnet-0f1e2d3c4b5a69788",
                "subnet-00112233445566778"
              ]
            },
            "path": "/",
            "permissions_boundary": null,
            "tags": {
              "CostCenter": "%d",
              "Environment": "production",
              "ManagedBy": "terraform",
              "Owner": "Plattform-Team München"
            },
            "timeouts": null,
            "unique_id": "AROA%dEXAMPLEID"
          },
          "sensitive_attributes": [],
          "private": "eyJlMmJmYjczMC1lY2FhLTExZTYtOGY4OC0zNDM2M2JjN2M0YzAiOnsiY3JlYXRlIjo2MDAwMDAwMDAwMDB9fQ==",
          "dependencies": [
            "module.service.aws_iam_policy.boundary",
            "module.service.data.aws_caller_identity.current"
          ],
          "create_before_destroy": true
        }
      ]
    }`

// The bytes are the same for all, so that the figures compare. On an idle AMD EPYC:
// Object 2,500 MB/s, json.Valid 410, jsontext 2,050; jsontext reports no members and
// recurses, so it has a limit of 10,000 levels.
func BenchmarkState(b *testing.B) {
	data := realisticState()
	for _, bb := range []struct {
		name string
		scan func() bool
	}{
		{"Object", func() bool { return Object(data, Limits{}, nil) == nil }},
		{"json.Valid", func() bool { return json.Valid(data) }},
		{"jsontext", func() bool { return jsontext.Value(data).IsValid(jsontext.AllowDuplicateNames(true)) }},
		{"jsontext-unique-names", func() bool { return jsontext.Value(data).IsValid() }},
	} {
		b.Run(bb.name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				if !bb.scan() {
					b.Fatal("refused")
				}
			}
		})
	}
}

// BenchmarkKinds shows what each part of the scanner is worth.
func BenchmarkKinds(b *testing.B) {
	for _, bb := range []struct{ name, element string }{
		{"plain", `"arn:aws:iam::123456789012:role/service-blue-task-execution"`},
		{"short", `"id"`},
		{"escapes", `"{\"Statement\":[{\"Action\":\"sts:AssumeRole\"}]}\n"`},
		{"umlauts", `"Plattform-Team München, Größe: übermäßig"`},
		{"kanji", `"状態を保存する場所の説明"`},
		{"numbers", `1234567.25`},
		{"words", `false`},
		{"empty", `{}`},
		{"nested", `[[[[[[[[{"a":{"b":[]}}]]]]]]]]`},
	} {
		b.Run(bb.name, func(b *testing.B) {
			elements := strings.Repeat(bb.element+",", 1<<18/len(bb.element))
			data := []byte(`{"a":[` + elements + bb.element + `]}`)
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				if err := Object(data, Limits{}, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

//go:build e2e

package test

import (
	"encoding/json"
	"fmt"
)

// resource is what a provider reports of one thing. Its JSON is compact, so the server
// gives back the same bytes.
type resource struct {
	Name       string          `json:"resource_name"`
	Attributes json.RawMessage `json:"attributes"`
}

// upload is the body of a request.
type upload struct {
	Provider     string     `json:"provider"`
	Category     string     `json:"category"`
	ResourceType string     `json:"resource_type"`
	Instances    []resource `json:"instances"`
}

// kind is a type of resources, with attributes as its provider has them. In all of them
// size_gb is a number, of which sums can be made.
type kind struct {
	provider, category, resourceType string
	name, attributes                 string // formats, of a number that grows
}

func kinds() []kind {
	return []kind{
		{"aws", "compute", "aws_instance", "web-%04d",
			`{"id":"i-0a1b2c3d4e5f6%04[1]d","arn":"arn:aws:ec2:eu-central-1:123456789012:instance/i-0a1b2c3d4e5f6%04[1]d","instance_type":"t3.micro","ebs_block_device":[{"device_name":"/dev/sdf","encrypted":true,"iops":3000}],"vpc_security_group_ids":["sg-1","sg-2"],"tags":{"Name":"web <%[1]d> & co","Owner":"ops@example.com"},"user_data":null,"size_gb":%[1]d}`},
		{"aws", "storage", "aws_s3_bucket", "logs-%04d.example.com",
			`{"bucket":"logs-%04[1]d.example.com","region":"eu-west-1","policy":"{\"Version\":\"2012-10-17\",\"Statement\":[{\"Effect\":\"Allow\",\"Action\":\"s3:GetObject\"}]}","versioning":[{"enabled":true,"mfa_delete":false}],"size_gb":%[1]d}`},
		{"azurerm", "compute", "azurerm_linux_virtual_machine", "vm-%04d",
			`{"id":"/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/prod/providers/Microsoft.Compute/virtualMachines/vm-%04[1]d","location":"westeurope","size":"Standard_B2s","os_disk":[{"caching":"ReadWrite","disk_size_gb":%[1]d}],"zone":"1","size_gb":%[1]d}`},
		{"google", "compute", "google_compute_instance", "gke-pool-%04d",
			`{"instance_id":922337203685477%04[1]d,"machine_type":"e2-medium","self_link":"https://www.googleapis.com/compute/v1/projects/p/zones/europe-west3-a/instances/gke-pool-%04[1]d","scheduling":[{"preemptible":false,"automatic_restart":true}],"labels":{"env":"prod","größe":"mittel"},"size_gb":%[1]d}`},
		{"kubernetes", "workload", "kubernetes_deployment", "shop/checkout-%04d",
			`{"metadata":{"namespace":"shop","uid":"6f0c2b1e-3d57-4c0e-9f5a-0a6d1f1b%04[1]d","resource_version":"%[1]d","annotations":{"deployment.kubernetes.io/revision":"7","note":"line one\nline two, with \"quotes\""}},"spec":{"replicas":3,"template":{"containers":[{"image":"registry.example.com/shop:1.2","args":["--port","8080"],"resources":{"limits":{"cpu":"500m","memory":"1Gi"}}}]}},"size_gb":%[1]d}`},
		{"vsphere", "compute", "vsphere_virtual_machine", "DC1/vm/Ünit %04d",
			`{"uuid":"4225f1f0-0000-0000-0000-00000000%04[1]d","guest_id":"ubuntu64Guest","num_cpus":4,"memory":8192,"disk":[{"label":"disk0","thin_provisioned":true}],"network_interface":[{"adapter_type":"vmxnet3","mac_address":"00:50:56:aa:bb:cc"}],"cpu_share":1.50,"annotation":"=HYPERLINK(\"http://x\")","size_gb":%[1]d}`},
		{"cloudflare", "dns", "cloudflare_record", "_dmarc.%04d.example.com",
			`{"zone_id":"023e105f4ecef8ad9ca31a8372d0c353","type":"TXT","content":"v=DMARC1; p=none; rua=mailto:a@example.com","ttl":1,"proxied":false,"size_gb":%[1]d}`},
	}
}

// reportOf returns the upload of this number, with a few instances of one kind.
func reportOf(number int) upload {
	all := kinds()
	k := all[number%len(all)]
	u := upload{Provider: k.provider, Category: k.category, ResourceType: k.resourceType}
	for i := range 1 + number%9 {
		n := number*10 + i
		u.Instances = append(u.Instances, resource{fmt.Sprintf(k.name, n), json.RawMessage(fmt.Sprintf(k.attributes, n))})
	}
	return u
}

// sums are what can be counted of records, in any store.
type sums struct{ Records, Gigabytes int64 }

func (s *sums) add(attributes json.RawMessage) error {
	var a struct {
		Size int64 `json:"size_gb"`
	}
	s.Records++
	err := json.Unmarshal(attributes, &a)
	s.Gigabytes += a.Size
	return err
}

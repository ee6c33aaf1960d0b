package sample

import "bytes"

const (
	uploadHead = `{"provider":"aws","category":"compute","resource_type":"vm_instance","instances":[`
	uploaded   = `{"resource_name":"node-<#>","attributes":{"id":"i-<17>","arn":"arn:aws:ec2:eu-central-1:123456789012:instance/i-<17>",` +
		`"instance_type":"m6i.large","availability_zone":"eu-central-1a","image_id":"ami-<!17>","monitoring":true,"cpu_core_count":4,"launch_id":"<!6>",` +
		`"private_ip":"ip-<8>.internal","tags":{"Environment":"production","Name":"node-<#>","Team":"platform"},"security_groups":["sg-<17>","sg-<17>"]}}`
)

// Upload is what a provider reports. It is not safe for concurrent use.
type Upload struct{ document }

// NewUpload returns a report of so many instances, at least one, of about 450 bytes each.
func NewUpload(instances int, seed uint64) *Upload {
	u := &Upload{newDocument(instances*512, seed)}
	u.body = append(u.body, uploadHead...)
	kind := parseTemplate(uploaded)
	for i := range instances {
		u.add(kind, i)
		u.body = append(u.body, ',')
	}
	u.body = append(bytes.TrimSuffix(u.body, []byte(",")), "]}"...)
	return u
}

// Bytes returns the report as it stands, until the next Change.
func (u *Upload) Bytes() []byte { return u.body }

// Change gives a few instances other attributes, in place.
func (u *Upload) Change() {
	for range edits {
		u.change()
	}
}

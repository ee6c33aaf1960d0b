//go:build e2e

package test

import "strings"

// shelfCases are configurations with the provider of our own (clients/provider-shelf), which has every kind of
// attribute. The key "only" names the client that can have one.
func shelfCases() map[string]map[string]string {
	return map[string]map[string]string{
		"shelf": {"main.tf": shelfHead + shelfAll, "next": shelfHead + strings.NewReplacer(
			`text   = "some text"`, `text   = "other text"`, `name  = "bare-`, `name  = "new-`, `["b", "a"]`, `["c", "a"]`,
			`side = "right"`, `side = "back"`, `count = 4`, `count = 5`, `name = "second"`, `name = "third"`,
			`code = "1234"`, `code = "4321"`, `count = 2`, `count = 3`).Replace(shelfAll)},
		"write-only": {"only": "TOFU_BIN", "main.tf": shelfHead + `
resource "shelf_box" "keyed" {
  name        = "keyed"
  key         = var.secret
  key_version = 1
}
`, "next": shelfHead + `
resource "shelf_box" "keyed" {
  name        = "keyed"
  key         = "another"
  key_version = 2
}
`},
		"ignored": {"main.tf": shelfHead + `
resource "shelf_box" "kept" {
  name = "kept"
  text = "before"
  size = 1
  lifecycle {
    ignore_changes = [text]
  }
}
`, "next": shelfHead + `
resource "shelf_box" "kept" {
  name = "renamed"
  text = "after"
  size = 2
  lifecycle {
    ignore_changes = [text]
  }
}
`},
	}
}

const shelfHead = `
terraform {
  required_providers {
    shelf = { source = "registry.terraform.io/holdfast/shelf", version = ">= 1" }
  }
}
provider "shelf" {
  folder = "${path.module}/shelf"
}
variable "secret" {
  type        = string
  default     = "hush"
  description = "What nobody is shown"
  sensitive   = true
}
`

const shelfAll = `
resource "shelf_box" "all" {
  name   = "all"
  text   = "some text"
  secret = var.secret
  tags   = ["b", "a"]
  labels = { one = "1", two = "2" }

  dimensions = { width = 3, code = "abc" }

  slots = [{ name = "first" }, { name = "second", note = "full" }]
  parts = [{ name = "screw", count = 4 }, { name = "nut" }]
  door {
    side = "left"
    hinge { at = 1 }
    hinge { at = 2 }
  }
  door {
    side = "right"
    open = true
  }
  lock {
    kind = "pin"
    code = "1234"
  }
  lock { kind = "key" }
}
resource "shelf_box" "bare" {
  count = 2
  name  = "bare-${count.index}"
  text  = shelf_box.all.id
}
resource "shelf_box" "dynamic" {
  name = "dynamic"
  tags = toset([for s in shelf_box.all.slots : s.name])
  dynamic "door" {
    for_each = ["a", "b"]
    content {
      side = door.value
    }
  }
  parts = [{ name = shelf_box.bare[0].id }]
}
data "shelf_box" "back" {
  name       = shelf_box.all.name
  depends_on = [shelf_box.all]
}
output "revision" { value = shelf_box.all.revision }
output "read" { value = data.shelf_box.back.text }
`

# What the rules of this bundle share. An attribute that is known after the apply only is in
# after_unknown, not in after: nothing is said of what is not known.
package holdfast.lib

finding(c, msg) := {"msg": msg, "resource": c.address}

unknown(c, name) if c.change.after_unknown[name] == true

on(c, name) if c.change.after[name] == true

off(c, name) if {
	not unknown(c, name)
	object.get(c.change.after, name, null) in {null, false}
}

absent(c, name) if {
	not unknown(c, name)
	object.get(c.change.after, name, null) in {null, ""}
}

yes(value) if value in {true, "true"}

# The blocks or values of this name; none where there are none.
list(value, name) := found if {
	found := value[name]
	is_array(found)
} else := [found] if {
	found := value[name]
	is_object(found)
} else := []

enabled(after, name) if {
	some block in list(after, name)
	not block.enabled == false
}

world(text) if text in {"0.0.0.0/0", "::/0", "0::/0", "*", "0.0.0.0", "Internet", "internet", "any", "Any"}

world_or_default(c, vpc) if {
	some cidr in vpc.public_access_cidrs
	world(cidr)
}

world_or_default(c, vpc) if {
	count(list(vpc, "public_access_cidrs")) == 0
	every unknowns in list(c.change.after_unknown, "vpc_config") {
		not unknowns.public_access_cidrs
	}
}

# AWS: rules of security groups, however they are written.
aws_ingress(c) := list(c.change.after, "ingress") if {
	c.type in {"aws_security_group", "aws_default_security_group"}
} else := [c.change.after] if {
	c.type == "aws_security_group_rule"
	c.change.after.type == "ingress"
} else := [object.union(c.change.after, {"protocol": c.change.after.ip_protocol})] if {
	c.type == "aws_vpc_security_group_ingress_rule"
} else := []

aws_world(rule) if {
	some name in {"cidr_blocks", "ipv6_cidr_blocks"}
	some cidr in rule[name]
	world(cidr)
}

aws_world(rule) if {
	some name in {"cidr_ipv4", "cidr_ipv6"}
	world(rule[name])
}

aws_all(rule) if rule.protocol in {"-1", "all"}

aws_all(rule) if {
	rule.from_port == 0
	rule.to_port == 65535
}

aws_port(rule, port) if {
	rule.from_port <= port
	port <= rule.to_port
	not rule.protocol in {"icmp", "icmpv6"}
}

aws_port(rule, _) if aws_all(rule)

# AWS: policies are JSON within a text, and lists of one need be no lists.
decoded(text) := value if {
	json.is_valid(text)
	value := json.unmarshal(text)
}

statements(text) := list(decoded(text), "Statement")

allows(statement) if statement.Effect == "Allow"

has(value, text) if value == text

has(value, text) if text in value

anybody(statement) if {
	allows(statement)
	not statement.Condition
	has(statement.Principal, "*")
}

anybody(statement) if {
	allows(statement)
	not statement.Condition
	has(statement.Principal.AWS, "*")
}

# Google.
google_ingress(c) if {
	object.get(c.change.after, "direction", "INGRESS") in {"INGRESS", null}
	not c.change.after.disabled == true
}

google_port(allow, port) if {
	allow.protocol in {"tcp", "udp", "6", "17"}
	some text in allow.ports
	ends := [to_number(end) | some end in split(text, "-")]
	ends[0] <= port
	port <= ends[count(ends) - 1]
}

google_all(allow) if allow.protocol == "all"

google_all(allow) if {
	allow.protocol in {"tcp", "6"}
	count(list(allow, "ports")) == 0
}

google_all(allow) if {
	some text in allow.ports
	text in {"0-65535", "1-65535"}
}

google_members(after) := array.concat(
	[member | some name in {"member", "entity"}; member := after[name]],
	list(after, "members"),
)

google_containers(after) := [container |
	some template in list(after, "template")
	some spec in array.concat(list(template, "spec"), [template])
	some container in list(spec, "containers")
]

# Azure.
azure_rules(c) := [c.change.after] if {
	c.type == "azurerm_network_security_rule"
} else := list(c.change.after, "security_rule")

azure_world(rule) if {
	rule.direction == "Inbound"
	rule.access == "Allow"
	some source in array.concat([rule.source_address_prefix], list(rule, "source_address_prefixes"))
	world(source)
}

azure_ports(rule) := array.concat(
	[range | range := rule.destination_port_range],
	list(rule, "destination_port_ranges"),
)

azure_all(rule) if {
	some range in azure_ports(rule)
	range in {"*", "0-65535", "1-65535"}
}

azure_port(rule, port) if {
	not rule.protocol == "Icmp"
	some range in azure_ports(rule)
	ends := [to_number(end) | some end in split(range, "-")]
	ends[0] <= port
	port <= ends[count(ends) - 1]
}

azure_ranges(after) if {
	some name in {"authorized_ip_ranges", "api_server_authorized_ip_ranges"}
	count(after[name]) > 0
}

azure_ranges(after) if {
	some profile in list(after, "api_server_access_profile")
	count(profile.authorized_ip_ranges) > 0
}

# Kubernetes: the specifications of pods, however deep they stand.
pods(after) := array.concat(outer, [inner |
	some level in array.concat(outer, jobs)
	some template in list(level, "template")
	some inner in list(template, "spec")
]) if {
	outer := list(after, "spec")
	jobs := [spec |
		some level in outer
		some template in list(level, "job_template")
		some spec in list(template, "spec")
	]
}

containers(pod) := array.concat(list(pod, "container"), list(pod, "init_container"))

# Names and values of credentials.
secret_name(name) if {
	regex.match(`(?i)(passw(or)?d|secret|token|api_?key|private_?key|credential|access_?key)`, name)
	not regex.match(`(?i)(_arn|_name|_id|_path|_url|_uri|_file|_ref|_enabled|_ttl|_expiry|_length)$`, name)
}

plain_secret(value) if {
	is_string(value)
	count(value) >= 8
	not startswith(value, "arn:")
	not startswith(value, "/")
	not startswith(value, "${")
	not startswith(value, "http")
	not value in {"disabled", "required", "optional", "(sensitive)"}
}

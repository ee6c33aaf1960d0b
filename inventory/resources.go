package inventory

import (
	"encoding/json"
	"strconv"
	"unicode/utf8"
)

// resources makes of the instances what is recorded, once the whole upload has gone by.
func (p *parser) resources() []Resource {
	p.needWord("/provider", p.provider)
	p.needWord("/category", p.category)
	p.needWord("/resource_type", p.resourceType)
	instances := p.instances()
	resources := make([]Resource, 0, len(instances))
	for i := range instances {
		resources = append(resources, p.resource(&instances[i]))
	}
	return resources
}

func (p *parser) needWord(pointer string, w word) {
	if !w.given {
		p.faults.addAt(pointer, "is required")
	}
}

// instances returns those of the form that the upload has.
func (p *parser) instances() []instance {
	switch {
	case !p.listGiven && !p.single.given():
		p.faults.addAt("/instances",
			"is required: 1 to %d instances, or one resource with resource_name and attributes at the top level", MaxInstances)
		return nil
	case !p.listGiven:
		return []instance{p.single}
	}
	if p.single.nameGiven {
		p.faults.addAt("/resource_name", "does not stand beside instances")
	}
	if p.single.source != "" {
		p.faults.addAt("/"+p.single.source, "does not stand beside instances")
	}
	return p.list
}

func (p *parser) resource(r *instance) Resource {
	attributes := r.attributes
	if attributes == nil {
		attributes = json.RawMessage("{}")
	}
	return Resource{
		Provider:     p.provider.text,
		Category:     p.category.text,
		ResourceType: p.resourceType.text,
		ResourceName: p.nameOf(r),
		Attributes:   attributes,
	}
}

// nameOf returns the name that the resource was given, or one that can stand for it.
func (p *parser) nameOf(r *instance) string {
	switch {
	case r.nameGiven:
		return r.name
	}
	for _, called := range [...][]byte{r.nameAttribute, r.idAttribute} {
		if name := callName(called); name != "" {
			return name
		}
	}
	name := p.resourceType.text + "-" + strconv.Itoa(r.index)
	if utf8.RuneCountInString(name) > MaxName {
		p.faults.addAt(p.pointerTo(r)+"/resource_name",
			"is required: a name made of resource_type and index would have more than %d characters", MaxName)
	}
	return name
}

// pointerTo returns the pointer to a resource: the upload itself, or an element of its list.
func (p *parser) pointerTo(r *instance) string {
	if !p.listGiven {
		return ""
	}
	return "/instances/" + strconv.Itoa(r.index)
}

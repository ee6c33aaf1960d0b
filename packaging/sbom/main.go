// Command sbom prints what a Go binary is made of, as a CycloneDX document in JSON: each module
// that is linked, with its version and checksum, as the binary itself says it.
//
//	go run ./sbom BINARY VERSION > holdfast.cdx.json
package main

import (
	"debug/buildinfo"
	"fmt"
	"os"
	"runtime/debug"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: sbom BINARY VERSION")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

func run(binary, version string) error {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return err
	}
	encoder := cdx.NewBOMEncoder(os.Stdout, cdx.BOMFileFormatJSON).SetPretty(true)
	return encoder.Encode(describe(info, version))
}

// describe has no serial number and no time in it: the same binary gives the same document.
func describe(info *buildinfo.BuildInfo, version string) *cdx.BOM {
	program := cdx.Component{
		BOMRef: purl(info.Main.Path, version), Type: cdx.ComponentTypeApplication,
		Name: info.Main.Path, Version: version, PackageURL: purl(info.Main.Path, version),
	}
	components := []cdx.Component{{
		BOMRef: purl("std", info.GoVersion), Type: cdx.ComponentTypeLibrary,
		Name: "std", Version: info.GoVersion, PackageURL: purl("std", info.GoVersion),
	}}
	for _, module := range info.Deps {
		components = append(components, component(module))
	}
	var linked []string
	for _, c := range components {
		linked = append(linked, c.BOMRef)
	}
	bom := cdx.NewBOM()
	bom.Metadata = &cdx.Metadata{Component: &program}
	bom.Components = &components
	bom.Dependencies = &[]cdx.Dependency{{Ref: program.BOMRef, Dependencies: &linked}}
	return bom
}

// component is a module, or the one that stands in for it. What go.sum has of it is a digest of
// the whole tree of its files, which is none of CycloneDX's hashes.
func component(module *debug.Module) cdx.Component {
	if module.Replace != nil {
		module = module.Replace
	}
	name := purl(module.Path, module.Version)
	return cdx.Component{
		BOMRef: name, Type: cdx.ComponentTypeLibrary, Name: module.Path, Version: module.Version, PackageURL: name,
		Properties: &[]cdx.Property{{Name: "go:sum", Value: module.Sum}},
	}
}

// purl is a module's package URL: https://github.com/package-url/purl-spec
func purl(path, version string) string { return "pkg:golang/" + path + "@" + version }

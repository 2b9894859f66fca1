// Writes the SDKs of a package schema, one folder for each language: `sdk-codegen <schema.json> <folder> <language>...`.
// It is for machines whose language hosts do not support `pulumi package gen-sdk --local`, and calls the same generators. They are
// imported by one of the other files in this folder.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/blang/semver"
	"github.com/pulumi/pulumi/pkg/v3/codegen/schema"
)

// tool is the generator's name in generated files.
const tool = "the Pulumi SDK generator"

// alone is the loader for a schema without references to other packages; the generators require a loader.
type alone struct{}

func (alone) LoadPackage(name string, _ *semver.Version) (*schema.Package, error) {
	return nil, fmt.Errorf("the schema refers to the package %s, which is not at hand", name)
}

func (a alone) LoadPackageV2(_ context.Context, wanted *schema.PackageDescriptor) (*schema.Package, error) {
	return a.LoadPackage(wanted.Name, wanted.Version)
}

func (a alone) LoadPackageReference(name string, version *semver.Version) (schema.PackageReference, error) {
	_, err := a.LoadPackage(name, version)
	return nil, err
}

func (a alone) LoadPackageReferenceV2(_ context.Context, wanted *schema.PackageDescriptor) (schema.PackageReference, error) {
	return a.LoadPackageReference(wanted.Name, wanted.Version)
}

// bind parses the schema for each language, because generators modify it.
func bind(text []byte) (*schema.Package, error) {
	var spec schema.PackageSpec
	if err := json.Unmarshal(text, &spec); err != nil {
		return nil, err
	}
	pkg, problems, err := bindSpec(spec)
	if err != nil {
		return nil, err
	}
	if problems.HasErrors() {
		return nil, problems
	}
	return pkg, nil
}

func write(folder string, files map[string][]byte) error {
	for name, content := range files {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

func run(args []string) error {
	if len(args) < 3 {
		return fmt.Errorf("usage: sdk-codegen <schema.json> <folder> <language>...")
	}
	text, err := os.ReadFile(args[0])
	if err != nil {
		return err
	}
	for _, language := range args[2:] {
		pkg, err := bind(text)
		if err != nil {
			return fmt.Errorf("%s: %w", args[0], err)
		}
		files, err := generate(language, pkg)
		if err != nil {
			return fmt.Errorf("%s: %w", language, err)
		}
		if err := write(filepath.Join(args[1], language), files); err != nil {
			return err
		}
	}
	return nil
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

package main

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/pulumi/pulumi/pkg/v3/codegen/go"
	"github.com/pulumi/pulumi/pkg/v3/codegen/nodejs"
	"github.com/pulumi/pulumi/pkg/v3/codegen/python"
	"github.com/pulumi/pulumi/pkg/v3/codegen/schema"
)

func bindSpec(spec schema.PackageSpec) (*schema.Package, hcl.Diagnostics, error) {
	return schema.BindSpec(spec, alone{}, schema.ValidationOptions{})
}

func generate(language string, pkg *schema.Package) (map[string][]byte, error) {
	switch language {
	case "nodejs":
		return nodejs.GeneratePackage(tool, pkg, nil, nil, true, alone{})
	case "python":
		return python.GeneratePackage(tool, pkg, nil, alone{})
	case "go":
		return gen.GeneratePackage(tool, pkg, nil)
	}
	return nil, fmt.Errorf("there is no generator for %q: it is nodejs, python or go", language)
}

package main

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"io"
	"net/http"

	"github.com/hashicorp/hcl/v2"
	"github.com/pulumi/pulumi-java/pkg/codegen/java"
	"github.com/pulumi/pulumi/pkg/v3/codegen/dotnet"
	"github.com/pulumi/pulumi/pkg/v3/codegen/schema"
)

func bindSpec(spec schema.PackageSpec) (*schema.Package, hcl.Diagnostics, error) {
	return schema.BindSpec(spec, alone{})
}

func generate(language string, pkg *schema.Package) (map[string][]byte, error) {
	switch language {
	case "dotnet":
		http.DefaultTransport = blankLogo{}
		return dotnet.GeneratePackage(tool, pkg, nil, nil)
	case "java":
		// The build files require a repository; without one the SDK is sources for another project.
		return java.GeneratePackage(tool, pkg, nil, pkg.Repository == "")
	}
	return nil, fmt.Errorf("there is no generator for %q: it is dotnet or java", language)
}

// blankLogo replaces the download of the logo, which the .NET generator cannot omit, by a transparent image.
type blankLogo struct{}

func (blankLogo) RoundTrip(request *http.Request) (*http.Response, error) {
	var text bytes.Buffer
	if err := png.Encode(&text, image.NewNRGBA(image.Rect(0, 0, 64, 64))); err != nil {
		return nil, err
	}
	return &http.Response{StatusCode: http.StatusOK, Request: request, Body: io.NopCloser(&text)}, nil
}

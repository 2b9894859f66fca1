// Package providertest runs the plugin under Pulumi's own test framework for providers.
package providertest

import (
	"os"
	"testing"

	"github.com/pulumi/providertest/pulumitest"
	"github.com/pulumi/providertest/pulumitest/opttest"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/optpreview"
	"github.com/pulumi/pulumi/sdk/v3/go/auto/optrefresh"
)

var attached = opttest.AttachProviderBinary("serverless-compute", os.Getenv("PLUGIN_FOLDER"))

func newTest(t *testing.T) *pulumitest.PulumiTest {
	return pulumitest.NewPulumiTest(t, "program", opttest.SkipInstall(), attached)
}

func TestLifecycle(t *testing.T) {
	test := newTest(t)
	test.Preview(t)
	test.Up(t)
	test.Preview(t, optpreview.ExpectNoChanges())
	test.Refresh(t, optrefresh.ExpectNoChanges())
	test.Destroy(t)
}

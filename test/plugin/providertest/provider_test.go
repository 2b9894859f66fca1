// Package providertest runs the plugin under Pulumi's own test framework for providers.
package providertest

import (
	"os"
	"testing"

	framework "github.com/pulumi/providertest"
	"github.com/pulumi/providertest/optproviderupgrade"
	"github.com/pulumi/providertest/pulumitest"
	"github.com/pulumi/providertest/pulumitest/assertpreview"
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

// The state in testdata was recorded with version 0.1.0. The option keeps the framework from downloading that version.
func TestUpgrade(t *testing.T) {
	preview := framework.PreviewProviderUpgrade(t, newTest(t), "serverless-compute", "0.1.0",
		optproviderupgrade.BaselineOpts(attached))
	assertpreview.HasNoChanges(t, preview)
}

// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"flag"
	"fmt"
	"io"

	"github.com/pinnace-io/pinnace/cmd/registry-gen/internal/declaration"
)

const introduction = `registry-gen writes the registries of API resources from their declarations.

  go run ./cmd/registry-gen [flags] packages...      packages are patterns such as ./pkg/apis/...

A resource is declared once, in <base>/apis/<group>, by an alias of its Go type with markers in the comment above:

  // Lease says who leads, and until when.
  //
  // +pinnace:resource=leases
  // +pinnace:scope=Namespaced
  type Lease = coordinationv1.Lease

Its decisions are written by hand in <base>/registry/<group>/<kind in lower case>: Strategy with NewStrategy, for
each subresource NAMEStrategy with NewNAMEStrategy, Columns with NewColumns, hooks. Constructors get what they ask
for by type: clock.PassiveClock, authorizer.Authorizer, and, those of subresources, Strategy. From both are written:

  <base>/apis/<group>/zz_generated.install.go                     Install and Group: scheme and resource table
  <base>/registry/<group>/<kind>/storage/zz_generated.storage.go  store, adapters of the strategies, endpoints
  <base>/registry/<group>/rest/zz_generated.rest.go               Provider: from dependencies to endpoints
  <base>/registry/zz_generated.groups.go                          Groups: all groups below <base>

Generated files that no declaration asks for any more are removed. Nothing is written where anything is wrong.
`

func help(out io.Writer, flags *flag.FlagSet) {
	fmt.Fprint(out, introduction)
	for _, place := range []declaration.Place{declaration.OnPackage, declaration.OnType} {
		fmt.Fprintf(out, "\nMarkers in %s:\n\n", place)
		for _, d := range declaration.Grammar() {
			if d.Place == place {
				fmt.Fprintf(out, "  %s\n      %s\n", d.Form, d.Help)
			}
		}
	}
	fmt.Fprint(out, "\nFlags:\n\n")
	flags.SetOutput(out)
	flags.PrintDefaults()
}

// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package certificatesigningrequest_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	certificatesv1 "k8s.io/api/certificates/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/kubernetes/pkg/printers"
	upstreamprinters "k8s.io/kubernetes/pkg/printers/internalversion"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/pinnace-io/pinnace/internal/gen"
	"github.com/pinnace-io/pinnace/pkg/registry/certificates/certificatesigningrequest"
	"github.com/pinnace-io/pinnace/pkg/registry/table"
)

var _ table.Columns[*certificatesv1.CertificateSigningRequest] = certificatesigningrequest.Columns{}

func newColumns() certificatesigningrequest.Columns {
	return certificatesigningrequest.NewColumns(clocktesting.NewFakePassiveClock(now()))
}

func TestCells(t *testing.T) {
	t.Parallel()
	created := func(ago time.Duration) gen.CSROption {
		return func(csr *certificatesv1.CertificateSigningRequest) {
			csr.CreationTimestamp = metav1.NewTime(now().Add(-ago))
		}
	}
	by := func(name string) gen.CSROption {
		return func(csr *certificatesv1.CertificateSigningRequest) { csr.Spec.Username = name }
	}
	certificate := gen.WithCertificate(gen.RobotCertificate())

	tests := map[string]struct {
		csr  *certificatesv1.CertificateSigningRequest
		want []any
	}{
		"a new request": {
			csr:  gen.CSR("robot", created(0), by("alice")),
			want: []any{"robot", "0s", "example.com/robot", "alice", "<none>", "Pending"},
		},
		"an object that was not created": {
			csr:  gen.CSR("robot"),
			want: []any{"robot", "<unknown>", "example.com/robot", "", "<none>", "Pending"},
		},
		"an object from the future": {
			csr:  gen.CSR("robot", created(-time.Minute)),
			want: []any{"robot", "<invalid>", "example.com/robot", "", "<none>", "Pending"},
		},
		"no signer, an age and a validity": {
			csr:  gen.CSR("robot", gen.WithSigner(""), created(90*time.Minute), gen.WithExpirationSeconds(86400)),
			want: []any{"robot", "90m", "<none>", "", "24h", "Pending"},
		},
		"a long validity": {
			csr:  gen.CSR("robot", created(50*time.Hour), gen.WithExpirationSeconds(400*86400)),
			want: []any{"robot", "2d2h", "example.com/robot", "", "400d", "Pending"},
		},
		"approved":                             {csr: gen.CSR("robot", gen.Approved()), want: row("Approved")},
		"denied":                               {csr: gen.CSR("robot", gen.Denied()), want: row("Denied")},
		"denied and issued":                    {csr: gen.CSR("robot", gen.Denied(), certificate), want: row("Denied,Issued")},
		"approved and issued":                  {csr: gen.CSR("robot", gen.Approved(), certificate), want: row("Approved,Issued")},
		"approved and failed":                  {csr: gen.CSR("robot", gen.Failed(), gen.Approved()), want: row("Approved,Failed")},
		"issued before anybody approved":       {csr: gen.CSR("robot", certificate), want: row("Pending,Issued")},
		"a denial outweighs an approval":       {csr: gen.CSR("robot", gen.Approved(), gen.Denied()), want: row("Denied")},
		"all at once":                          {csr: gen.CSR("robot", gen.Approved(), gen.Denied(), gen.Failed(), certificate), want: row("Denied,Failed,Issued")},
		"conditions that mean nothing here":    {csr: gen.CSR("robot", isWith("Weird", "True")), want: row("Pending")},
		"a verdict counts whatever its status": {csr: gen.CSR("robot", isWith("Approved", "False")), want: row("Approved")},
	}
	for sentence, tt := range tests {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			if d := cmp.Diff(tt.want, newColumns().Cells(tt.csr)); d != "" {
				t.Errorf("cells (-want +got):\n%s", d)
			}
		})
	}
}

// row returns the cells of a request with a condition and nothing else to tell.
func row(condition string) []any {
	return []any{"robot", "<unknown>", "example.com/robot", "", "<none>", condition}
}

func TestTableIsUpstreams(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		requireBubbleAt(t, now())
		columns := newColumns()
		generator := printers.NewTableGenerator().With(upstreamprinters.AddHandlers)
		random := rand.New(rand.NewPCG(5, 1)) // a fixed seed: every run sees the same objects
		conditions := map[string]bool{}

		for i := range 300 {
			csr := gen.RandomCSR(random)
			if i%3 != 0 {
				csr.CreationTimestamp = metav1.NewTime(now().Add(-time.Duration(random.Int64N(int64(5 * 365 * 24 * time.Hour)))))
			}
			theirs, err := generator.GenerateTable(internal(t, csr), printers.GenerateOptions{Wide: true})
			if err != nil {
				t.Fatal(err)
			}
			cells := columns.Cells(csr)
			conditions[fmt.Sprint(cells[len(cells)-1])] = true

			if d := cmp.Diff(theirs.ColumnDefinitions, columns.Definitions()); d != "" {
				t.Fatalf("columns (-upstream +ours):\n%s", d)
			}
			if d := cmp.Diff(theirs.Rows[0].Cells, cells); d != "" {
				t.Fatalf("cells of object %d (-upstream +ours):\n%s", i, d)
			}
		}
		for _, condition := range []string{"Pending", "Approved", "Denied", "Approved,Failed", "Pending,Issued", "Denied,Failed,Issued"} {
			if !conditions[condition] {
				t.Errorf("no object was %s: the comparison says nothing about it", condition)
			}
		}
	})
}

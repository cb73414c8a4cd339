// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
)

// closeTimeout bounds how long etcd may take to close, so that a stop always ends.
const closeTimeout = 15 * time.Second

// Run serves until ctx ends, or etcd stops by itself, and returns when everything is released. Stopping goes: readyz
// fails, the listener closes, requests and watches drain, storage is destroyed, and etcd closes last, since all of
// these still need it. The error is nil after an orderly stop.
func (s *Server) Run(ctx context.Context) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	go func() {
		select {
		case err, failed := <-s.backend.Err():
			if failed {
				stop(fmt.Errorf("etcd stopped: %w", err))
			}
		case <-ctx.Done():
		}
	}()

	go s.identity.keep(ctx)

	err := s.Generic.PrepareRun().RunWithContext(ctx)
	err = errors.Join(err, release(ctx, s.listener, s.backend))
	if cause := context.Cause(ctx); !errors.Is(cause, context.Canceled) {
		err = errors.Join(cause, err)
	}
	return err
}

// WaitReady returns nil when the running server answers "ok" on /readyz. When ctx ends first, the error holds the last
// answer, which names the checks that still fail.
func (s *Server) WaitReady(ctx context.Context) error {
	loopback := rest.CopyConfig(s.loopback)
	loopback.WrapTransport = nil // nobody traces the questions of a start
	client, err := rest.HTTPClientFor(loopback)
	if err != nil {
		return fmt.Errorf("could not build the loopback client: %w", err)
	}
	// http.Client does not see through client-go's wrappers. A connection that is left would hold up a stop for the
	// second that HTTP/2 gives its peer to take leave.
	defer utilnet.CloseIdleConnectionsFor(client.Transport)
	last := errors.New("no answer yet")
	err = wait.PollUntilContextCancel(ctx, 10*time.Millisecond, true, func(ctx context.Context) (bool, error) {
		answer := readyz(ctx, client, s.loopback.Host)
		if answer == nil || ctx.Err() == nil {
			// A request that ctx cut short tells less than the one before it.
			last = answer
		}
		return answer == nil, nil
	})
	if err != nil {
		return fmt.Errorf("not ready: %w: %w", err, last)
	}
	return nil
}

func readyz(ctx context.Context, client *http.Client, host string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, host+"/readyz", nil)
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", response.Status, body)
	}
	return nil
}

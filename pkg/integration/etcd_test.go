// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"net/url"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/zap"
)

// startEtcd starts an etcd that listens on the loopback interface, for servers that keep their data outside and for
// tests that look at the stored bytes. It ends with the test.
func startEtcd(t *testing.T) *clientv3.Client {
	t.Helper()
	config := embed.NewConfig()
	config.Dir = t.TempDir()
	config.ZapLoggerBuilder = embed.NewZapLoggerBuilder(zap.NewNop())
	anyPort := url.URL{Scheme: "http", Host: "127.0.0.1:0"}
	config.ListenClientUrls = []url.URL{anyPort}
	config.AdvertiseClientUrls = config.ListenClientUrls
	config.ListenPeerUrls = []url.URL{anyPort}
	config.AdvertisePeerUrls = config.ListenPeerUrls
	config.InitialCluster = config.InitialClusterFromName(config.Name)
	server, err := embed.StartEtcd(config)
	if err != nil {
		t.Fatalf("could not start etcd: %v", err)
	}
	t.Cleanup(server.Close)
	select {
	case <-server.Server.ReadyNotify():
	case <-time.After(30 * time.Second):
		t.Fatal("etcd was not ready within 30 s")
	}
	client, err := clientv3.New(clientv3.Config{
		Endpoints: []string{"http://" + server.Clients[0].Addr().String()},
		Logger:    zap.NewNop(),
	})
	if err != nil {
		t.Fatalf("could not connect to etcd: %v", err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

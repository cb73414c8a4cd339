// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"context"
	"sync"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/kubernetes"
	"go.etcd.io/etcd/server/v3/etcdserver"
	"go.etcd.io/etcd/server/v3/etcdserver/api/v3client"
	"go.etcd.io/etcd/server/v3/etcdserver/api/v3rpc"
	"go.etcd.io/etcd/server/v3/proxy/grpcproxy/adapter"
)

// gate stands between the in-process clients and the server. A gRPC server drains its calls before etcd stops; without
// one, a call could reach a database that is closed already, which is a panic.
type gate struct {
	mu      sync.RWMutex
	closed  bool                      // guarded by mu
	clients map[*clientv3.Client]bool // guarded by mu: the clients that are not closed
	calls   sync.WaitGroup            // added to with mu held
}

func newGate() *gate { return &gate{clients: map[*clientv3.Client]bool{}} }

// enter admits a call, which must leave. After close it returns etcd's own error for a stopped server.
func (g *gate) enter() error {
	g.mu.RLock()
	defer g.mu.RUnlock()
	if g.closed {
		return rpctypes.ErrStopped
	}
	g.calls.Add(1)
	return nil
}

func (g *gate) leave() { g.calls.Done() }

// close turns away new calls, closes the clients, whose watches end thereby, and waits for the calls in flight.
func (g *gate) close() {
	g.mu.Lock()
	g.closed = true
	clients := g.clients
	g.clients = nil
	g.mu.Unlock()
	for client := range clients {
		_ = client.Close() // returns nothing but the end of its own context
	}
	g.calls.Wait()
}

// newClient returns a client of a server in this process. Like upstream, every storage has one of its own: the watches of a
// client share a stream, and a progress request is answered when all of its stream are in step. closeClient ends it.
func (g *gate) newClient(server *etcdserver.EtcdServer) (*kubernetes.Client, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return nil, rpctypes.ErrStopped
	}
	client := v3client.New(server)
	client.KV = clientv3.NewKVFromKVClient(adapter.KvServerToKvClient(&gatedKV{server: v3rpc.NewQuotaKVServer(server), gate: g}), client)
	client.Watcher = clientv3.NewWatchFromWatchClient(
		adapter.WatchServerToWatchClient(&gatedWatch{WatchServer: v3rpc.NewWatchServer(server), gate: g}), client)
	g.clients[client] = true
	wrapped := &kubernetes.Client{Client: client}
	wrapped.Kubernetes = wrapped
	return wrapped, nil
}

// closeClient closes a client of newClient. It may be called after close.
func (g *gate) closeClient(client *clientv3.Client) {
	g.mu.Lock()
	open := g.clients[client]
	delete(g.clients, client)
	g.mu.Unlock()
	if open {
		_ = client.Close() // returns nothing but the end of its own context
	}
}

// gatedKV lets calls to a KV server through a gate. What goes through etcd's log alone (leases, alarms) needs none: a
// stopped server refuses it.
type gatedKV struct {
	pb.UnimplementedKVServer
	server pb.KVServer
	gate   *gate
}

var _ pb.KVServer = (*gatedKV)(nil)

// admit makes a call if the gate is open.
func admit[Request, Response any](ctx context.Context, g *gate, call func(context.Context, Request) (Response, error), request Request) (Response, error) {
	if err := g.enter(); err != nil {
		var none Response
		return none, err
	}
	defer g.leave()
	return call(ctx, request)
}

// Range implements pb.KVServer.
func (s *gatedKV) Range(ctx context.Context, r *pb.RangeRequest) (*pb.RangeResponse, error) {
	return admit(ctx, s.gate, s.server.Range, r)
}

// Put implements pb.KVServer.
func (s *gatedKV) Put(ctx context.Context, r *pb.PutRequest) (*pb.PutResponse, error) {
	return admit(ctx, s.gate, s.server.Put, r)
}

// DeleteRange implements pb.KVServer.
func (s *gatedKV) DeleteRange(ctx context.Context, r *pb.DeleteRangeRequest) (*pb.DeleteRangeResponse, error) {
	return admit(ctx, s.gate, s.server.DeleteRange, r)
}

// Txn implements pb.KVServer.
func (s *gatedKV) Txn(ctx context.Context, r *pb.TxnRequest) (*pb.TxnResponse, error) {
	return admit(ctx, s.gate, s.server.Txn, r)
}

// Compact implements pb.KVServer.
func (s *gatedKV) Compact(ctx context.Context, r *pb.CompactionRequest) (*pb.CompactionResponse, error) {
	return admit(ctx, s.gate, s.server.Compact, r)
}

// gatedWatch lets watch streams through a gate: a stream reads previous values out of the database until it ends.
type gatedWatch struct {
	pb.WatchServer
	gate *gate
}

// Watch implements pb.WatchServer.
func (s *gatedWatch) Watch(stream pb.Watch_WatchServer) error {
	if err := s.gate.enter(); err != nil {
		return err
	}
	defer s.gate.leave()
	return s.WatchServer.Watch(stream)
}

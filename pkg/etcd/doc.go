// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

// Package etcd is the only package that knows which etcd the server runs on. It hands the server a [Backend]:
// a decorator that builds the storage of every resource, named health checks, and a clear life.
//
// There are two of them. [Embedded] is real etcd in this process, called through Go functions: no TCP port, no unix
// socket, no gRPC. [External] is an etcd cluster reached over the network through the library's own client.
//
// # Start and stop of Embedded
//
// [Start] goes through these steps, and a step that fails undoes the ones before it:
//
//  1. validate the configuration, every mistake at once;
//  2. prepare the data directory: made with mode 0700, or tightened to it, owned by us, writable, with room on the disk;
//  3. lock it: an flock on <dir>/LOCK that dies with the process, so that kill -9 leaves nothing stale;
//  4. inspect it: nobody else (a plain etcd) holds the database, no newer etcd wrote it, the write-ahead log is whole;
//  5. start etcd and wait until it is ready, that is until it has elected itself and applied its whole log;
//  6. clear a NOSPACE alarm that no longer holds, or say loudly that it does;
//  7. start compaction.
//
// [Embedded.Close] goes back: compaction, then every client that is still open and the calls in flight, then etcd,
// then the lock. The API server must have destroyed its storages before; one that has not gets
// "etcdserver: server stopped" from then on, never a panic.
//
// # When etcd cannot go on
//
// etcd ends its process when it cannot write its log or its database: what it holds in memory may then be ahead of
// the disk, and answering from it would be a lie. The package keeps that rule and adds a sentence of its own: the
// line "etcd cannot go on and ends this process" with the directory and the cause is logged and flushed, then
// [EmbeddedConfig.Exit] is called with status 1. A plain Go panic inside etcd (there are few) still ends the process
// as every panic does, with its stack and status 2.
//
// While Start runs the same events come back as an error of Start. Those that etcd itself raised, as opposed to our own
// checks, leave its files open until the process ends: a second Start on the same directory needs a new process.
//
// # What calling etcd in process leaves out
//
// etcd's own users, its TLS, and its gRPC interceptors (with their metrics) are not in the path: nothing but this
// process can reach the database, and its one client is the API server. etcd's RangeStream is not offered by the
// in-process adapter: the storage layer notices and reads large lists in pages.
package etcd

// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

// Package openapi holds the OpenAPI definitions of what is served, and of nothing else: those of the declared resources
// with all that they refer to, and of the types that every API server exchanges. It's written by openapi-gen and
// hack/closure; "make update-codegen" does that.
package openapi

// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package fuzz

import "strconv"

// repair makes parts of an object fit together that were made apart: names are unique, and what is mounted exists.
func repair(object map[string]any) {
	spec := under(object, "spec", "template", "spec")
	if spec == nil {
		return
	}
	unique(spec["volumes"], "name")
	unique(spec["resourceClaims"], "name")
	unique(spec["schedulingGates"], "name")
	unique(spec["topologySpreadConstraints"], "topologyKey")
	names := map[string]bool{}
	ports := map[string]bool{}
	for _, list := range []string{"containers", "initContainers"} {
		for _, item := range objects(spec[list]) {
			rename(item, "name", names)
			repairContainer(item, ports, spec)
			if list == "initContainers" && item["restartPolicy"] == nil {
				for _, key := range []string{"livenessProbe", "readinessProbe", "startupProbe", "lifecycle"} {
					delete(item, key)
				}
			}
		}
	}
	if spec["shareProcessNamespace"] == true {
		delete(spec, "hostPID")
	}
	if dns, ok := spec["dnsPolicy"].(string); ok && dns == "None" && spec["dnsConfig"] == nil {
		spec["dnsConfig"] = map[string]any{"nameservers": []any{"10.1.2.3"}}
	}
}

func repairContainer(container map[string]any, hostPorts map[string]bool, spec map[string]any) {
	unique(container["volumeMounts"], "mountPath")
	unique(container["ports"], "name")
	if policies, ok := container["resizePolicy"].([]any); ok && len(policies) > 1 {
		container["resizePolicy"] = policies[:1]
	}
	for _, port := range objects(container["ports"]) {
		number, ok := port["hostPort"].(int64)
		key := strconv.FormatInt(number, 10)
		if ok && hostPorts[key] {
			delete(port, "hostPort")
		}
		hostPorts[key] = true
	}
	for _, mount := range objects(container["volumeMounts"]) {
		name, ok := mount["name"].(string)
		if !ok || hasVolume(spec, name) {
			continue
		}
		volumes, _ := spec["volumes"].([]any)
		spec["volumes"] = append(volumes, map[string]any{"name": name, "emptyDir": map[string]any{}})
	}
	if container["stdinOnce"] == true {
		container["stdin"] = true
	}
}

func hasVolume(spec map[string]any, name string) bool {
	for _, volume := range objects(spec["volumes"]) {
		if volume["name"] == name {
			return true
		}
	}
	return false
}

// unique changes texts under a key so that no two are the same.
func unique(list any, key string) {
	seen := map[string]bool{}
	for _, item := range objects(list) {
		rename(item, key, seen)
	}
}

func rename(item map[string]any, key string, seen map[string]bool) {
	text, ok := item[key].(string)
	if !ok || text == "" {
		return
	}
	for n := 1; seen[text]; n++ {
		text = text + strconv.Itoa(n)
	}
	seen[text] = true
	item[key] = text
}

func objects(list any) []map[string]any {
	items, _ := list.([]any)
	var out []map[string]any
	for _, item := range items {
		if object, ok := item.(map[string]any); ok {
			out = append(out, object)
		}
	}
	return out
}

// under goes down into an object, nil where that isn't possible.
func under(object map[string]any, keys ...string) map[string]any {
	for _, key := range keys {
		object, _ = object[key].(map[string]any)
	}
	return object
}

// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package parity

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.yaml.in/yaml/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/client-go/kubernetes/scheme"
)

// encodeBody brings a body into the form of its media type.
func encodeBody(body *Value, media string) ([]byte, error) {
	switch {
	case strings.HasSuffix(media, "protobuf"):
		return encodeProtobuf(body.JSON())
	case strings.HasSuffix(media, "cbor"):
		var content map[string]any
		if err := json.Unmarshal(body.JSON(), &content); err != nil {
			return nil, err
		}
		var out bytes.Buffer
		err := cbor.NewSerializer(scheme.Scheme, scheme.Scheme).Encode(&unstructured.Unstructured{Object: wholeNumbers(content)}, &out)
		return out.Bytes(), err
	default:
		return body.JSON(), nil
	}
}

// wholeNumbers makes integers of numbers that are: CBOR tells them apart, encoding/json doesn't.
func wholeNumbers(content map[string]any) map[string]any {
	for key, value := range content {
		content[key] = wholeNumber(value)
	}
	return content
}

func wholeNumber(value any) any {
	switch v := value.(type) {
	case float64:
		if whole := int64(v); float64(whole) == v {
			return whole
		}
	case map[string]any:
		return wholeNumbers(v)
	case []any:
		for i := range v {
			v[i] = wholeNumber(v[i])
		}
	}
	return value
}

func encodeProtobuf(data []byte) ([]byte, error) {
	var meta metav1.TypeMeta
	if err := json.Unmarshal(data, &meta); err != nil {
		return nil, err
	}
	object, err := newObject(meta.GroupVersionKind())
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(data, object); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = protobuf.NewSerializer(scheme.Scheme, scheme.Scheme).Encode(object, &out)
	return out.Bytes(), err
}

// newObject makes an object of a kind that a request or an answer can have.
func newObject(kind schema.GroupVersionKind) (runtime.Object, error) {
	if kind.Group == metav1.GroupName {
		switch kind.Kind {
		case "PartialObjectMetadata":
			return &metav1.PartialObjectMetadata{}, nil
		case "PartialObjectMetadataList":
			return &metav1.PartialObjectMetadataList{}, nil
		}
	}
	return scheme.Scheme.New(kind)
}

// protobufPrefix is what an object in protobuf begins with.
const protobufPrefix = "k8s\x00"

// decodeProtobuf reads an object in its envelope, or the events of a watch, each behind its length.
func decodeProtobuf(data []byte, events bool) ([]*Value, error) {
	if !events {
		v, err := decodeEnvelope(data)
		return []*Value{v}, err
	}
	var out []*Value
	for reader := bytes.NewReader(data); ; {
		event, err := readProtobufEvent(reader)
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		out = append(out, event)
	}
}

func readProtobufEvent(reader io.Reader) (*Value, error) {
	var length [4]byte
	if _, err := io.ReadFull(reader, length[:]); err != nil {
		return nil, err
	}
	frame := make([]byte, binary.BigEndian.Uint32(length[:]))
	if _, err := io.ReadFull(reader, frame); err != nil {
		return nil, err
	}
	var event metav1.WatchEvent
	if err := event.Unmarshal(frame); err != nil {
		return nil, err
	}
	object, err := decodeEnvelope(event.Object.Raw)
	if err != nil {
		return nil, err
	}
	return &Value{Kind: Object, Members: []Member{{"type", Text(event.Type)}, {"object", object}}}, nil
}

// decodeEnvelope shows what the envelope says, and the object in it.
func decodeEnvelope(data []byte) (*Value, error) {
	content, found := bytes.CutPrefix(data, []byte(protobufPrefix))
	if !found {
		return nil, errors.New("the protobuf prefix is missing")
	}
	var envelope runtime.Unknown
	if err := envelope.Unmarshal(content); err != nil {
		return nil, err
	}
	object, err := newObject(envelope.GroupVersionKind())
	if err != nil {
		return nil, err
	}
	message, ok := object.(interface{ Unmarshal([]byte) error })
	if !ok {
		return nil, fmt.Errorf("%s has no protobuf form", envelope.Kind)
	}
	if err := message.Unmarshal(envelope.Raw); err != nil {
		return nil, err
	}
	encoded, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	values, err := ParseJSON(encoded)
	if err != nil {
		return nil, err
	}
	head := []Member{{"apiVersion", Text(envelope.APIVersion)}, {"kind", Text(envelope.Kind)}}
	for _, extra := range []Member{{"contentType", Text(envelope.ContentType)}, {"contentEncoding", Text(envelope.ContentEncoding)}} {
		if extra.Value.Text != `""` {
			head = append(head, extra)
		}
	}
	return &Value{Kind: Object, Members: []Member{{"envelope", &Value{Kind: Object, Members: head}}, {"object", values[0]}}}, nil
}

// decodeCBOR reads the items of a sequence (RFC 8742).
func decodeCBOR(data []byte) ([]*Value, error) {
	reader := cbor.NewFramer().NewFrameReader(io.NopCloser(bytes.NewReader(data)))
	var out []*Value
	// No frame is longer than all of them.
	for frame := make([]byte, len(data)); ; {
		n, err := reader.Read(frame)
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		var content any
		if err := direct.Unmarshal(frame[:n], &content); err != nil {
			return nil, err
		}
		encoded, err := json.Marshal(content)
		if err != nil {
			return nil, err
		}
		values, err := ParseJSON(encoded)
		if err != nil {
			return nil, err
		}
		out = append(out, values...)
	}
}

func parseYAML(data []byte) ([]*Value, error) {
	var node yaml.Node
	if err := yaml.Unmarshal(data, &node); err != nil {
		return nil, err
	}
	value, err := fromYAML(&node)
	return []*Value{value}, err
}

// scriptTimeout bounds a script.
const scriptTimeout = time.Minute

// run runs a script with kubectl.
func (p *player) run(scope *scope, step *Step) error {
	script, err := scope.expand(step.Run, true)
	if err != nil {
		return err
	}
	input := ""
	if !step.Stdin.IsZero() {
		if input, err = scope.content(&step.Stdin); err != nil {
			return err
		}
	}
	e := Exchange{Name: scope.display(step.Name), Request: strings.ReplaceAll(strings.TrimSpace(scope.display(step.Run)), "\n", "; ")}
	if p.target != nil {
		if e.Answer, err = p.script(scope.values["ns"].plain(), script, input); err != nil {
			return err
		}
	}
	p.out = append(p.out, e)
	return nil
}

func (p *player) script(namespace, script, input string) (Answer, error) {
	if p.target.Kubectl == "" {
		return Answer{}, errors.New("there is no kubectl")
	}
	kubeconfig := filepath.Join(p.dir, ".kubeconfig")
	if err := p.target.writeKubeconfig(kubeconfig, namespace); err != nil {
		return Answer{}, err
	}
	ctx, cancel := context.WithTimeout(p.ctx, scriptTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-c", script)
	cmd.Dir = p.dir
	cmd.WaitDelay = time.Second
	cmd.Env = []string{"KUBECONFIG=" + kubeconfig, "HOME=" + p.dir, "PATH=" + filepath.Dir(p.target.Kubectl) + ":" + os.Getenv("PATH"), "LC_ALL=C"}
	cmd.Stdin = strings.NewReader(input)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return Answer{}, err
	}
	out := Answer{Code: cmd.ProcessState.ExitCode(), Format: "text", Text: stdout.String()}
	if stderr.Len() > 0 {
		out.Text += "--- error output\n" + stderr.String()
	}
	out.Text = strings.ReplaceAll(out.Text, p.dir, "<dir>")
	p.target.maskAddress(&out)
	return out, nil
}

// writeKubeconfig writes the administrator's configuration.
func (t *Target) writeKubeconfig(path, namespace string) error {
	config, err := t.config(administrator)
	if err != nil {
		return err
	}
	encode := base64.StdEncoding.EncodeToString
	content := fmt.Sprintf(`{apiVersion: v1, kind: Config, current-context: c,
clusters: [{name: c, cluster: {server: %q, certificate-authority-data: %s}}],
contexts: [{name: c, context: {cluster: c, user: u, namespace: %s}}],
users: [{name: u, user: {client-certificate-data: %s, client-key-data: %s}}]}
`, config.Host, encode(config.CAData), namespace, encode(config.CertData), encode(config.KeyData))
	return os.WriteFile(path, []byte(content), 0o600)
}

// etcd does what a step says to the stored data.
func (p *player) etcd(scope *scope, step *Step) error {
	var expanded [4]string
	for i, text := range []string{step.Etcd.Put, step.Etcd.Get, step.Etcd.List, step.Etcd.Delete} {
		var err error
		if expanded[i], err = scope.expand(text, false); err != nil {
			return err
		}
	}
	put, get, list, remove := expanded[0], expanded[1], expanded[2], expanded[3]
	e := Exchange{Name: scope.display(step.Name), Request: strings.TrimSpace("etcd get " + get + list)}
	if p.target == nil {
		if step.exchanges() {
			p.out = append(p.out, e)
		}
		return nil
	}
	client := p.target.Etcd
	if client == nil {
		return fmt.Errorf("the data of %s can't be reached", p.target.Name)
	}
	ctx, cancel := context.WithTimeout(p.ctx, requestTimeout)
	defer cancel()
	switch {
	case step.Etcd.Compact:
		return compact(ctx, client)
	case put != "":
		value := []byte(step.Etcd.Value)
		if step.Etcd.Value64 != "" {
			var err error
			if value, err = base64.StdEncoding.DecodeString(step.Etcd.Value64); err != nil {
				return err
			}
		}
		_, err := client.Put(ctx, put, string(value))
		return err
	case remove != "":
		_, err := client.Delete(ctx, remove)
		return err
	}
	answer, err := stored(ctx, client, get, list)
	e.Answer = answer
	p.out = append(p.out, e)
	return err
}

func compact(ctx context.Context, client *clientv3.Client) error {
	response, err := client.Get(ctx, "compact_rev_key")
	if err != nil {
		return err
	}
	_, err = client.Compact(ctx, response.Header.Revision)
	return err
}

// stored shows what etcd has at a key, or the keys below one.
func stored(ctx context.Context, client *clientv3.Client, key, prefix string) (Answer, error) {
	out := Answer{Code: 200, Format: "text"}
	if prefix != "" {
		response, err := client.Get(ctx, prefix, clientv3.WithPrefix(), clientv3.WithKeysOnly())
		if err != nil {
			return out, err
		}
		for _, kv := range response.Kvs {
			out.Text += string(kv.Key) + "\n"
		}
		return out, nil
	}
	response, err := client.Get(ctx, key)
	if err != nil {
		return out, err
	}
	if len(response.Kvs) == 0 {
		out.Code = 404
		return out, nil
	}
	data := response.Kvs[0].Value
	value, err := decodeEnvelope(data)
	if err != nil {
		// It is no object: the bytes themselves are the answer.
		out.Text = string(data)
		return out, nil
	}
	out.Format, out.Documents = "protobuf", []*Value{value}
	return out, nil
}

// objectPath is the path of an item of a list of a whole cluster.
func objectPath(collection string, item *Value) string {
	name := url.PathEscape(item.At("metadata", "name").plain())
	if namespace := item.At("metadata", "namespace"); namespace != nil {
		at := strings.LastIndex(collection, "/")
		return collection[:at] + "/namespaces/" + namespace.plain() + collection[at:] + "/" + name
	}
	return collection + "/" + name
}

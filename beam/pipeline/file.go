package pipeline

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
)

func init() {
	register.DoFn3x1[context.Context, []byte, func(*string) bool, error](&commitFn{})
}

// file is an output that is written beside its place.
type file struct {
	*bufio.Writer
	fs      filesystem.Interface
	out     io.WriteCloser
	pending pending
}

// pending is a complete output that does not have its name yet. Parts are the files that it was
// made of.
type pending struct {
	Temporary, Name string
	Parts           []string
}

// create opens a file beside the place called name. A worker that repeats the work uses another
// one.
func create(ctx context.Context, name string) (*file, error) {
	fs, err := filesystem.New(ctx, name)
	if err != nil {
		return nil, err
	}
	folder, base := split(name)
	p := pending{Temporary: folder + temporaryPrefix(base) + rand.Text(), Name: name}
	out, err := fs.OpenWrite(ctx, p.Temporary)
	if err != nil {
		fs.Close()
		return nil, err
	}
	return &file{bufio.NewWriter(out), fs, out, p}, nil
}

// opened is a file that is read, and its file system.
type opened struct {
	io.ReadCloser
	fs filesystem.Interface
}

func openFile(ctx context.Context, name string) (opened, error) {
	fs, err := filesystem.New(ctx, name)
	if err != nil {
		return opened{}, err
	}
	in, err := fs.OpenRead(ctx, name)
	if err != nil {
		fs.Close()
	}
	return opened{in, fs}, err
}

// Close closes both.
func (o opened) Close() error {
	defer o.fs.Close()
	return o.ReadCloser.Close()
}

// split cuts a name behind its last slash.
func split(name string) (folder, base string) {
	n := strings.LastIndexByte(name, '/') + 1
	return name[:n], name[n:]
}

func temporaryPrefix(base string) string { return "." + base + "-hdrbeam-" }

// close completes the file.
func (f *file) close() error {
	err := f.Flush()
	if closeErr := f.out.Close(); err == nil {
		err = closeErr
	}
	f.fs.Close()
	return err
}

// commit completes the file and emits it for [Commit].
func (f *file) commit(emit func(string)) error {
	if err := f.close(); err != nil {
		return err
	}
	document, err := json.Marshal(f.pending)
	emit(string(document))
	return err
}

// abandon removes the file.
func (f *file) abandon(ctx context.Context) {
	f.out.Close()
	if r, ok := f.fs.(filesystem.Remover); ok {
		r.Remove(ctx, f.pending.Temporary)
	}
	f.fs.Close()
}

// shardName returns the name of the log of the span that begins at start and is size milliseconds
// long. If size is 0, there is one log only.
func shardName(name string, start, size int64) string {
	if size == 0 {
		return name
	}
	at := time.UnixMilli(start).UTC().Format("20060102T150405")
	if size%1000 != 0 {
		at += fmt.Sprintf(".%03d", ((start%1000)+1000)%1000)
	}
	return fmt.Sprintf("%s-%sZ.hdr", strings.TrimSuffix(name, ".hdr"), at)
}

// Commit gives outputs their names once all of them are complete. It removes what earlier runs left
// beside them. So a run that fails leaves nothing under the names, unless it fails while it
// renames. Where a file system cannot rename, an output is copied.
func Commit(s beam.Scope, outputs ...beam.PCollection) {
	s = s.Scope("hdrkit.Commit")
	beam.ParDo0(s, &commitFn{}, beam.Impulse(s), beam.SideInput{Input: beam.Flatten(s, outputs...)})
}

type commitFn struct{}

func (commitFn) ProcessElement(ctx context.Context, _ []byte, documents func(*string) bool) error {
	var all []pending
	var document string
	for documents(&document) {
		var p pending
		if err := json.Unmarshal([]byte(document), &p); err != nil {
			return err
		}
		all = append(all, p)
	}
	slices.SortFunc(all, func(p, q pending) int { return strings.Compare(p.Name, q.Name) })
	for _, p := range all {
		if err := p.commit(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (p pending) commit(ctx context.Context) error {
	fs, err := filesystem.New(ctx, p.Name)
	if err != nil {
		return err
	}
	defer fs.Close()
	if err := exists(ctx, fs, p.Temporary); err != nil {
		if exists(ctx, fs, p.Name) == nil {
			return nil // by an earlier try of this bundle
		}
		return err
	}
	if r, ok := fs.(filesystem.Remover); ok {
		for _, part := range p.Parts {
			r.Remove(ctx, part) // an earlier try may have done so
		}
	}
	if err := rename(ctx, fs, p.Temporary, p.Name); err != nil {
		return err
	}
	return removeLeftovers(ctx, fs, p.Name)
}

// exists opens a file, since Beam's local file system does not close what it asks for its size.
func exists(ctx context.Context, fs filesystem.Interface, name string) error {
	file, err := fs.OpenRead(ctx, name)
	if err != nil {
		return err
	}
	return file.Close()
}

func rename(ctx context.Context, fs filesystem.Interface, from, to string) error {
	if r, ok := fs.(filesystem.Renamer); ok {
		return r.Rename(ctx, from, to)
	}
	c, ok := fs.(filesystem.Copier)
	if !ok {
		return fmt.Errorf("%s: this file system can neither rename nor copy", to)
	}
	if err := c.Copy(ctx, from, to); err != nil {
		return err
	}
	if r, ok := fs.(filesystem.Remover); ok {
		return r.Remove(ctx, from)
	}
	return nil
}

// removeLeftovers removes what runs that failed left beside an output.
func removeLeftovers(ctx context.Context, fs filesystem.Interface, name string) error {
	r, ok := fs.(filesystem.Remover)
	if !ok {
		return nil
	}
	folder, base := split(name)
	if strings.ContainsAny(folder+base, `*?[\`) {
		return nil // not a pattern that finds them
	}
	left, err := fs.List(ctx, folder+temporaryPrefix(base)+"*")
	if err != nil {
		return err
	}
	for _, path := range left {
		if err := r.Remove(ctx, path); err != nil {
			return err
		}
	}
	return nil
}

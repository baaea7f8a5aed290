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

// A file is an output of the pipeline while a worker writes it. It has a temporary name until
// [Commit] renames it.
type file struct {
	*bufio.Writer
	fs      filesystem.Interface
	out     io.WriteCloser
	pending pending
}

// A pending output is complete, but still has its temporary name. Parts names the sorted parts that
// it was merged from, which are not needed any more.
type pending struct {
	Temporary, Name string
	Parts           []string
}

// create creates a file with a random temporary name in the folder of name. So two workers that do
// the same work do not write to the same file.
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

// opened is a file that is open for reading, and its file system, which it closes.
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

// Close closes the file and its file system.
func (o opened) Close() error {
	defer o.fs.Close()
	return o.ReadCloser.Close()
}

// split splits a name after its last slash. Names with a scheme, such as s3://, are no paths of the
// local system.
func split(name string) (folder, base string) {
	n := strings.LastIndexByte(name, '/') + 1
	return name[:n], name[n:]
}

// temporaryPrefix returns how the temporary names of an output begin.
func temporaryPrefix(base string) string { return "." + base + "-hdrbeam-" }

// close flushes and closes the file. It returns the first error of writing, too.
func (f *file) close() error {
	err := f.Flush()
	if closeErr := f.out.Close(); err == nil {
		err = closeErr
	}
	f.fs.Close()
	return err
}

// commit closes the file and emits it as pending, for [Commit].
func (f *file) commit(emit func(string)) error {
	if err := f.close(); err != nil {
		return err
	}
	document, err := json.Marshal(f.pending)
	emit(string(document))
	return err
}

// abandon closes and removes the file.
func (f *file) abandon(ctx context.Context) {
	f.out.Close()
	if r, ok := f.fs.(filesystem.Remover); ok {
		r.Remove(ctx, f.pending.Temporary)
	}
	f.fs.Close()
}

// shardName returns the name of the log for a shard: the intervals of size milliseconds from start,
// in milliseconds since the epoch. If size is 0, there is one log only, called name.
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

// Commit renames all outputs once they are complete, and removes temporary files that failed runs
// left. So a run that fails leaves no output with its final name, unless it fails while it renames.
// On a file system that cannot rename, Commit copies.
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
			return nil // the runner repeats this bundle, and an earlier try renamed the output
		}
		return err
	}
	if r, ok := fs.(filesystem.Remover); ok {
		for _, part := range p.Parts {
			r.Remove(ctx, part) // an error is harmless: an earlier try may have removed it
		}
	}
	if err := rename(ctx, fs, p.Temporary, p.Name); err != nil {
		return err
	}
	return removeLeftovers(ctx, fs, p.Name)
}

// exists returns an error if a file cannot be opened. Asking for its size instead leaks a
// descriptor in Beam's local file system.
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

// removeLeftovers removes temporary files of an output that failed runs left.
func removeLeftovers(ctx context.Context, fs filesystem.Interface, name string) error {
	r, ok := fs.(filesystem.Remover)
	if !ok {
		return nil
	}
	folder, base := split(name)
	if strings.ContainsAny(folder+base, `*?[\`) {
		return nil // a pattern with these characters would match other files
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

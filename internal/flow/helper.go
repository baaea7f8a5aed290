package flow

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"

	"hdrkit/hdrlog"
	"hdrkit/internal/base/ledger"
	"hdrkit/internal/scan"
)

// Helpers are other processes that decode, each as a worker: a browser has no threads for Go. A
// message begins with its kind. The first one of a run says which flows it has, each of the next
// ones has the intervals of a batch, and the last one asks for what is left. A [Server] answers.
const (
	messageStart = 's' // a [runSpec] as JSON
	messageBatch = 'b'
	messageEnd   = 'e'
)

// An answer begins with whether it is one.
const answerGood, answerError = 'g', 'e'

// A HelperError is the error of [Run] if a helper fails, or lacks memory. The run can succeed
// without helpers.
type HelperError struct{ Err error }

func (e *HelperError) Error() string { return "helper: " + e.Err.Error() }

func (e *HelperError) Unwrap() error { return e.Err }

// A runSpec is what a helper must know of a run.
type runSpec struct {
	Inputs []string // names
	Memory int64    // bytes
	Flows  []flowSpec
}

// A flowSpec is one of its flows, of one of the kinds. Fields of flows that are functions stay
// where results are taken.
type flowSpec struct {
	Kind int
	Flow json.RawMessage
}

// kinds are all kinds of flows. Helpers are of the same build, so their order is the same there.
var kinds = []Flow{(*Rows)(nil), (*Intervals)(nil), (*Windows)(nil), (*Waiting)(nil), (*Wide)(nil), (*Doubling)(nil)}

// specOf returns what a helper must know of a flow.
func specOf(f Flow) (s flowSpec, err error) {
	sameKind := func(kind Flow) bool { return reflect.TypeOf(kind) == reflect.TypeOf(f) }
	if s.Kind = slices.IndexFunc(kinds, sameKind); s.Kind < 0 {
		return s, fmt.Errorf("helpers know no %T", f)
	}
	s.Flow, err = json.Marshal(f)
	return s, err
}

// flow returns the flow.
func (s *flowSpec) flow() (Flow, error) {
	if s.Kind < 0 || s.Kind >= len(kinds) {
		return nil, fmt.Errorf("there is no kind %d of flows", s.Kind)
	}
	f := reflect.New(reflect.TypeOf(kinds[s.Kind]).Elem()).Interface().(Flow)
	return f, json.Unmarshal(s.Flow, f)
}

// A guided state decides about the work of workers while it runs. Guide returns a number that says
// what, before a batch that begins with an interval. Follow does that in a helper.
type guided interface {
	guide(first scan.Visit) int64
	follow(n int64)
}

// A lasting part still has results at the end of a run. Rest carries them to another process.
type lasting interface{ rest(w *wire) }

// helperMemory is the memory of a helper in bytes.
const helperMemory = 64 << 20

// helping is what a run knows of a helper.
type helping struct {
	scan.Helper
	once sync.Once
	err  error // of the start
	used bool
}

// callsAtOnce is how many batches a helper has: it decodes one, and the next one waits.
const callsAtOnce = 2

// withHelpers lets helpers decode.
func (r *run) withHelpers(flows []Flow) {
	spec := runSpec{Memory: helperMemory}
	for n := range r.scan.Inputs {
		spec.Inputs = append(spec.Inputs, r.scan.Inputs[n].Name)
	}
	var err error
	for _, f := range flows {
		one, failed := specOf(f)
		spec.Flows = append(spec.Flows, one)
		err = cmp.Or(err, failed)
	}
	text, failed := json.Marshal(spec)
	err = cmp.Or(err, failed)
	r.start = append([]byte{messageStart}, text...)
	for _, h := range r.scan.Helpers {
		r.helpers = append(r.helpers, &helping{Helper: h, err: err})
	}
}

// call returns the answer of a helper.
func (h *helping) call(message []byte) (*wire, error) {
	answer, err := h.Call(message)
	switch {
	case err != nil:
	case len(answer) == 0:
		err = errCut
	case answer[0] == answerError:
		err = errors.New(string(answer[1:]))
	default:
		return &wire{data: answer[1:], reads: true}, nil
	}
	return nil, &HelperError{err}
}

// decodeBatch lets a helper decode a batch.
func (r *run) decodeBatch(worker int, jobs []scan.Job[outcome]) {
	if len(jobs) == 0 {
		return
	}
	h := r.helpers[worker%len(r.helpers)]
	h.once.Do(func() {
		if h.err == nil {
			_, h.err = h.call(r.start)
			h.used = h.err == nil
		}
	})
	err := h.err
	if err == nil {
		err = r.send(h, worker, jobs)
	}
	if err != nil {
		jobs[0].Err = scan.Fatal{Err: err}
	}
}

func (r *run) send(h *helping, worker int, jobs []scan.Job[outcome]) error {
	message := &r.workers[worker].message
	w := &wire{data: append((*message)[:0], messageBatch)}
	for _, k := range r.states {
		n := int64(0)
		if k, is := k.(guided); is {
			n = k.guide(jobs[0].Visit)
		}
		w.int64(&n)
	}
	w.count(len(jobs))
	for n := range jobs {
		w.visit(&jobs[n].Visit)
	}
	*message = w.data
	w, err := h.call(w.data)
	if err != nil {
		return err
	}
	w.names = r.scan.Inputs
	for n := range jobs {
		j := &jobs[n]
		w.job(j, len(r.states))
	}
	if w.err != nil {
		return &HelperError{w.err}
	}
	return nil
}

// visit carries an interval.
func (w *wire) visit(v *scan.Visit) {
	i := v.Interval
	w.input(&v.Input, &v.Name)
	w.int(&v.Line)
	w.bytes(&v.Row)
	w.bytes(&i.Tag)
	w.bytes(&i.Payload)
	w.float(&i.Start)
	w.float(&i.Length)
	w.float(&i.LogStart)
	w.float(&i.Base)
}

// job carries what came of an interval.
func (w *wire) job(j *scan.Job[outcome], states int) {
	var syntax *hdrlog.SyntaxError
	field, cause := []byte(nil), j.Err
	if errors.As(j.Err, &syntax) {
		field, cause = []byte(syntax.Field), syntax.Err
	}
	w.bytes(&field)
	w.error(&cause)
	if w.reads {
		j.Err = cause
		if field != nil {
			j.Err = &hdrlog.SyntaxError{Field: string(field), Err: cause}
		}
	}
	if j.Err != nil {
		return
	}
	o := j.Result
	if o.made == nil {
		o.made = make([]made, states)
	}
	for n := range o.made {
		w.made(&o.made[n])
	}
}

// rest fetches what helpers still have at the end.
func (r *run) rest() error {
	for n, h := range r.helpers {
		if !h.used {
			continue
		}
		w, err := h.call([]byte{messageEnd})
		if err != nil {
			return err
		}
		w.names = r.scan.Inputs
		r.workers[n].rest(w)
		if w.err != nil {
			return &HelperError{w.err}
		}
	}
	return nil
}

// rest carries what the parts of a worker still have at the end. Those of rows come last, since
// others feed them.
func (w *worker) rest(wire *wire) {
	for _, p := range w.parts {
		if p, is := p.(lasting); is {
			p.rest(wire)
		}
	}
	wire.fail(w.err)
}

// A Server is the other side of a [scan.Helper]: it decodes. The zero value is ready.
type Server struct {
	run       *run
	decoder   *scan.Decoder
	jobs      []scan.Job[outcome]
	outcomes  []outcome
	intervals []hdrlog.Interval
	data      []byte // of the answer before
}

// Answer returns the answer to a message. It is valid until the next message.
func (s *Server) Answer(message []byte) []byte {
	w := &wire{data: append(s.data[:0], answerGood)}
	if err := s.answer(message, w); err != nil {
		return append([]byte{answerError}, err.Error()...)
	}
	s.data = w.data
	return w.data
}

func (s *Server) answer(message []byte, w *wire) error {
	if len(message) == 0 || message[0] != messageStart && s.run == nil {
		return errCut
	}
	switch message[0] {
	case messageStart:
		return s.start(message[1:])
	case messageBatch:
		return s.batch(&wire{data: message[1:], reads: true, names: s.run.scan.Inputs}, w)
	case messageEnd:
		w.names = s.run.scan.Inputs
		s.run.workers[0].rest(w)
		s.run = nil
		return w.err
	}
	return fmt.Errorf("a message between workers begins with %q", message[0])
}

func (s *Server) start(text []byte) error {
	var spec runSpec
	if err := json.Unmarshal(text, &spec); err != nil {
		return err
	}
	one := &scan.Scan{Memory: ledger.New(spec.Memory), Workers: 1}
	for _, name := range spec.Inputs {
		one.Inputs = append(one.Inputs, scan.Input{Name: name, Once: true}) // the other side looks ahead
	}
	var flows []Flow
	for n := range spec.Flows {
		f, err := spec.Flows[n].flow()
		if err != nil {
			return err
		}
		flows = append(flows, f)
	}
	*s = Server{
		run:      newRun(one, flows),
		decoder:  scan.NewDecoder(0, scan.NewPayloads(one.Memory)),
		outcomes: s.outcomes[:0],
		data:     s.data,
	}
	return nil
}

// batch decodes the intervals of a batch as a worker.
func (s *Server) batch(r, w *wire) error {
	for _, k := range s.run.states {
		n := int64(0)
		r.int64(&n)
		if k, is := k.(guided); is {
			k.follow(n)
		}
	}
	count := r.count(0)
	s.jobs = s.jobs[:0]
	s.intervals = append(s.intervals[:0], make([]hdrlog.Interval, count)...)
	if missing := count - len(s.outcomes); missing > 0 {
		s.outcomes = append(s.outcomes, make([]outcome, missing)...)
	}
	for n := range count {
		v := s.decoder.Visit(&s.intervals[n], scan.Place{})
		r.visit(&v)
		v.First = n == 0
		s.jobs = append(s.jobs, scan.Job[outcome]{Visit: v, Result: &s.outcomes[n]})
	}
	if r.err != nil {
		return r.err
	}
	for n := range s.jobs {
		j := &s.jobs[n]
		j.Err = s.run.workers[0].decode(j.Visit, j.Result)
		if fatal := new(scan.Fatal); errors.As(j.Err, fatal) {
			return fatal.Err
		}
	}
	for n := range s.jobs {
		w.job(&s.jobs[n], len(s.run.states))
		for _, m := range s.outcomes[n].made {
			m.sent()
		}
	}
	return w.err
}

// sent gives back what was sent.
func (m *made) sent() {
	if m.window != nil {
		m.window.release()
	}
	if m.one != nil {
		m.one.Coarse.Reset()
	}
}

// Package push sends encoded rows to an HTTP receiver in batches. It repeats what the receiver
// could not take. While the receiver is away, the caller waits, or rows wait up to a bound.
//
// A receiver may repeat in its answer what it got. So no message has a byte of an answer if the
// request holds a secret: messages have the status code and the name of the receiver then.
package push

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"hdrkit/internal/base/ledger"
)

// Limits of a batch: it is sent when it has as many rows or bytes, or when the pusher is flushed.
const (
	batchRows  = 5000
	batchBytes = 4 << 20
)

// Pauses before a batch is sent again. They double from the first to the longest.
const (
	firstPause   = 500 * time.Millisecond
	longestPause = 30 * time.Second
)

// ErrGivenUp is the error for a row after [Pusher.GiveUp].
var ErrGivenUp = errors.New("nothing more is sent")

// timeout is the time that one request may take. Tests have more.
var timeout = 30 * time.Second

// Options say where to send rows, and how.
type Options struct {
	URL *url.URL
	// Header has the fields that every request has.
	Header http.Header
	// Encode, if set, makes a body of the rows of a batch, which follow one another without a gap.
	Encode func(rows []byte) []byte
	// Rejected, if set, reads the answer of a receiver that accepts a request: how many rows it has
	// left out all the same, and why.
	Rejected func(answer []byte) (rows int, why string)
	// Had, if set, reports whether the answer to a request that is refused says that the receiver
	// has newer rows, so it may have these. Rows of an earlier run are no loss then.
	Had func(answer []byte) bool
	// Patient says that rows are sent again after 401, 403, 404, 405 and redirects, as after 503: a
	// receiver that runs for long may lose a token, its database or its address for some time.
	Patient bool
	// Room, if set, is for the rows that wait for the receiver: if there is none, or others need
	// the memory, the oldest are dropped. Otherwise [Pusher.Write] waits.
	Room *Room
	// Notice, if set, receives what a person should know. It is called from another goroutine.
	Notice func(text string)

	pause time.Duration // set by tests
}

const (
	// rowBytes is about what a row takes beside its text.
	rowBytes = 48
	// leastShare is the part of the room that each receiver has, however much the others take.
	leastShare = 16
)

// A Room is for the rows that wait for several receivers. It is safe for concurrent use.
type Room struct {
	most    int
	used    atomic.Int64
	account *ledger.Account

	mu      sync.Mutex
	pushers []*Pusher
}

// NewRoom returns room for so many bytes, which an account is charged for as they are used. Rows
// give way to other accounts.
func NewRoom(bytes int, account *ledger.Account) *Room {
	r := &Room{most: bytes, account: account}
	account.GiveWay(r.give)
	return r
}

// take takes room for rows, or gives it back if bytes are negative. It returns how many bytes are
// too many.
func (r *Room) take(rows, bytes int) (over int) {
	if r == nil {
		return 0
	}
	bytes += rows * rowBytes
	over = int(r.used.Add(int64(bytes))) - r.most
	if r.account.Add(rows, bytes) != nil {
		over = max(over, bytes)
	}
	return over
}

// join adds a pusher, whose rows have room.
func (r *Room) join(p *Pusher) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.pushers = append(r.pushers, p)
}

// give drops rows of the receivers for which most wait, until so many bytes are free or only those
// wait that are on their way.
func (r *Room) give(bytes int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for bytes > 0 {
		var most *Pusher
		size := 0
		for _, p := range r.pushers {
			if s := p.size(); s > size {
				most, size = p, s
			}
		}
		if most == nil {
			return
		}
		bytes -= most.drop(bytes)
	}
}

// OTLP begins the scheme of the address of a receiver of OpenTelemetry, as in otlp+http.
const OTLP = "otlp+"

// ParseURL checks the address of a receiver. Credentials do not belong there: a command line is no
// secret.
func ParseURL(text string) (*url.URL, error) {
	u, err := url.Parse(text) // its error repeats the text, which may hold a secret
	switch {
	case err != nil || !slices.Contains([]string{"http", "https"}, strings.TrimPrefix(u.Scheme, OTLP)) || u.Host == "":
		return nil, errors.New("not a URL such as http://127.0.0.1:8086/write?db=loadtest")
	case u.User != nil:
		return nil, errors.New("a URL holds no credentials; HDRKIT_PUSH_AUTHORIZATION does")
	}
	if query := u.Query(); query.Has("u") || query.Has("p") { // InfluxDB 1 takes name and password so
		return nil, errors.New("a URL holds no credentials (u, p); HDRKIT_PUSH_AUTHORIZATION does, such as 'Token NAME:PASSWORD' or 'Basic BASE64'")
	}
	if port := u.Port(); port != "" {
		if number, err := strconv.ParseUint(port, 10, 16); err != nil || number == 0 {
			return nil, fmt.Errorf("there is no port %s; ports are from 1 to 65535", port)
		}
	}
	return u, nil
}

// noSecrets are the parameters of receivers whose values are no secrets.
var noSecrets = []string{"bucket", "consistency", "db", "org", "orgID", "precision", "rp"}

// Key returns an address without what may be a secret, which tells receivers apart.
func Key(u *url.URL) string {
	public := *u
	public.User, public.Fragment = nil, ""
	query := u.Query()
	for name := range query {
		if !slices.Contains(noSecrets, name) {
			query.Del(name)
		}
	}
	public.RawQuery = query.Encode()
	return public.String()
}

// secret reports whether a request may hold a secret: a token, or a parameter that nobody knows.
func (o *Options) secret() bool {
	if o.Header.Get("Authorization") != "" {
		return true
	}
	parameters, err := url.ParseQuery(o.URL.RawQuery)
	for name := range parameters {
		if !slices.Contains(noSecrets, name) {
			return true
		}
	}
	return err != nil
}

// A Pusher sends rows.
type Pusher struct {
	options  Options
	client   http.Client
	secret   bool            // requests may hold a secret
	context  context.Context // ends when the pusher drops unsent rows
	giveUp   context.CancelFunc
	ended    chan struct{} // the sender has returned
	refusals refusals      // of the goroutine that sends

	mu      sync.Mutex
	changed sync.Cond
	queue   queue
	closing bool
	state   State
	dropped int64 // rows since the receiver is away
}

// A queue has the rows that wait, the oldest first.
type queue struct {
	rows    [][]byte
	bytes   int      // of them
	again   int      // how many of them are of an earlier run, which may have sent them
	sending [][]byte // rows that are on their way
	ripe    bool     // the rows should be sent, although they are no full batch
}

// full reports whether a batch should be sent, although nobody flushes it.
func (q *queue) full() bool { return len(q.rows) >= batchRows || q.bytes >= batchBytes }

// size is about what the rows take that are not on their way.
func (q *queue) size() int { return q.bytes + len(q.rows)*rowBytes }

// add adds a row. Those of an earlier run come first.
func (q *queue) add(row []byte, again bool) {
	q.rows = append(q.rows, bytes.Clone(row))
	q.bytes += len(row)
	if again {
		q.again = len(q.rows)
	}
}

// remove removes the oldest rows, and returns them.
func (q *queue) remove(n int) (rows [][]byte, size int) {
	rows, q.rows = q.rows[:n:n], q.rows[n:]
	for _, row := range rows {
		size += len(row)
	}
	q.bytes -= size
	q.again = max(q.again-n, 0)
	return rows, size
}

// next begins to send a batch. Its rows are all of an earlier run, or none is.
func (q *queue) next() (size int, again bool) {
	again = q.again > 0
	most := min(len(q.rows), batchRows)
	if again {
		most = min(most, q.again)
	}
	n := 0
	for batch := 0; n < most && batch < batchBytes; n++ {
		batch += len(q.rows[n])
	}
	q.sending, size = q.remove(n)
	q.ripe = q.ripe && len(q.rows) > 0
	return size, again
}

// refusals count the rows that a receiver refuses.
type refusals struct {
	alone  int   // those refused one by one since a request was last accepted
	unsaid int64 // those of which no message tells yet
	said   time.Time
}

// A State says how a pusher does.
type State struct {
	// Sent, Refused and Waiting are the numbers of rows that the receiver has taken, that it has
	// refused, or that were in one request with such a row, and that are still to be sent.
	Sent, Refused, Waiting int64
	// Dropped is the number of rows for which there was no room.
	Dropped int64
	// LastSuccess is when the receiver last took rows.
	LastSuccess time.Time
	// Away is set while the receiver does not take rows.
	Away bool
}

// State returns how the pusher does. It is safe for concurrent use.
func (p *Pusher) State() State {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.state
	s.Waiting = int64(len(p.queue.sending) + len(p.queue.rows))
	return s
}

// A batch that is refused is divided down to one row. If mostAlone rows in a row are refused one by
// one, the receiver probably refuses all: the parts are then as large as 1/mostParts of the batch,
// until the receiver takes one.
const (
	mostAlone = 200
	mostParts = 128
)

// quiet is the time between two messages about rows that were refused.
const quiet = time.Minute

// New starts a pusher. Close it to send the last rows.
func New(o Options) *Pusher {
	if o.Notice == nil {
		o.Notice = func(string) {}
	}
	if o.pause == 0 {
		o.pause = firstPause
	}
	p := &Pusher{options: o, secret: o.secret(), ended: make(chan struct{})}
	p.changed.L = &p.mu
	p.client = http.Client{
		// Its own connections: others may close those of the default transport at any time.
		Transport: http.DefaultTransport.(*http.Transport).Clone(),
		Timeout:   timeout,
		// Most redirects drop the body, and the credentials are for one receiver only.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	p.context, p.giveUp = context.WithCancel(context.Background())
	o.Room.join(p)
	go p.run()
	return p
}

// Write adds one row, encoded. Without [Options.Room] it waits while the batch before is on its way
// and the next one is full. Its error is the one of a pusher that was given up.
func (p *Pusher) Write(row []byte) (int, error) { return p.add(row, false) }

// Again adds a row that an earlier run may have sent, before all others.
func (p *Pusher) Again(row []byte) (int, error) { return p.add(row, true) }

func (p *Pusher) add(row []byte, again bool) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.options.Room == nil && p.queue.full() && p.context.Err() == nil {
		p.changed.Wait()
	}
	if p.context.Err() != nil {
		return 0, ErrGivenUp
	}
	p.queue.add(row, again)
	if over := p.options.Room.take(1, len(row)); over > 0 {
		p.dropRows(min(over, p.queue.size()-p.options.Room.most/leastShare))
	}
	if p.queue.full() {
		p.changed.Broadcast()
	}
	return len(row), nil
}

// dropRows drops the oldest rows until so many bytes are free or none is left, and returns how many
// bytes are. The caller has the lock.
func (p *Pusher) dropRows(bytes int) (free int) {
	n := 0
	for ; n < len(p.queue.rows) && free < bytes; n++ {
		free += len(p.queue.rows[n]) + rowBytes
	}
	if n > 0 && p.dropped == 0 {
		p.options.Notice(fmt.Sprintf("%s wait for the receiver, and there is no room for more; the oldest are dropped", count(int64(len(p.queue.rows)), "row")))
	}
	rows, size := p.queue.remove(n)
	clear(rows) // the queue has them until it grows
	p.options.Room.take(-n, -size)
	p.dropped += int64(n)
	p.state.Dropped += int64(n)
	return free
}

// drop drops the oldest rows, as dropRows does.
func (p *Pusher) drop(bytes int) (free int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.dropRows(bytes)
}

// size is about what the rows take that are not on their way.
func (p *Pusher) size() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.queue.size()
}

// Flush sends the rows so far when the batch before has arrived. The error is nil.
func (p *Pusher) Flush() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.queue.ripe = len(p.queue.rows) > 0
	p.changed.Broadcast()
	return nil
}

// Close sends the rows that are left, and waits until the receiver has them or GiveUp is called.
// The rows that wait afterwards were not sent.
func (p *Pusher) Close() State {
	p.mu.Lock()
	p.closing = true
	p.changed.Broadcast()
	p.mu.Unlock()
	<-p.ended
	if p.refusals.unsaid > 0 {
		p.options.Notice(fmt.Sprintf("the receiver refused %s since then", count(p.refusals.unsaid, "row")))
	}
	p.giveUp()
	p.client.CloseIdleConnections()
	return p.State()
}

// GiveUp ends sending at once. A Write that waits returns.
func (p *Pusher) GiveUp() {
	p.giveUp()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.changed.Broadcast()
}

// run sends batches until the pusher is closed or given up.
func (p *Pusher) run() {
	defer close(p.ended)
	for {
		p.mu.Lock()
		for !p.queue.full() && !p.queue.ripe && !p.closing && p.context.Err() == nil {
			p.changed.Wait()
		}
		if len(p.queue.rows) == 0 && p.closing || p.context.Err() != nil {
			p.mu.Unlock()
			return
		}
		size, again := p.queue.next()
		rows := p.queue.sending
		p.changed.Broadcast()
		p.mu.Unlock()

		refused, why := p.deliver(rows, 1+len(rows)/mostParts, again)
		p.sayRefused(refused, why)
		p.mu.Lock()
		p.options.Room.take(-len(rows), -size)
		if p.context.Err() == nil {
			p.state.Refused += int64(refused)
			p.state.Sent += int64(len(rows) - refused)
			p.queue.sending = nil
			clear(rows) // the queue has them until it grows
		}
		p.mu.Unlock()
	}
}

// sayRefused says once a minute how many rows were refused, and why the last of them were.
func (p *Pusher) sayRefused(rows int, why error) {
	r := &p.refusals
	r.unsaid += int64(rows)
	if rows == 0 || time.Since(r.said) < quiet {
		return
	}
	p.options.Notice(fmt.Sprintf("the receiver refused %s: %v", count(r.unsaid, "row"), why))
	r.unsaid = 0
	r.said = time.Now()
}

// deliver sends rows until the receiver has taken or refused all of them, and returns how many it
// refused, and why. Rows that are refused are divided, so that one does not cost the others. The
// parts are sent in order, since a newer row makes others of its series too old. Part is the size
// of parts if all rows are refused. What a receiver has of rows again, which it may have, is no
// loss.
func (p *Pusher) deliver(rows [][]byte, part int, again bool) (refused int, why error) {
	refused, why = p.send(rows)
	var refusal refusal
	errors.As(why, &refusal)
	switch {
	case refused == 0:
		p.refusals.alone = 0
		return 0, nil
	case !refusal.rows:
		return refused, why
	case refusal.had && again && len(rows) == 1:
		return 0, nil
	case len(rows) == 1:
		p.refusals.alone++
		return 1, why
	case p.refusals.alone >= mostAlone && len(rows) <= part && !refusal.had:
		return refused, why
	}
	refused, why = p.deliver(rows[:len(rows)/2], part, again)
	if more, err := p.deliver(rows[len(rows)/2:], part, again); more > 0 {
		return refused + more, err
	}
	return refused, why
}

// send sends rows until the receiver takes or refuses them, as a whole or in part.
func (p *Pusher) send(rows [][]byte) (refused int, why error) {
	body := bytes.Join(rows, nil)
	if p.options.Encode != nil {
		body = p.options.Encode(body)
	}
	pause, away := p.options.pause, false
	for {
		result, err := p.post(body)
		wait := result.retryAfter
		var whole refusal
		switch {
		case result.final && errors.As(err, &whole):
			p.answered(false)
			return len(rows), err
		case result.final:
			p.answered(true)
			return min(max(result.rejected, 0), len(rows)), err
		case p.State().LastSuccess.IsZero() && isCertificate(err): // a new one may come while rows are sent
			p.options.Notice(fmt.Sprintf("the receiver is not to be trusted: %v", err))
			p.GiveUp()
		case p.context.Err() == nil && !away:
			p.options.Notice(fmt.Sprintf("the receiver did not take %s: %v; trying again", count(int64(len(rows)), "row"), err))
			away = true
			p.mu.Lock()
			p.state.Away = true
			p.mu.Unlock()
		}
		if wait == 0 {
			// Several senders should not come back at the same moment.
			wait = pause + rand.N(pause/4+1)
			pause = min(2*pause, longestPause)
		}
		select {
		case <-time.After(wait):
		case <-p.context.Done():
			return 0, nil
		}
	}
}

// answered notes that the receiver answers, and whether it has taken rows. If it was away, a
// message says that it is back, and what was dropped meanwhile.
func (p *Pusher) answered(taken bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if taken {
		p.state.LastSuccess = time.Now()
	}
	if !p.state.Away {
		return
	}
	p.state.Away = false
	text := "the receiver is back"
	if p.dropped > 0 {
		text += fmt.Sprintf("; %s had no room and are lost", count(p.dropped, "row"))
	}
	p.dropped = 0
	p.options.Notice(text)
}

// A refusal is an answer after which the same request makes no sense.
type refusal struct {
	error
	rows bool // some rows are the cause
	had  bool // the receiver has newer ones
}

// An outcome is what became of a request.
type outcome struct {
	final      bool          // the receiver has answered, and the request is over
	rejected   int           // rows that it left out although it accepted the request
	retryAfter time.Duration // the time that it asks to wait, 0 if it does not say
}

// post sends one request. The error of a final outcome says why rows were refused.
func (p *Pusher) post(body []byte) (outcome, error) {
	request, err := http.NewRequestWithContext(p.context, http.MethodPost, p.options.URL.String(), bytes.NewReader(body))
	if err != nil {
		return outcome{final: true}, refusal{error: err}
	}
	request.Header = p.options.Header
	answer, err := p.client.Do(request)
	if err != nil {
		return outcome{}, p.printableError(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode == http.StatusSwitchingProtocols { // the body is the connection, which has no timeout
		return outcome{}, fmt.Errorf("%s answers with another protocol: %d", p.options.URL.Host, answer.StatusCode)
	}
	text, _ := io.ReadAll(io.LimitReader(answer.Body, 64<<10)) // of a longer one the number of rows cannot be read
	io.Copy(io.Discard, io.LimitReader(answer.Body, 1<<20))    // so that the connection is used again
	// The text in the answer's first line comes from the receiver, too.
	status := answer.StatusCode
	err = errors.New(strings.TrimSpace(fmt.Sprintf("%d %s", status, http.StatusText(status))))
	rejected := 0
	if status/100 == 2 {
		if p.options.Rejected == nil {
			return outcome{final: true}, nil
		}
		var why string
		rejected, why = p.options.Rejected(text)
		text = []byte(why)
	}
	had := p.options.Had != nil && p.options.Had(text)
	message := printable(text[:min(len(text), 1000)])
	if p.secret {
		err = fmt.Errorf("%w from %s", err, p.options.URL.Host)
	} else if message != "" {
		err = fmt.Errorf("%w: %s", err, message)
	}
	switch {
	case status/100 == 2:
		return outcome{final: true, rejected: rejected}, err
	case p.passes(status):
		return outcome{retryAfter: retryAfter(answer.Header.Get("Retry-After"))}, err
	}
	divides := status == http.StatusBadRequest || status == http.StatusRequestEntityTooLarge
	return outcome{final: true}, refusal{err, divides, had}
}

// passes reports whether the receiver may take the same rows later.
func (p *Pusher) passes(status int) bool {
	switch status {
	case http.StatusTooManyRequests, http.StatusRequestTimeout:
		return true
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusMethodNotAllowed:
		return p.options.Patient
	}
	return status/100 == 5 || status/100 == 3 && p.options.Patient
}

// printable returns the receiver's message on one line, without control characters.
func printable(text []byte) string {
	message := strings.Join(strings.Fields(string(text)), " ")
	return strings.TrimFunc(strconv.QuoteToGraphic(message), func(r rune) bool { return r == '"' })
}

// printableError returns an error of a request that may be printed. The URL itself may hold a
// secret, and so may an error that quotes what the receiver has sent.
func (p *Pusher) printableError(err error) error {
	var inURL *url.Error
	if errors.As(err, &inURL) {
		err = inURL.Err
	}
	var network *net.OpError
	var timeout net.Error
	switch {
	case !p.secret, isCertificate(err), errors.As(err, &network), errors.As(err, &timeout) && timeout.Timeout():
		return err
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("%s closed the connection", p.options.URL.Host)
	}
	return fmt.Errorf("%s did not answer as HTTP says", p.options.URL.Host)
}

// isCertificate reports whether the receiver did not prove its name.
func isCertificate(err error) bool {
	var certificate *tls.CertificateVerificationError
	return errors.As(err, &certificate)
}

// retryAfter reads the header field of that name: seconds, or a date. It waits at most a few
// minutes.
func retryAfter(text string) time.Duration {
	var wait time.Duration
	if seconds, err := strconv.Atoi(text); err == nil {
		wait = time.Duration(min(max(seconds, 0), 3600)) * time.Second
	} else if at, err := http.ParseTime(text); err == nil {
		wait = time.Until(at)
	}
	return min(max(wait, 0), 5*time.Minute)
}

func count(n int64, things string) string {
	if n != 1 {
		things += "s"
	}
	return fmt.Sprintf("%d %s", n, things)
}

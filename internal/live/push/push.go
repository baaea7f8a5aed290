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
	"time"
)

// Limits of a batch: it is sent when it has as many rows or bytes, or when its first row is as old.
const (
	batchRows  = 5000
	batchBytes = 4 << 20
	batchAge   = time.Second
)

// Pauses before a batch is sent again. They double from the first to the longest.
const (
	firstPause   = 500 * time.Millisecond
	longestPause = 30 * time.Second
)

// ErrGivenUp is the error for a row after [Pusher.GiveUp].
var ErrGivenUp = errors.New("nothing more is sent")

// timeout is the time that one request may take.
const timeout = 30 * time.Second

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
	// Patient says that 401, 403 and 404 are sent again, as 503 is: a receiver that runs for long
	// may lose a token, or its database, for some time.
	Patient bool
	// Most is the number of bytes of rows that may wait for the receiver: beyond it the oldest are
	// dropped. 0 makes [Pusher.Write] wait instead.
	Most int
	// Notice, if set, receives what a person should know. It is called from another goroutine.
	Notice func(text string)

	age, pause time.Duration // set by tests
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
	if port := u.Port(); port != "" {
		if number, err := strconv.ParseUint(port, 10, 16); err != nil || number == 0 {
			return nil, fmt.Errorf("there is no port %s; ports are from 1 to 65535", port)
		}
	}
	return u, nil
}

// noSecrets are the parameters of receivers whose values are no secrets.
var noSecrets = []string{"bucket", "consistency", "db", "org", "orgID", "precision", "rp"}

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
	options Options
	client  http.Client
	secret  bool            // requests may hold a secret
	context context.Context // ends when the pusher drops unsent rows
	giveUp  context.CancelFunc
	taken   bool          // the receiver has taken a batch. Only run uses it.
	ended   chan struct{} // the sender has returned
	// rejected is the number of rows of the batch that the receiver left out, and reason why. Only
	// run uses them.
	rejected int
	reason   error

	mu               sync.Mutex
	changed          sync.Cond
	queue            [][]byte    // rows that wait
	bytes            int         // of them
	sending          [][]byte    // rows that are on their way
	ripe             bool        // the first row of the queue is old enough
	timer            *time.Timer // sets ripe
	closing          bool
	result           Result
	written, settled int64 // numbers of rows
	success          time.Time
	away             bool
	dropped          int // rows since the receiver is away
}

// A State says how a pusher does.
type State struct {
	// Sent, Refused and Waiting are the numbers of rows that the receiver has taken, that it has
	// refused, and that are still to be sent.
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
	refused, dropped := int64(p.result.Refused), int64(p.result.Dropped)
	return State{Sent: p.settled - refused, Refused: refused, Dropped: dropped, Waiting: p.written - p.settled - dropped, LastSuccess: p.success, Away: p.away}
}

// answered notes whether the receiver has taken rows, or can take some at all.
func (p *Pusher) answered(taken, away bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.away = away; taken {
		p.success = time.Now()
	}
}

// A batch is rows to send together.
type batch struct {
	text []byte
	ends []int // of the rows in text
}

// full reports whether a batch should be sent, whatever its age.
func (p *Pusher) full() bool { return len(p.queue) >= batchRows || p.bytes >= batchBytes }

// part returns the rows from a first one to before a last one.
func (b *batch) part(first, last int) []byte {
	start := 0
	if first > 0 {
		start = b.ends[first-1]
	}
	return b.text[start:b.ends[last-1]]
}

// mostParts is about the number of parts into which a refused batch is divided.
const mostParts = 128

// A Result counts the rows that did not arrive.
type Result struct {
	// Refused is the number of rows that the receiver did not accept, or that were in one request
	// with such a row.
	Refused int
	// Dropped is the number of rows for which there was no room.
	Dropped int
	// Unsent is the number of rows that were left when sending was given up.
	Unsent int
}

// New starts a pusher. Close it to send the last rows.
func New(o Options) *Pusher {
	if o.Notice == nil {
		o.Notice = func(string) {}
	}
	if o.age == 0 {
		o.age, o.pause = batchAge, firstPause
	}
	p := &Pusher{options: o, secret: o.secret(), ended: make(chan struct{})}
	p.changed.L = &p.mu
	p.client = http.Client{
		Timeout: timeout,
		// Most redirects drop the body, and the credentials are for one receiver only.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	p.context, p.giveUp = context.WithCancel(context.Background())
	go p.run()
	return p
}

// Write adds one row, encoded. Without [Options.Most] it waits while the batch before is on its way
// and the next one is full. Its error is the one of a pusher that was given up.
func (p *Pusher) Write(row []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.options.Most == 0 && p.full() && p.context.Err() == nil {
		p.changed.Wait()
	}
	if p.context.Err() != nil {
		p.result.Unsent++
		return 0, ErrGivenUp
	}
	if len(p.queue) == 0 {
		p.timer = time.AfterFunc(p.options.age, p.Flush)
	}
	p.queue = append(p.queue, bytes.Clone(row))
	p.bytes += len(row)
	p.written++
	for p.options.Most > 0 && p.bytes > p.options.Most {
		if p.dropped++; p.dropped == 1 {
			p.options.Notice(fmt.Sprintf("more than %d MiB of rows wait for the receiver; the oldest are dropped", p.options.Most>>20))
		}
		p.result.Dropped++
		p.bytes -= len(p.queue[0])
		p.queue = p.queue[1:]
	}
	if p.full() {
		p.changed.Broadcast()
	}
	return len(row), nil
}

// Flush sends the rows so far when the batch before has arrived, however new they are.
func (p *Pusher) Flush() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ripe = len(p.queue) > 0
	p.changed.Broadcast()
}

// Pending returns the rows that the receiver has not taken yet, also after Close.
func (p *Pusher) Pending() [][]byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Concat(p.sending, p.queue)
}

// Restore adds rows that were pending in an earlier run.
func (p *Pusher) Restore(rows [][]byte) error {
	for _, row := range rows {
		if _, err := p.Write(row); err != nil {
			return err
		}
	}
	return nil
}

// Close sends the rows that are left, and waits until the receiver has them or GiveUp is called.
func (p *Pusher) Close() Result {
	p.mu.Lock()
	p.closing = true
	p.changed.Broadcast()
	p.mu.Unlock()
	<-p.ended
	p.giveUp()
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.result
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
	var b batch
	for {
		p.mu.Lock()
		for !(len(p.queue) > 0 && (p.full() || p.ripe)) && !p.closing && p.context.Err() == nil {
			p.changed.Wait()
		}
		if p.context.Err() != nil {
			p.result.Unsent += len(p.sending) + len(p.queue)
		}
		if len(p.queue) == 0 && p.closing || p.context.Err() != nil {
			p.mu.Unlock()
			return
		}
		b.text, b.ends = b.text[:0], b.ends[:0]
		for n := 0; n < len(p.queue) && n < batchRows && len(b.text) < batchBytes; n++ {
			b.text = append(b.text, p.queue[n]...)
			b.ends = append(b.ends, len(b.text))
		}
		p.sending, p.queue = p.queue[:len(b.ends)], p.queue[len(b.ends):]
		p.bytes -= len(b.text)
		if p.ripe = p.ripe && len(p.queue) > 0; !p.ripe {
			p.timer.Stop()
		}
		p.changed.Broadcast()
		p.mu.Unlock()
		p.deliver(&b)
	}
}

// deliver sends a batch until the receiver has taken or refused all of it. A batch that is refused
// is divided, so that a row that is too old does not cost the others. The parts are sent in order,
// since a newer row makes others of its series too old.
func (p *Pusher) deliver(b *batch) {
	refused := 0
	var why error
	var send func(first, last int)
	send = func(first, last int) {
		err := p.send(b.part(first, last), last-first)
		var refusal refusal
		switch {
		case err == nil:
		case errors.As(err, &refusal) && refusal.rows && last-first > 1+len(b.ends)/mostParts:
			send(first, (first+last)/2)
			send((first+last)/2, last)
		default:
			refused, why = refused+last-first, err
		}
	}
	send(0, len(b.ends))
	if p.rejected > 0 {
		refused, why = min(refused+p.rejected, len(b.ends)), p.reason
		p.rejected = 0
	}
	if refused > 0 {
		p.options.Notice(fmt.Sprintf("the receiver refused %s: %v", count(refused, "row"), why))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.result.Refused += refused
	if p.context.Err() == nil {
		p.settled += int64(len(b.ends))
		p.sending = nil
	}
}

// send sends rows until the receiver takes them. The error is a refusal.
func (p *Pusher) send(text []byte, rows int) error {
	body := text
	if p.options.Encode != nil {
		body = p.options.Encode(text)
	}
	pause, away := p.options.pause, false
	for {
		wait, err := p.post(body)
		var refused refusal
		switch {
		case err == nil:
			p.taken = true
			p.answered(true, false)
			if away {
				p.back()
			}
			return nil
		case errors.As(err, &refused):
			p.answered(false, false)
			return err
		case !p.taken && isCertificate(err): // a new one may come while rows are sent
			p.options.Notice(fmt.Sprintf("the receiver is not to be trusted: %v", err))
			p.GiveUp()
		case p.context.Err() == nil && !away:
			p.options.Notice(fmt.Sprintf("the receiver did not take %s: %v; trying again", count(rows, "row"), err))
			away = true
			p.answered(false, true)
		}
		if wait == 0 {
			// Several senders should not come back at the same moment.
			wait = pause + rand.N(pause/4+1)
			pause = min(2*pause, longestPause)
		}
		select {
		case <-time.After(wait):
		case <-p.context.Done():
			return nil
		}
	}
}

// back says that the receiver is back, and what was dropped meanwhile.
func (p *Pusher) back() {
	p.mu.Lock()
	dropped := p.dropped
	p.dropped = 0
	p.mu.Unlock()
	text := "the receiver is back"
	if dropped > 0 {
		text += fmt.Sprintf("; %s had no room and are lost", count(dropped, "row"))
	}
	p.options.Notice(text)
}

// A refusal is an answer after which the same request makes no sense.
type refusal struct {
	error
	rows bool // some rows are the cause
}

// post sends one request. Wait is the time that the receiver asks to wait, 0 if it does not say.
func (p *Pusher) post(body []byte) (wait time.Duration, err error) {
	request, err := http.NewRequestWithContext(p.context, http.MethodPost, p.options.URL.String(), bytes.NewReader(body))
	if err != nil {
		return 0, refusal{error: err}
	}
	request.Header = p.options.Header
	answer, err := p.client.Do(request)
	if err != nil {
		return 0, p.printableError(err)
	}
	defer answer.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(answer.Body, 1000))
	io.Copy(io.Discard, io.LimitReader(answer.Body, 1<<20)) // so that the connection is used again
	if answer.StatusCode/100 == 2 {
		p.leaveOut(text)
		return 0, nil
	}
	// The text in the answer's first line comes from the receiver, too.
	err = errors.New(strings.TrimSpace(fmt.Sprintf("%d %s", answer.StatusCode, http.StatusText(answer.StatusCode))))
	if p.secret {
		err = fmt.Errorf("%w from %s", err, p.options.URL.Host)
	} else if message := printable(text); message != "" {
		err = fmt.Errorf("%w: %s", err, message)
	}
	switch status := answer.StatusCode; {
	case status/100 == 5, status == http.StatusTooManyRequests,
		p.options.Patient && (status == http.StatusUnauthorized || status == http.StatusForbidden || status == http.StatusNotFound):
		return retryAfter(answer.Header.Get("Retry-After")), err
	}
	return 0, refusal{err, answer.StatusCode == http.StatusBadRequest}
}

// leaveOut notes the rows that a receiver leaves out although it accepts a request.
func (p *Pusher) leaveOut(answer []byte) {
	if p.options.Rejected == nil {
		return
	}
	rows, why := p.options.Rejected(answer)
	if rows <= 0 {
		return
	}
	p.rejected += rows
	p.reason = fmt.Errorf("%s accepted the others", p.options.URL.Host)
	if text := printable([]byte(why)); text != "" && !p.secret {
		p.reason = errors.New(text)
	}
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

func count(n int, things string) string {
	if n != 1 {
		things += "s"
	}
	return fmt.Sprintf("%d %s", n, things)
}

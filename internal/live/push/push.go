// Package push sends encoded rows to an HTTP receiver in batches. It sends a batch again if the
// receiver could not take it. While the receiver is away, rows wait in memory up to a limit, or the
// caller waits.
//
// A receiver may repeat parts of the request in its answer. If the request has a secret, messages
// do not quote answers. They have only the status code and the name of the receiver then.
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

// A batch is sent when it has batchRows rows or batchBytes bytes, or when the pusher is flushed.
const (
	batchRows  = 5000
	batchBytes = 4 << 20
)

// Pauses before a batch is sent again. Each pause is twice the one before, up to the longest.
const (
	firstPause   = 500 * time.Millisecond
	longestPause = 30 * time.Second
)

// ErrGivenUp is the error of [Pusher.Write] after [Pusher.GiveUp].
var ErrGivenUp = errors.New("nothing more is sent")

// timeout is the time for one request. Tests make it longer.
var timeout = 30 * time.Second

// Options say where and how to send rows.
type Options struct {
	URL *url.URL
	// Header has fields that every request gets.
	Header http.Header
	// Encode, if set, makes the body of a request from the concatenated rows of a batch.
	Encode func(rows []byte) []byte
	// Rejected, if set, decodes the answer of a receiver that accepted a request: how many rows it
	// has left out all the same, and why.
	Rejected func(answer []byte) (rows int, why string)
	// Had, if set, reports whether an answer that refuses a request says that the receiver has
	// newer rows. Then it may already have rows that an earlier run has sent, and their refusal is
	// no loss.
	Had func(answer []byte) bool
	// Patient says to send rows again after the statuses 401, 403, 404, 405 and redirects, as after
	// 503. A receiver that runs for long may lose a token, its database or its address for some
	// time.
	Patient bool
	// Room, if set, limits the rows that wait for the receiver. Beyond the limit, or if others need
	// the memory, the oldest rows are dropped. Without a room, [Pusher.Write] waits.
	Room *Room
	// Notice, if set, receives messages for a person. Another goroutine calls it.
	Notice func(text string)

	pause time.Duration // set by tests
}

const (
	// rowBytes is the memory of a row without its text.
	rowBytes = 48
	// A receiver may always use 1/minShare of the room, however much the others use.
	minShare = 16
)

// A Room limits the memory of the rows that wait for several receivers. It is safe for concurrent
// use.
type Room struct {
	most    int
	used    atomic.Int64
	account *ledger.Account

	mu      sync.Mutex
	pushers []*Pusher
}

// NewRoom returns room for a number of bytes. The account is charged for the bytes in use. When
// other accounts need memory, the oldest rows are dropped.
func NewRoom(bytes int, account *ledger.Account) *Room {
	r := &Room{most: bytes, account: account}
	account.GiveWay(r.release)
	return r
}

// reserve reserves memory for rows, or releases it if the numbers are negative. It returns by how
// many bytes the limit is exceeded.
func (r *Room) reserve(rows, bytes int) (over int) {
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

// join adds a pusher whose rows use the room.
func (r *Room) join(p *Pusher) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.pushers = append(r.pushers, p)
}

// release drops rows of the receivers with the most waiting rows, until a number of bytes are free.
// Rows in a request that is under way stay.
func (r *Room) release(bytes int) {
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

// OTLP is the beginning of the scheme of a receiver of OpenTelemetry, as in otlp+http.
const OTLP = "otlp+"

// ParseURL parses and checks the address of a receiver. It refuses addresses with credentials,
// because other users can read a command line.
func ParseURL(text string) (*url.URL, error) {
	u, err := url.Parse(text) // the error is not returned: it quotes the text, which may have a secret
	switch {
	case err != nil || !slices.Contains([]string{"http", "https"}, strings.TrimPrefix(u.Scheme, OTLP)) || u.Host == "":
		return nil, errors.New("not a URL such as http://127.0.0.1:8086/write?db=loadtest")
	case u.User != nil:
		return nil, errors.New("a URL holds no credentials; HDRKIT_PUSH_AUTHORIZATION does")
	}
	if query := u.Query(); query.Has("u") || query.Has("p") { // name and password for InfluxDB 1
		return nil, errors.New("a URL holds no credentials (u, p); HDRKIT_PUSH_AUTHORIZATION does, such as 'Token NAME:PASSWORD' or 'Basic BASE64'")
	}
	if port := u.Port(); port != "" {
		if number, err := strconv.ParseUint(port, 10, 16); err != nil || number == 0 {
			return nil, fmt.Errorf("there is no port %s; ports are from 1 to 65535", port)
		}
	}
	return u, nil
}

// noSecrets are the query parameters of receivers that are not secret.
var noSecrets = []string{"bucket", "consistency", "db", "org", "orgID", "precision", "rp"}

// Key returns an address without parts that may be secret. It identifies the receiver in messages
// and in a state.
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

// hasSecret reports whether requests may have a secret: an Authorization field, or an unknown query
// parameter.
func (o *Options) hasSecret() bool {
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

// A Pusher sends rows to one receiver.
type Pusher struct {
	options   Options
	client    http.Client
	hasSecret bool            // requests may have a secret
	context   context.Context // is cancelled when the pusher gives up
	giveUp    context.CancelFunc
	ended     chan struct{} // closed when the sending goroutine has returned
	refusals  refusals      // only for the sending goroutine

	mu          sync.Mutex
	changed     sync.Cond
	queue       queue
	closing     bool
	state       State
	droppedAway int64 // rows dropped since the receiver has been away
}

// A queue has the rows that wait, the oldest first.
type queue struct {
	rows       [][]byte
	bytes      int      // of rows
	againCount int      // number of first rows that an earlier run may have sent
	sending    [][]byte // rows of the request that is under way
	isFlushed  bool     // send the rows although the batch is not full
}

// isFull reports whether a batch should be sent without a flush.
func (q *queue) isFull() bool { return len(q.rows) >= batchRows || q.bytes >= batchBytes }

// size returns about how many bytes the rows take that are not under way.
func (q *queue) size() int { return q.bytes + len(q.rows)*rowBytes }

// add adds a row. An earlier run may have sent the row if again is set. Such rows come before all
// others.
func (q *queue) add(row []byte, again bool) {
	q.rows = append(q.rows, bytes.Clone(row))
	q.bytes += len(row)
	if again {
		q.againCount = len(q.rows)
	}
}

// remove removes the oldest n rows, and returns them with the size of their text.
func (q *queue) remove(n int) (rows [][]byte, size int) {
	rows, q.rows = q.rows[:n:n], q.rows[n:]
	for _, row := range rows {
		size += len(row)
	}
	q.bytes -= size
	q.againCount = max(q.againCount-n, 0)
	return rows, size
}

// next moves the rows of the next batch to sending. An earlier run may have sent all of these rows,
// or none.
func (q *queue) next() (size int, again bool) {
	again = q.againCount > 0
	most := min(len(q.rows), batchRows)
	if again {
		most = min(most, q.againCount)
	}
	n := 0
	for batch := 0; n < most && batch < batchBytes; n++ {
		batch += len(q.rows[n])
	}
	q.sending, size = q.remove(n)
	q.isFlushed = q.isFlushed && len(q.rows) > 0
	return size, again
}

// refusals count the rows that a receiver refuses.
type refusals struct {
	alone       int       // rows refused one by one since a request was last accepted
	unreported  int64     // refused rows that no message has counted yet
	lastMessage time.Time // when the last message came
}

// A State says how many rows a pusher has sent, and whether the receiver takes rows.
type State struct {
	// Sent is the number of rows that the receiver has taken. Refused is the number of rows that it
	// has refused, or that were in a request with such a row. Waiting is the number of rows that
	// are still to be sent.
	Sent, Refused, Waiting int64
	// Dropped is the number of rows that were dropped because there was no room.
	Dropped int64
	// LastSuccess is when the receiver last took rows.
	LastSuccess time.Time
	// Away says that the receiver does not take rows at present.
	Away bool
}

// State returns the state of the pusher. It is safe for concurrent use.
func (p *Pusher) State() State {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.state
	s.Waiting = int64(len(p.queue.sending) + len(p.queue.rows))
	return s
}

// A refused batch is divided, down to single rows, to find the rows that the receiver refuses.
// After maxAlone refused single rows in succession, the receiver probably refuses everything. Then
// a batch is divided into at most maxParts parts, until the receiver takes a part.
const (
	maxAlone = 200
	maxParts = 128
)

// messagePause is the shortest time between two messages about refused rows.
const messagePause = time.Minute

// New starts a pusher. Close it to send the last rows.
func New(o Options) *Pusher {
	if o.Notice == nil {
		o.Notice = func(string) {}
	}
	if o.pause == 0 {
		o.pause = firstPause
	}
	p := &Pusher{options: o, hasSecret: o.hasSecret(), ended: make(chan struct{})}
	p.changed.L = &p.mu
	p.client = http.Client{
		// The pusher has its own connections, because others may close those of the default
		// transport.
		Transport: http.DefaultTransport.(*http.Transport).Clone(),
		Timeout:   timeout,
		// Redirects are not followed: most drop the body, and credentials are for one receiver
		// only.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	p.context, p.giveUp = context.WithCancel(context.Background())
	o.Room.join(p)
	go p.run()
	return p
}

// Write adds an encoded row. Without [Options.Room], it waits while one batch is under way and the
// next one is full. The only error is [ErrGivenUp].
func (p *Pusher) Write(row []byte) (int, error) { return p.add(row, false) }

// Again adds a row that an earlier run may have sent. Call Again before all calls of Write.
func (p *Pusher) Again(row []byte) (int, error) { return p.add(row, true) }

func (p *Pusher) add(row []byte, again bool) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.options.Room == nil && p.queue.isFull() && p.context.Err() == nil {
		p.changed.Wait()
	}
	if p.context.Err() != nil {
		return 0, ErrGivenUp
	}
	p.queue.add(row, again)
	if over := p.options.Room.reserve(1, len(row)); over > 0 {
		p.dropRows(min(over, p.queue.size()-p.options.Room.most/minShare))
	}
	if p.queue.isFull() {
		p.changed.Broadcast()
	}
	return len(row), nil
}

// dropRows drops the oldest rows until a number of bytes are free, or no row is left. It returns
// how many bytes are free. The lock is held.
func (p *Pusher) dropRows(bytes int) (free int) {
	n := 0
	for ; n < len(p.queue.rows) && free < bytes; n++ {
		free += len(p.queue.rows[n]) + rowBytes
	}
	if n > 0 && p.droppedAway == 0 {
		p.options.Notice(fmt.Sprintf("%s wait for the receiver, and there is no room for more; the oldest are dropped", count(int64(len(p.queue.rows)), "row")))
	}
	rows, size := p.queue.remove(n)
	clear(rows) // frees the text: the array stays in use by the queue
	p.options.Room.reserve(-n, -size)
	p.droppedAway += int64(n)
	p.state.Dropped += int64(n)
	return free
}

// drop locks the pusher and calls dropRows.
func (p *Pusher) drop(bytes int) (free int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.dropRows(bytes)
}

// size returns about how many bytes the rows take that are not under way.
func (p *Pusher) size() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.queue.size()
}

// Flush sends the rows so far, as soon as the request under way has ended. The error is always nil.
func (p *Pusher) Flush() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.queue.isFlushed = len(p.queue.rows) > 0
	p.changed.Broadcast()
	return nil
}

// Close sends the remaining rows, and waits until the receiver has them or GiveUp is called. In the
// result, Waiting is the number of rows that were not sent.
func (p *Pusher) Close() State {
	p.mu.Lock()
	p.closing = true
	p.changed.Broadcast()
	p.mu.Unlock()
	<-p.ended
	if p.refusals.unreported > 0 {
		p.options.Notice(fmt.Sprintf("the receiver refused %s since then", count(p.refusals.unreported, "row")))
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

// run sends batches until the pusher is closed or gives up.
func (p *Pusher) run() {
	defer close(p.ended)
	for {
		p.mu.Lock()
		for !p.queue.isFull() && !p.queue.isFlushed && !p.closing && p.context.Err() == nil {
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

		refused, why := p.deliver(rows, 1+len(rows)/maxParts, again)
		p.reportRefused(refused, why)
		p.mu.Lock()
		p.options.Room.reserve(-len(rows), -size)
		if p.context.Err() == nil {
			p.state.Refused += int64(refused)
			p.state.Sent += int64(len(rows) - refused)
			p.queue.sending = nil
			clear(rows) // frees the text: the array stays in use by the queue
		}
		p.mu.Unlock()
	}
}

// reportRefused prints at most one message a minute: how many rows were refused since the last
// message, and why the last of them were.
func (p *Pusher) reportRefused(rows int, why error) {
	r := &p.refusals
	r.unreported += int64(rows)
	if rows == 0 || time.Since(r.lastMessage) < messagePause {
		return
	}
	p.options.Notice(fmt.Sprintf("the receiver refused %s: %v", count(r.unreported, "row"), why))
	r.unreported = 0
	r.lastMessage = time.Now()
}

// deliver sends rows until the receiver has taken or refused all of them. It returns how many rows
// were refused, and why. It divides refused rows, so that one bad row does not cost the others. It
// sends the parts in order, since a newer row makes the receiver refuse older rows of the same
// series. Parts of partRows rows are not divided further if the receiver seems to refuse
// everything. If again is set, the receiver may already have the rows; then a refusal because of
// newer rows does not count.
func (p *Pusher) deliver(rows [][]byte, partRows int, again bool) (refused int, why error) {
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
	case p.refusals.alone >= maxAlone && len(rows) <= partRows && !refusal.had:
		return refused, why
	}
	refused, why = p.deliver(rows[:len(rows)/2], partRows, again)
	if more, err := p.deliver(rows[len(rows)/2:], partRows, again); more > 0 {
		return refused + more, err
	}
	return refused, why
}

// send sends rows in one request, again and again until the receiver takes or refuses them.
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
		case p.State().LastSuccess.IsZero() && isCertificate(err): // later, an expired certificate may be replaced
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
			// A random part keeps several senders from trying again at the same moment.
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

// answered records that the receiver has answered, and whether it has taken rows. If it was away, a
// message says that it is back, and how many rows were dropped meanwhile.
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
	if p.droppedAway > 0 {
		text += fmt.Sprintf("; %s had no room and are lost", count(p.droppedAway, "row"))
	}
	p.droppedAway = 0
	p.options.Notice(text)
}

// A refusal is an answer after which the same request need not be sent again.
type refusal struct {
	error
	rows bool // some rows are the cause, so that parts of the request may be accepted
	had  bool // the receiver has newer rows
}

// An outcome is the result of a request.
type outcome struct {
	final      bool          // do not send the request again
	rejected   int           // number of rows that the receiver left out although it accepted the request
	retryAfter time.Duration // how long the receiver asks to wait, 0 if it does not say
}

// post sends one request. If the outcome is final, the error says why rows were refused.
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
	if answer.StatusCode == http.StatusSwitchingProtocols { // the body would be the connection, without a timeout
		return outcome{}, fmt.Errorf("%s answers with another protocol: %d", p.options.URL.Host, answer.StatusCode)
	}
	text, _ := io.ReadAll(io.LimitReader(answer.Body, 64<<10)) // a longer answer is cut off
	io.Copy(io.Discard, io.LimitReader(answer.Body, 1<<20))    // needed to use the connection again
	// The text beside the status may quote the request, too, so it is not printed.
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
	if p.hasSecret {
		err = fmt.Errorf("%w from %s", err, p.options.URL.Host)
	} else if message != "" {
		err = fmt.Errorf("%w: %s", err, message)
	}
	switch {
	case status/100 == 2:
		return outcome{final: true, rejected: rejected}, err
	case p.isTemporary(status):
		return outcome{retryAfter: retryAfter(answer.Header.Get("Retry-After"))}, err
	}
	divides := status == http.StatusBadRequest || status == http.StatusRequestEntityTooLarge
	return outcome{final: true}, refusal{err, divides, had}
}

// isTemporary reports whether the receiver may take the same rows later, by the status of its
// answer.
func (p *Pusher) isTemporary(status int) bool {
	switch status {
	case http.StatusTooManyRequests, http.StatusRequestTimeout:
		return true
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusMethodNotAllowed:
		return p.options.Patient
	}
	return status/100 == 5 || status/100 == 3 && p.options.Patient
}

// printable returns a message of the receiver on one line, without control characters.
func printable(text []byte) string {
	message := strings.Join(strings.Fields(string(text)), " ")
	return strings.TrimFunc(strconv.QuoteToGraphic(message), func(r rune) bool { return r == '"' })
}

// printableError returns an error that may be printed. The URL in the error of a request, and text
// that the receiver has sent, may contain a secret.
func (p *Pusher) printableError(err error) error {
	var inURL *url.Error
	if errors.As(err, &inURL) {
		err = inURL.Err
	}
	var network *net.OpError
	var timeout net.Error
	switch {
	case !p.hasSecret, isCertificate(err), errors.As(err, &network), errors.As(err, &timeout) && timeout.Timeout():
		return err
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("%s closed the connection", p.options.URL.Host)
	}
	return fmt.Errorf("%s did not answer as HTTP says", p.options.URL.Host)
}

// isCertificate reports whether the certificate of the receiver is not trusted.
func isCertificate(err error) bool {
	var certificate *tls.CertificateVerificationError
	return errors.As(err, &certificate)
}

// retryAfter decodes the header field Retry-After, which has seconds or a date. It returns at most
// 5 minutes.
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

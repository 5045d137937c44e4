package shell

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"time"

	"jig/internal/msg"
	"jig/internal/process"
	"jig/internal/proto"
	"jig/internal/tool"
)

// jobs are the commands that nobody waits for, oldest first.
type jobs struct {
	most int
	wg   sync.WaitGroup
	tell sync.Mutex // one list at a time is shown, and the newest last

	mu     sync.Mutex
	list   []*job
	coming int // places that are taken but have no job yet
	last   int // the number of the last id
	closed bool
	post   func(tool.Notice)
	show   func(string, any)
}

type job struct {
	proto.Job
	run   *process.Job
	ended func()
	noLog error // why it has no log; nil: it has one
}

func newJobs(most int) *jobs {
	return &jobs{most: most, post: func(tool.Notice) {}, show: func(string, any) {}}
}

// Connect says where ended jobs are reported and present ones shown.
func (s *Shell) Connect(post func(tool.Notice), show func(key string, value any)) {
	s.jobs.mu.Lock()
	s.jobs.post, s.jobs.show = post, show
	s.jobs.mu.Unlock()
}

func (t *jobs) full() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.list)+t.coming >= t.most
}

// reserve takes a place for a job that is about to be.
func (t *jobs) reserve() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed || len(t.list)+t.coming >= t.most {
		return false
	}
	t.coming++
	return true
}

func (t *jobs) release() {
	t.mu.Lock()
	t.coming--
	t.mu.Unlock()
}

func (t *jobs) nextID() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last++
	return t.last
}

// giveBack returns the id of a job that did not start, if it was the last.
func (t *jobs) giveBack(id int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.last == id {
		t.last--
	}
}

// add puts a job in its reserved place and watches it.
func (t *jobs) add(j *job) {
	t.mu.Lock()
	t.coming--
	t.list = append(t.list, j)
	// calls of one reply start side by side
	slices.SortFunc(t.list, func(a, b *job) int { return cmp.Or(cmp.Compare(len(a.ID), len(b.ID)), cmp.Compare(a.ID, b.ID)) })
	t.mu.Unlock()
	t.showAll()
	t.wg.Go(func() { t.watch(j) })
}

// watch reports a job's end. The notice goes out while the job is still in the list, so that there
// is no moment in which it neither runs nor has been told.
func (t *jobs) watch(j *job) {
	<-j.run.Done()
	j.ended()
	text := notice(j.ID, j.Label, j.run.State(), capped(j.run.Output()))
	t.mu.Lock()
	post := t.post
	if t.closed {
		post = func(tool.Notice) {}
	}
	t.mu.Unlock()
	post(tool.Notice{Call: j.Call, Job: j.ID, Blocks: msg.Blocks{msg.Text{Text: text}}})
	t.mu.Lock()
	t.list = slices.DeleteFunc(t.list, func(x *job) bool { return x == j })
	t.mu.Unlock()
	t.showAll()
}

func (t *jobs) showAll() {
	t.tell.Lock()
	defer t.tell.Unlock()
	t.mu.Lock()
	show := t.show
	var list []proto.Job
	for _, j := range t.list {
		list = append(list, j.Job)
	}
	t.mu.Unlock()
	if list == nil {
		show(proto.KeyJobs, nil)
		return
	}
	show(proto.KeyJobs, list)
}

// Kill ends a background job with everything it started and reports whether there is one of that
// id. The notice of its end follows.
func (s *Shell) Kill(id string) bool {
	s.jobs.mu.Lock()
	defer s.jobs.mu.Unlock()
	for _, j := range s.jobs.list {
		if j.ID == id {
			j.run.Kill(process.Cancelled)
			return true
		}
	}
	return false
}

// keep makes a running command a job.
func (s *Shell) keep(k call, run *process.Job, id int, log logFile, start time.Time) *job {
	j := &job{proto.Job{ID: fmt.Sprintf("b%d", id), Call: k.id, Label: k.label, Command: k.command, Pid: run.Pid(), Log: log.shown, Start: start}, run, k.ended, log.why}
	s.jobs.add(j)
	return j
}

// Close ends every job and everything that commands left running, waits for it, and says what goes
// on all the same because it detached itself.
func (s *Shell) Close() string {
	s.jobs.mu.Lock()
	s.jobs.closed = true
	s.jobs.mu.Unlock()
	left := s.rooms.inside.leave()
	s.placeholders.Release(len(left) > 0)
	left = append(left, s.rooms.outside.leave()...)
	s.jobs.wg.Wait()
	s.logs.Close()
	s.temp.Close()
	return goesOn(left)
}

"""Patches of the Go runtime for lock-step virtual time (linux/amd64, Go 1.26).

The environment of the program names a page and a descriptor, see `pacer`:

    ASSAY_TIME_PAGE   a file of 4,096 bytes, which begins with the time, see `pacer`
    ASSAY_TIME_FD     an inherited socket: pings arrive there, and reports are written to it
    ASSAY_TIME_SEED   a number, of which what the program gets from `crypto/rand` is made

Without them the program runs in real time. With a further variable, connections to other machines
than this one lead to the harness, and so do the queries of the resolver:

    ASSAY_TIME_SERVER   the harness's address; requests of `CONNECT` are sent there

The scheduler calls `netpoll` with the span until the next timer when no goroutine can run. There
the patched runtime looks for input once without waiting. If there is none, all processors are idle,
no goroutine is in a system call, and no process that the program has started runs, it reports the
number of the last ping and the time at which its next timer is due. All of this is looked at with
the scheduler locked: a goroutine that returns from a system call meanwhile cannot make half of it
untrue. The report also says when the first of its timers is due that was set for long enough ahead:
one that polls is slowed, but it is on time for those. It then waits for input, of which a ping is
one. A ping makes the scheduler look at its timers, which is how time is noticed that was moved.

A program whose goroutines have made no system call since the last report has no effect on anybody.
It does not report then: it moves time itself to its next timer, up to the limit in the page.

A goroutine that never waits is preempted after some of the processor time that it takes, since
virtual time stands still meanwhile.

While a goroutine is in a system call, others run in its place only if its thread sleeps there. On a
busy machine a thread may stay in any system call for long, since it waits for a processor; whether
others overtake it would be chance.

There is one processor, whatever the program asks for: what is done in parallel is done in an order
of chance.

The runtime's monitor looks around every 10 ms while a goroutine is in a system call. Its thread has
a name, by which the harness tells it from those that work.

The runtime's scavenger, which returns memory to the kernel, stays parked: when it is woken is
chance, and it would set timers of its own.

Addresses on the heap are the same in each run, since programs depend on them: the order of a map
whose keys are pointers follows from them. Threads are started by chance, so the memory of the first
ones is allocated before the program begins. The monitor starts no garbage collection and does not
look for input.

A goroutine that waits for signals is in a system call for good, and is counted out. So are those
that are in a system call when the number 0 arrives, until the next ping or system call. Random
numbers of the runtime (orders of maps and of `select`) are seeded alike in each process, so that
the same input leads to the same course. Those of `crypto/rand`, of which programs make names for
themselves, are a sequence of their own, seeded differently in each process.
"""

from __future__ import annotations

from typing import Final

from clusters.go_time.overlay import Patch, Patches
from clusters.go_time.work import MONITOR

LATENESS_US: Final = (
    *(69, 82, 91, 103, 115, 131, 134, 136, 139, 148, 154, 158, 162, 166, 170, 174),
    *(178, 182, 185, 189, 193, 196, 200, 206, 212, 224, 242, 359, 572, 913, 1735, 2988),
)
"""How late a real program's timers fire: quantiles of 2,000 sleeps, printed by `go run .` in
ci/bench/timer_lateness on 2026-11-27 on two busy cores (Linux on amd64)."""

_CLOCK: Final = """// The words of the page.
const (
	timeIsNow   = iota // the virtual time in ns since 1970
	timeLimit          // up to which the program may move it by itself
	timeFast           // after so many moves in a row,
	timeLeast          // each one is at least so long, but for timers set for so long ahead,
	timeTicks          // and so long as far as tickers alone are due
	timeMoved          // how often the program has moved it
)

var (
	timePage     *[8]uint64
	timeFd       int32 = -1
	timeMonoBase int64
	timeVirtBase int64
	timePing     uint64       // the last one that arrived
	timeTold     uint64       // the last one that was answered
	timeWall     uint64       // the last time that was told
	timeSeed     uint64
	timeSecret   uint64       // the state of crypto/rand
	timeLateSeed uint64       // what the lateness of timers is drawn by
	timeCalls    atomic.Uint64 // system calls of goroutines
	timeSeen     uint64        // those at the last report
	timeMoves    uint64        // how often time was moved since the last ping
	timeBlocked  = ^uint64(0) // timeCalls when those in system calls were counted out
	timeThreads  [96]timeThread
	timeStarted  atomic.Uint32
	timeSleepers atomic.Int32 // goroutines that wait in a system call for good: signals
	timeForked   atomic.Bool  // the program has started a process
)

//go:nosplit
func nanotime() int64 {
	if p := timePage; p != nil {
		return timeMonoBase + int64(atomic.Load64(&p[timeIsNow])) - timeVirtBase
	}
	return nanotime1()
}

// timeNow returns the time in ns since 1970. No two calls get the same: programs make names of it.
//
//go:nosplit
func timeNow() int64 {
	if timePage == nil {
		return realWall()
	}
	for {
		last, next := atomic.Load64(&timeWall), atomic.Load64(&timePage[timeIsNow])
		if next <= last {
			next = last + 1
		}
		if atomic.Cas64(&timeWall, last, next) {
			return int64(next)
		}
	}
}

func timeInit() {
	name := gogetenv("ASSAY_TIME_PAGE")
	if name == "" {
		return
	}
	fd := open(unsafe.StringData(name), 2 /* O_RDWR */, 0)
	if fd < 0 {
		throw("cannot open the time page")
	}
	p, err := mmap(nil, 4096, _PROT_READ|_PROT_WRITE, 1 /* MAP_SHARED */, fd, 0)
	if err != 0 {
		throw("cannot map the time page")
	}
	page := (*[8]uint64)(p)
	timeMonoBase = nanotime1()
	timeVirtBase = int64(atomic.Load64(&page[timeIsNow]))
	timeFd = int32(envNumber("ASSAY_TIME_FD"))
	timeSecret = uint64(envNumber("ASSAY_TIME_SEED"))
	timeLateSeed = timeSecret
	timePage = page
}

// timeThread is a thread that may not have been started, and what it needs on the heap.
type timeThread struct {
	m       *m
	g0      *g
	gsignal *g
	self    mWeakPointer
	stacks  [2][]uintptr
}

// timeSpare allocates threads. They are not on the heap themselves: the garbage collector would
// find those that have been started in another order.
func timeSpare() {
	if timePage == nil {
		return
	}
	for i := range timeThreads {
		size := mallocHeaderSize + unsafe.Sizeof(mPadded{})
		place := persistentalloc(size, 2048, &memstats.other_sys)
		mp := (*m)(add(place, mallocHeaderSize))
		mp.self = newMWeakPointer(mp)
		mpreinit(mp)
		if iscgo || mStackIsSystemAllocated() {
			mp.g0 = malg(-1)
		} else {
			mp.g0 = malg(16384 * sys.StackGuardMultiplier)
		}
		mProfStackInit(mp)
		stacks := [2][]uintptr{mp.profStack, mp.mLockProfile.stack}
		timeThreads[i] = timeThread{mp, mp.g0, mp.gsignal, mp.self, stacks}
	}
}

// timeThreadToStart returns one of timeThreads, or nil.
func timeThreadToStart() *m {
	if timePage != nil {
		if i := timeStarted.Add(1) - 1; i < uint32(len(timeThreads)) {
			return timeThreads[i].m
		}
	}
	return nil
}

// timeRandom returns random numbers in one order for the whole program. Those of a thread depend on
// which thread runs what.
//
//go:nosplit
func timeRandom() uint64 {
	return timeNext(&timeSeed)
}

// timeSecrets fills p with what is random to the program.
func timeSecrets(p []byte) {
	for i := 0; i < len(p); i += 8 {
		x := timeNext(&timeSecret)
		for j := i; j < min(i+8, len(p)); j++ {
			p[j], x = byte(x), x>>8
		}
	}
}

//go:nosplit
func timeNext(seed *uint64) uint64 {
	return timeMixed(atomic.Xadd64(seed, -0x61c8864680b583eb)) // splitmix64
}

//go:nosplit
func timeMixed(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// timeSet returns when a timer fires that is set for a time. One that is set for the same span
// again and again, without a system call in between, is a ticker: so wait.Until of client-go polls.
func (t *timer) timeSet(when int64) int64 {
	span, calls := when-nanotime(), timeCalls.Load()
	if span == t.timeSpan && calls == t.timeCalls {
		t.timeAgain++
	} else {
		t.timeAgain = 0
	}
	t.timeSpan, t.timeCalls = span, calls
	t.timeIsFar = span >= int64(timePage[timeLeast])
	when = timeLate(when)
	t.timeFirst = when
	if t.timeAgain >= timeAlike {
		t.timeFirst = 0 // which it is never due
	}
	return when
}

// timeLate returns when a timer fires that is set for a time: as late as a real one, drawn of
// timeLateness. Between two grid points that is interpolated, so that timers keep their order: no
// two points differ by as much as they are apart.
func timeLate(when int64) int64 {
	at := when - timeMonoBase + timeVirtBase
	if at <= 0 || when > maxWhen-timeLateGrid {
		return when
	}
	point, beyond := uint64(at/timeLateGrid), at%timeLateGrid
	before := timeLateness[timeMixed(timeLateSeed^point)%uint64(len(timeLateness))]
	after := timeLateness[timeMixed(timeLateSeed^(point+1))%uint64(len(timeLateness))]
	return when + before + (after-before)/1000*(beyond/(timeLateGrid/1000))
}

// timeRests returns true if nothing but input and timers can make a goroutine run. Its caller has
// locked the scheduler: until that is over, no thread gets a processor.
func timeRests() bool {
	if timeTold == timePing || sched.npidle.Load() != gomaxprocs {
		return false
	}
	if timeCalls.Load() != timeBlocked && sched.nGsyscallNoP.Load() != timeSleepers.Load() {
		return false
	}
	return !timeForked.Load() || !timeHasChild()
}

// timeIdle is called if the program rests, and there was no input after that. It moves time to the
// next timer and returns true, or reports when that is due.
func timeIdle() bool {
	calls := timeCalls.Load()
	now, due := atomic.Load64(&timePage[timeIsNow]), ^uint64(0)
	// The caller's own span until the next timer is from before the lock.
	when := allp[0].timers.wakeTime()
	if when > 0 {
		due = timeVirtual(when)
		if due <= now {
			return true
		}
	}
	if calls == timeSeen && when > 0 {
		next, limit := due, timePage[timeLimit]
		if timeMoves >= timePage[timeFast] {
			once, far := timeFirsts()
			next = max(min(once, now+timePage[timeTicks]), due, now+timePage[timeLeast])
			next = min(next, far)
		}
		if next > limit && due <= limit {
			next = limit
		}
		if next <= limit {
			timeMoves++
			timePage[timeMoved]++
			atomic.Store64(&timePage[timeIsNow], next)
			return true
		}
	}
	timeTold, timeSeen = timePing, calls
	_, far := timeFirsts()
	report := [3]uint64{timePing, due, far}
	write1(uintptr(timeFd), noescape(unsafe.Pointer(&report)), 24)
	return false
}

// timeHasChild returns true if a process that this one has started runs.
func timeHasChild() bool {
	var ended [16]uint64
	// waitid(P_ALL, WEXITED|WNOHANG|WNOWAIT)
	info := uintptr(noescape(unsafe.Pointer(&ended)))
	_, _, errno := linux.Syscall6(247, 0, 0, info, 0x1000005, 0, 0)
	return errno == 0 && ended[0] == 0
}

// timeFirsts returns when the next timer is due that is no ticker or has not ticked yet, and when
// the next one of those is that was set for at least timeLeast ahead.
func timeFirsts() (once, far uint64) {
	timers := &allp[0].timers
	once, far = ^uint64(0), ^uint64(0)
	timers.lock()
	for _, each := range timers.heap {
		when := each.timer.when
		if when > 0 && when == each.timer.timeFirst { // 0: it was stopped
			due := timeVirtual(when)
			once = min(once, due)
			if each.timer.timeIsFar {
				far = min(far, due)
			}
		}
	}
	timers.unlock()
	return once, far
}

// timeVirtual returns the virtual time, in whole microseconds, by which that of a timer has come.
func timeVirtual(when int64) uint64 {
	return (uint64(when) - uint64(timeMonoBase) + uint64(timeVirtBase) + 999) / 1000 * 1000
}

//go:nosplit
func realWall() int64 {
	return realTime(0) // CLOCK_REALTIME
}

// timeWorked returns a time by which a goroutine that never waits is preempted. In virtual time
// that is a hundredth of the processor time spent: a longer slice than elsewhere, since where it
// ends is chance.
func timeWorked(now int64) int64 {
	if timePage == nil {
		return now
	}
	return realTime(2) / 100 // CLOCK_PROCESS_CPUTIME_ID
}

// timeSleeps returns true if a thread sleeps in its system call, maybe until another goroutine does
// something. One that works there, or waits for a processor or a disk, comes back by itself.
func timeSleeps(mp *m) bool {
	var path, stat [64]byte
	at := copy(path[:], "/proc/self/task/")
	first := at
	for id := mp.procid; id > 0; id /= 10 {
		path[at] = byte('0' + id%10)
		at++
	}
	for i, j := first, at-1; i < j; i, j = i+1, j-1 {
		path[i], path[j] = path[j], path[i]
	}
	copy(path[at:], "/stat")
	fd := open(&path[0], 0 /* O_RDONLY */, 0)
	if fd < 0 {
		return true
	}
	last := read(fd, noescape(unsafe.Pointer(&stat[0])), int32(len(stat))) - 3
	closefd(fd)
	for ; last >= 0; last-- { // its name, in parentheses, is of 15 characters at most
		if stat[last] == ')' {
			return stat[last+2] == 'S'
		}
	}
	return true
}

// timeMonitor names the thread of the monitor.
func timeMonitor() {
	if timePage != nil {
		name := uintptr(unsafe.Pointer(&timeMonitorName))
		linux.Syscall6(157, 15, name, 0, 0, 0, 0) // prctl(PR_SET_NAME)
	}
}

//go:nosplit
func realTime(clock uintptr) int64 {
	var ts timespec
	// clock_gettime
	linux.Syscall6(228, clock, uintptr(unsafe.Pointer(&ts)), 0, 0, 0, 0)
	return ts.tv_sec*1e9 + ts.tv_nsec
}

func envNumber(name string) int64 {
	var n int64
	for _, c := range []byte(gogetenv(name)) {
		n = n*10 + int64(c-'0')
	}
	return n
}
"""

_MONITOR: Final = MONITOR.encode() + b"\0"

_LATENESS: Final = f"""
// In nanoseconds.
var timeLateness = [...]int64{{{", ".join(f"{late_us}_000" for late_us in LATENESS_US)}}}

const (
	timeLateGrid = 10_000_000
	timeAlike    = 3 // a back-off that has reached its limit repeats its span, too
)

var timeMonitorName = [...]byte{{{", ".join(map(str, _MONITOR))}}}
"""

DNS_SERVER: Final = "10.96.0.10:53"
"""The usual address in clusters, which error messages contain."""

_OUTGOING: Final = """// The address of the harness.
var timeServer = os.Getenv("ASSAY_TIME_SERVER")

// timeIsElsewhere returns true if another machine is meant.
func timeIsElsewhere(raddr *TCPAddr) bool {
	return timeServer != "" && raddr != nil && raddr.IP != nil &&
		!raddr.IP.IsLoopback() && !raddr.IP.IsUnspecified()
}

// timeDial asks the harness for a connection.
func (sd *sysDialer) timeDial(ctx context.Context, raddr *TCPAddr) (*TCPConn, error) {
	server, err := ResolveTCPAddr("tcp4", timeServer)
	if err != nil {
		return nil, err
	}
	loopback := *sd
	loopback.network = "tcp4"
	c, err := loopback.doDialTCP(ctx, nil, server)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { c.SetDeadline(aLongTimeAgo) })
	to := raddr.String()
	_, err = io.WriteString(c, "CONNECT "+to+" HTTP/1.1\\r\\nHost: "+to+"\\r\\n\\r\\n")
	var response [1024]byte // which comes in one piece
	n := 0
	if err == nil {
		n, err = c.Read(response[:])
	}
	if !stop() {
		c.Close()
		return nil, mapErr(ctx.Err())
	}
	if err != nil || string(response[:min(n, 12)]) != "HTTP/1.1 200" {
		c.Close()
		return nil, os.NewSyscallError("connect", syscall.ECONNREFUSED)
	}
	return c, nil
}
"""

PATCHES: Final[Patches] = {
    # time.now in Go instead of assembly.
    "runtime/timestub.go": (
        Patch(
            "//go:build !faketime && !windows && !(linux && amd64) && !plan9",
            "//go:build !faketime && !windows && !plan9",
        ),
        Patch(
            "\tsec, nsec = walltime()\n\treturn sec, nsec, nanotime()\n",
            "\twall := timeNow()\n\treturn wall / 1e9, int32(wall % 1e9), nanotime()\n",
        ),
    ),
    "runtime/time.go": (
        Patch(
            '\t\tthrow("timer period must be non-negative")\n\t}\n\tasync := ',
            '\t\tthrow("timer period must be non-negative")\n\t}\n'
            "\tif timePage != nil && !t.isFake {\n"
            "\t\twhen = t.timeSet(when)\n\t}\n\tasync := ",
        ),
        Patch(
            "\n\tblocked uint32 // number",
            "\n\ttimeIsFar bool   // it was set for at least timeLeast ahead\n"
            "\ttimeFirst int64  // when it was set to be due; a ticker that has ticked is due"
            " later\n"
            "\ttimeSpan  int64  // how far ahead it was set\n"
            "\ttimeCalls uint64 // the system calls until then\n"
            "\ttimeAgain uint32 // how often in a row it was set so, without one in between\n"
            "\n\tblocked uint32 // number",
        ),
    ),
    "runtime/timeasm.go": (
        Patch(
            "//go:build !faketime && (windows || (linux && amd64))",
            "//go:build !faketime && windows",
        ),
    ),
    "runtime/time_linux_amd64.s": (Patch("//go:build !faketime\n", "//go:build faketime\n"),),
    "runtime/time_nofake.go": (
        Patch(
            'import "unsafe"\n',
            'import (\n\t"internal/runtime/atomic"\n\t"internal/runtime/sys"\n'
            '\t"internal/runtime/syscall/linux"\n'
            '\t"unsafe"\n)\n',
        ),
        Patch(
            "//go:nosplit\nfunc nanotime() int64 {\n\treturn nanotime1()\n}\n", _CLOCK + _LATENESS
        ),
    ),
    "runtime/os_linux.go": (
        Patch(
            "func goenvs() {\n\tgoenvs_unix()\n",
            "func goenvs() {\n\tgoenvs_unix()\n\ttimeInit()\n",
        ),
    ),
    "runtime/netpoll_epoll.go": (
        Patch(
            "\tnetpollEventFd = uintptr(efd)\n}",
            """\tnetpollEventFd = uintptr(efd)
	if timeFd >= 0 {
		ev := linux.EpollEvent{Events: linux.EPOLLIN}
		*(**uintptr)(unsafe.Pointer(&ev.Data)) = (*uintptr)(unsafe.Pointer(&timePage))
		if linux.EpollCtl(epfd, linux.EPOLL_CTL_ADD, timeFd, &ev) != 0 {
			throw("cannot poll the time descriptor")
		}
	}
}""",
        ),
        Patch(
            "retry:\n\tn, errno := linux.EpollWait(epfd, events[:], int32(len(events)), waitms)\n",
            """\tif timePage != nil && waitms != 0 {
		waitms = -1
	}
retry:
	var n int32
	var errno uintptr
	if timePage != nil && waitms != 0 {
		// Input that is there already is work: only without it are we idle.
		lock(&sched.lock)
		rests := timeRests() // first: what works is what writes input
		n, errno = linux.EpollWait(epfd, events[:], int32(len(events)), 0)
		hasNone := n == 0 && errno == 0
		isDue := rests && hasNone && timeIdle()
		unlock(&sched.lock)
		if isDue {
			return gList{}, 0
		}
		if hasNone {
			n, errno = linux.EpollWait(epfd, events[:], int32(len(events)), -1)
		}
	} else {
		n, errno = linux.EpollWait(epfd, events[:], int32(len(events)), waitms)
	}
""",
        ),
        Patch(
            "\t\tif *(**uintptr)(unsafe.Pointer(&ev.Data)) == &netpollEventFd {",
            """\t\ttag := *(**uintptr)(unsafe.Pointer(&ev.Data))
		if timeFd >= 0 && tag == (*uintptr)(unsafe.Pointer(&timePage)) {
			if delay != 0 {
				var ping uint64
				if read(timeFd, noescape(unsafe.Pointer(&ping)), int32(unsafe.Sizeof(ping))) != 8 {
					exit(3) // the harness is gone, and time with it
				}
				if ping == 0 {
					timeBlocked = timeCalls.Load()
				} else if ping != timePing { // else it was repeated
					timePing, timeMoves, timeBlocked = ping, 0, ^uint64(0)
				}
			}
			continue
		}

		if *(**uintptr)(unsafe.Pointer(&ev.Data)) == &netpollEventFd {""",
        ),
    ),
    "runtime/proc.go": (
        Patch(
            "\t} else if pollUntil != 0 && netpollinited() {\n",
            """\t} else if timePage != nil && timeTold != timePing && netpollinited() {
		netpollBreak() // the thread that polls was asked while this one was at work
	} else if pollUntil != 0 && netpollinited() {
""",
        ),
        Patch(
            "func syscall_runtime_AfterFork() {\n",
            "func syscall_runtime_AfterFork() {\n\ttimeForked.Store(true)\n",
        ),
        Patch(
            "func sysmon() {\n\tlock(&sched.lock)\n",
            "func sysmon() {\n\ttimeMonitor()\n\tlock(&sched.lock)\n",
        ),
        Patch("\tworldStarted()\n\n\tif buildV", "\tworldStarted()\n\ttimeSpare()\n\n\tif buildV"),
        Patch(
            "\tmp := &new(mPadded).m\n\tmp.mstartfn = fn\n",
            "\tmp := timeThreadToStart()\n\tif mp == nil {\n\t\tmp = &new(mPadded).m\n\t}\n"
            "\tmp.mstartfn = fn\n",
        ),
        Patch(
            "\tif iscgo || mStackIsSystemAllocated() {\n\t\tmp.g0 = malg(-1)\n",
            "\tif mp.g0 != nil {\n\t} else if iscgo || mStackIsSystemAllocated() {\n"
            "\t\tmp.g0 = malg(-1)\n",
        ),
        Patch(
            "\tmp.self = newMWeakPointer(mp)\n\n\tmrandinit(mp)\n\n\tmpreinit(mp)\n",
            "\tif mp.self.m == nil {\n\t\tmp.self = newMWeakPointer(mp)\n\t}\n\n"
            "\tmrandinit(mp)\n\n\tif mp.gsignal == nil {\n\t\tmpreinit(mp)\n\t}\n",
        ),
        Patch(
            "\t\tmp.cgoCallers = new(cgoCallers)\n\t}\n\tmProfStackInit(mp)\n",
            "\t\tmp.cgoCallers = new(cgoCallers)\n\t}\n\tif mp.profStack == nil {\n"
            "\t\tmProfStackInit(mp)\n\t}\n",
        ),
        Patch(
            "\t\tif netpollinited() && lastpoll != 0 && lastpoll+10*1000*1000 < now {\n",
            "\t\tif timePage == nil && netpollinited() && lastpoll != 0 &&"
            " lastpoll+10*1000*1000 < now {\n",
        ),
        Patch(
            "now: now}); t.test() && forcegc",
            "now: now}); timePage == nil && t.test() && forcegc",
        ),
        Patch("\t\tif retake(now) != 0 {\n", "\t\tif retake(timeWorked(now)) != 0 {\n"),
        Patch(
            "\t\t// Take the P. Note: because we have the scan bit,",
            """\t\tif timePage != nil && !timeSleeps(thread.mp) {
			thread.resume()
			goto done
		}

		// Take the P. Note: because we have the scan bit,""",
        ),
        # Nobody takes the processor of one that is in a system call, but where it sleeps: above.
        Patch(
            "\tif oldp != nil {\n\t\tif thread,",
            "\tif oldp != nil && timePage == nil {\n\t\tif thread,",
        ),
        Patch(
            "\tdecGSyscallNoP(getg().m)\n\tdropg()\n\tlock(&sched.lock)\n",
            "\tdropg()\n\tlock(&sched.lock)\n",
        ),
        Patch(
            "\t\tlocked = gp.lockedm != 0\n\t} else if sched.sysmonwait.Load() {\n"
            "\t\tsched.sysmonwait.Store(false)\n\t\tnotewakeup(&sched.sysmonnote)\n\t}\n",
            """\t\tlocked = gp.lockedm != 0
	} else if sched.sysmonwait.Load() {
		sched.sysmonwait.Store(false)
		notewakeup(&sched.sysmonnote)
	}
	decGSyscallNoP(getg().m) // not before it has a processor, or is in the queue of one that works
""",
        ),
        Patch(
            "func reentersyscall(pc, sp, bp uintptr) {\n\tgp := getg()\n",
            "func reentersyscall(pc, sp, bp uintptr) {\n\ttimeCalls.Add(1)\n\tgp := getg()\n",
        ),
    ),
    "runtime/debug.go": (
        Patch(
            "func GOMAXPROCS(n int) int {\n",
            "func GOMAXPROCS(n int) int {\n\tif timePage != nil {\n\t\tn = 0\n\t}\n",
        ),
        Patch(
            "func SetDefaultGOMAXPROCS() {\n",
            "func SetDefaultGOMAXPROCS() {\n\tif timePage != nil {\n\t\treturn\n\t}\n",
        ),
    ),
    "runtime/vgetrandom_linux.go": (
        Patch(
            "(ret int, supported bool) {\n\tif vgetrandomAlloc.stateSize == 0 {\n",
            "(ret int, supported bool) {\n\tif timePage != nil {\n\t\ttimeSecrets(p)\n"
            "\t\treturn len(p), true\n\t}\n\tif vgetrandomAlloc.stateSize == 0 {\n",
        ),
    ),
    "runtime/mgcscavenge.go": (
        Patch(
            "\tif s.parked {\n\t\t// Unset sysmonWake,",
            "\tif s.parked && timePage == nil {\n\t\t// Unset sysmonWake,",
        ),
    ),
    "runtime/lock_futex.go": (
        Patch(
            "\tentersyscallblock()\n\tok := notetsleep_internal(n, ns)\n\texitsyscall()\n",
            "\ttimeSleepers.Add(1)\n\tentersyscallblock()\n\tok := notetsleep_internal(n, ns)\n"
            "\texitsyscall()\n\ttimeSleepers.Add(-1)\n",
        ),
    ),
    "runtime/rand.go": (
        Patch(
            "\tglobalRand.state.Init(*seed)\n",
            "\tfor i := range seed {\n\t\tseed[i] = byte(i + 1)\n\t}\n"
            "\tglobalRand.state.Init(*seed)\n",
        ),
        Patch(
            "\tmp := getg().m\n\tc := &mp.chacha8\n\tfor {\n\t\t// Note: c.Next",
            "\tif timePage != nil {\n\t\treturn timeRandom()\n\t}\n"
            "\tmp := getg().m\n\tc := &mp.chacha8\n\tfor {\n\t\t// Note: c.Next",
        ),
        Patch("\tmp.cheaprand = rand()\n", "\tmp.cheaprand = seed[0]\n"),
    ),
    "runtime/select.go": (
        Patch(
            "\t\tj := cheaprandn(uint32(norder + 1))\n",
            "\t\tj := cheaprandn(uint32(norder + 1))\n\t\tif timePage != nil {\n"
            "\t\t\tj = uint32(timeRandom() % uint64(norder+1))\n\t\t}\n",
        ),
    ),
    # Connections to other machines, see `conformance.worlds.lockstep.outgoing`.
    "net/tcpsock_posix.go": (
        Patch(
            "func (sd *sysDialer) dialTCP(",
            _OUTGOING + "\nfunc (sd *sysDialer) dialTCP(",
        ),
        Patch(
            "\treturn sd.doDialTCP(ctx, laddr, raddr)\n",
            "\tif timeIsElsewhere(raddr) {\n\t\treturn sd.timeDial(ctx, raddr)\n\t}\n"
            "\treturn sd.doDialTCP(ctx, laddr, raddr)\n",
        ),
    ),
    "net/dnsconfig_unix.go": (
        Patch(
            "func dnsReadConfig(filename string) *dnsConfig {\n",
            f"""func dnsReadConfig(filename string) *dnsConfig {{
	if timeServer != "" {{
		return &dnsConfig{{
			servers:  []string{{"{DNS_SERVER}"}},
			ndots:    1,
			timeout:  5 * time.Second,
			attempts: 2,
			useTCP:   true,
			noReload: true,
		}}
	}}
""",
        ),
    ),
}

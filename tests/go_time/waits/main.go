// Waits in every way that a Go program has, each for a known span, and prints what it measured.
package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

type way struct {
	name string
	wait func()
}

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				time.Sleep(9 * time.Second)
				connection.Write([]byte("x"))
				connection.Close()
			}()
		}
	}()
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt)
	for _, each := range []way{
		{"sleep 1s", func() { time.Sleep(time.Second) }},
		{"timer 2s", func() { <-time.NewTimer(2 * time.Second).C }},
		{"ticker 3s", func() {
			ticker := time.NewTicker(time.Second)
			defer ticker.Stop()
			for range 3 {
				<-ticker.C
			}
		}},
		{"select 4s", func() {
			select {
			case <-time.After(4 * time.Second):
			case <-signals:
			}
		}},
		{"context 5s", func() {
			ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
			defer cancel()
			<-ctx.Done()
		}},
		{"mutex 6s", func() {
			var mutex sync.Mutex
			mutex.Lock()
			time.AfterFunc(6*time.Second, mutex.Unlock)
			mutex.Lock()
		}},
		{"condition 7s", func() {
			var mutex sync.Mutex
			condition := sync.NewCond(&mutex)
			time.AfterFunc(7*time.Second, condition.Broadcast)
			mutex.Lock()
			condition.Wait()
		}},
		{"pipe 8s", func() {
			reader, writer, _ := os.Pipe()
			time.AfterFunc(8*time.Second, func() { writer.Write([]byte("x")) })
			reader.Read(make([]byte, 1))
		}},
		{"connection 9s", func() {
			connection, err := net.Dial("tcp", listener.Addr().String())
			if err != nil {
				panic(err)
			}
			io.ReadAll(connection)
		}},
		{"deadline 10s", func() {
			connection, _ := net.Dial("tcp", listener.Addr().String())
			connection.SetReadDeadline(time.Now().Add(10 * time.Second))
			connection.Read(make([]byte, 1))
			connection.Read(make([]byte, 1)) // the end, after 9 s
			time.Sleep(time.Second)
		}},
		{"work 11s", func() {
			// Work takes no virtual time, however long it takes.
			done := make(chan int)
			for range 4 {
				go func() {
					runtime.LockOSThread()
					sum := 0
					for i := range 20_000_000 {
						sum += i
					}
					done <- sum
				}()
			}
			for range 4 {
				<-done
			}
			runtime.GC()
			time.Sleep(11 * time.Second)
		}},
		{"spin 12s", func() {
			// One that never waits keeps the others from nothing for good.
			var over atomic.Bool
			var spun sync.WaitGroup
			go over.Store(true)
			spun.Go(func() {
				for !over.Load() {
				}
			})
			spun.Wait()
			time.Sleep(12 * time.Second)
		}},
		{"system call 13s", func() {
			var ends [2]int
			syscall.Pipe(ends[:])
			time.AfterFunc(13*time.Second, func() { syscall.Write(ends[1], []byte("x")) })
			syscall.Read(ends[0], make([]byte, 1))
		}},
		{"file lock 14s", func() {
			first, _ := syscall.Open(os.Args[0], syscall.O_RDONLY, 0)
			second, _ := syscall.Open(os.Args[0], syscall.O_RDONLY, 0)
			syscall.Flock(first, syscall.LOCK_EX)
			time.AfterFunc(14*time.Second, func() { syscall.Close(first) })
			syscall.Flock(second, syscall.LOCK_EX)
		}},
		{"process 15s", func() {
			// Work of another process takes no virtual time either.
			exec.Command("sleep", "0.02").Run()
			time.Sleep(15 * time.Second)
		}},
		{"channel 16s", func() {
			unbuffered, full := make(chan int), make(chan int, 1)
			full <- 1
			time.AfterFunc(6*time.Second, func() { unbuffered <- 1 })
			<-unbuffered
			time.AfterFunc(10*time.Second, func() { <-full })
			full <- 2
		}},
		{"wait group 17s", func() {
			var group sync.WaitGroup
			for n := range 18 {
				group.Go(func() { time.Sleep(time.Duration(n) * time.Second) })
			}
			group.Wait()
		}},
		{"read-write mutex 18s", func() {
			var mutex sync.RWMutex
			mutex.RLock()
			time.AfterFunc(18*time.Second, mutex.RUnlock)
			mutex.Lock()
		}},
		{"unix socket 19s", func() {
			path := "@" + os.Args[0] // no file
			at, _ := net.Listen("unix", path)
			go func() {
				theirs, _ := at.Accept()
				time.Sleep(19 * time.Second)
				theirs.Close()
			}()
			ours, _ := net.Dial("unix", path)
			io.ReadAll(ours)
		}},
		{"locked thread 20s", func() {
			done := make(chan bool)
			go func() {
				runtime.LockOSThread()
				time.Sleep(20 * time.Second)
				done <- true
			}()
			<-done
		}},
		{"own epoll 21s", func() {
			var ends [2]int
			syscall.Pipe(ends[:])
			own, _ := syscall.EpollCreate1(0)
			event := syscall.EpollEvent{Events: syscall.EPOLLIN, Fd: int32(ends[0])}
			syscall.EpollCtl(own, syscall.EPOLL_CTL_ADD, ends[0], &event)
			time.AfterFunc(21*time.Second, func() { syscall.Write(ends[1], []byte("x")) })
			syscall.EpollWait(own, make([]syscall.EpollEvent, 1), -1)
		}},
		{"named pipe 22s", func() {
			// To open one takes until somebody else opens its other end.
			folder, _ := os.MkdirTemp("", "waits")
			defer os.RemoveAll(folder)
			syscall.Mkfifo(folder+"/pipe", 0o600)
			time.AfterFunc(22*time.Second, func() { os.OpenFile(folder+"/pipe", os.O_WRONLY, 0) })
			os.Open(folder + "/pipe")
		}},
		{"output of a process 23s", func() {
			// The pipe is waited for in the scheduler, while timers are due.
			ticker := time.NewTicker(time.Second)
			defer ticker.Stop()
			command := exec.Command("sh", "-c", "sleep 0.1; echo")
			output, _ := command.StdoutPipe()
			command.Start()
			io.ReadAll(output)
			command.Wait()
			time.Sleep(23 * time.Second)
		}},
		{"processors 24s", func() {
			// A second processor would work while the first one says that there is nothing to do.
			if runtime.GOMAXPROCS(4); runtime.GOMAXPROCS(0) > 1 {
				return
			}
			if runtime.SetDefaultGOMAXPROCS(); runtime.GOMAXPROCS(0) > 1 {
				return
			}
			time.Sleep(24 * time.Second)
		}},
	} {
		began := time.Now()
		each.wait()
		fmt.Println(each.name, "took", time.Since(began))
	}
}

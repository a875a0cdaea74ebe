// Prints which of two goroutines is done first: one that makes a system call of some ten
// milliseconds, or one that was started before that and has nothing to wait for.
package main

import (
	"fmt"
	"syscall"
)

func main() {
	random, err := syscall.Open("/dev/urandom", syscall.O_RDONLY, 0)
	if err != nil {
		panic(err)
	}
	some := make([]byte, 16<<20)
	for range 5 {
		done := make(chan string, 2)
		go func() {
			go func() { done <- "other" }()
			syscall.Read(random, some)
			done <- "caller"
		}()
		fmt.Println(<-done, <-done)
	}
}

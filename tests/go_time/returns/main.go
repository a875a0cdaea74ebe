// Waits ten times for a second in a system call, which returns while another goroutine works, and
// then for a second without one. Prints which of the two goroutines went on first.
package main

import (
	"fmt"
	"os"
	"syscall"
	"time"
)

func main() {
	reader, _, _ := os.Pipe()
	go reader.Read(make([]byte, 1)) // for good: the scheduler waits for input
	var ends [2]int
	syscall.Pipe(ends[:])
	for range 10 {
		order := make(chan string, 2)
		time.AfterFunc(time.Second, func() {
			syscall.Write(ends[1], []byte("x"))
			for range 1_000_000 {
			}
			order <- "writer"
		})
		syscall.Read(ends[0], make([]byte, 1))
		order <- "reader"
		time.Sleep(time.Second)
		fmt.Println(<-order, <-order)
	}
}

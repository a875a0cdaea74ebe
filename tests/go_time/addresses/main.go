// Prints the order of a map whose keys are pointers, and addresses of objects of many sizes. The
// goroutines are the same whatever THREADS says; so many of them have a thread of their own.
package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"time"
)

func main() {
	threads, _ := strconv.Atoi(os.Getenv("THREADS"))
	for n := range 40 {
		go func() {
			if n < threads {
				runtime.LockOSThread()
			}
			time.Sleep(time.Minute)
		}()
	}
	time.Sleep(time.Second)
	numbers := map[*[64]byte]int{}
	for n := range 100 {
		numbers[new([64]byte)] = n
		for size := 8; size <= 1<<16; size *= 2 {
			fmt.Printf("%p\n", make([]byte, size))
			fmt.Printf("%p\n", make([]*byte, size/8))
		}
	}
	for _, n := range numbers {
		fmt.Println(n)
	}
}

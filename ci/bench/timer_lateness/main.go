// Measures how late a Go program's timers fire: prints the quantiles of the lateness of 2,000 sleeps
// of 1 to 8 ms, in microseconds, one a line.
package main

import (
	"fmt"
	"slices"
	"time"
)

func main() {
	const sleeps, quantiles = 2000, 32
	var late []time.Duration
	for n := range sleeps {
		span := time.Duration(1+n%8) * time.Millisecond
		began := time.Now()
		time.Sleep(span)
		late = append(late, time.Since(began)-span)
	}
	slices.Sort(late)
	for n := range quantiles {
		fmt.Println(late[(2*n+1)*sleeps/(2*quantiles)].Microseconds())
	}
}

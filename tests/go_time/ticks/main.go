// Looks around ten times a second for a day, and prints how long that took, how often it looked, and
// when another timer was due. With WAY=reset it sets a timer anew each time, instead of a ticker.
package main

import (
	"fmt"
	"os"
	"time"
)

func main() {
	began := time.Now()
	const span = 100 * time.Millisecond
	wait := time.NewTicker(span).C
	again := func() {}
	if os.Getenv("WAY") == "reset" {
		timer := time.NewTimer(span)
		wait, again = timer.C, func() { timer.Reset(span) }
	}
	looks, alarm := 0, time.Duration(0)
	time.AfterFunc(12*time.Hour+30*time.Second+500*time.Millisecond, func() {
		alarm = time.Since(began)
	})
	time.AfterFunc(time.Hour, func() {}).Stop()
	for time.Since(began) < 24*time.Hour {
		<-wait
		again()
		looks++
	}
	fmt.Println(time.Since(began).Round(time.Second), looks, alarm.Round(time.Millisecond))
}

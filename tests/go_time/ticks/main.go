// Looks at its ticker ten times a second for a day, and prints how long that took, how often it
// looked, and when another timer was due.
package main

import (
	"fmt"
	"time"
)

func main() {
	began := time.Now()
	ticker := time.NewTicker(100 * time.Millisecond)
	looks, alarm := 0, time.Duration(0)
	time.AfterFunc(12*time.Hour+30*time.Second+500*time.Millisecond, func() {
		alarm = time.Since(began)
	})
	time.AfterFunc(time.Hour, func() {}).Stop()
	for time.Since(began) < 24*time.Hour {
		<-ticker.C
		looks++
	}
	fmt.Println(time.Since(began).Round(time.Second), looks, alarm.Round(time.Millisecond))
}

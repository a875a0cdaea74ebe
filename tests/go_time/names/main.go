// Makes names of random numbers, as programs do for themselves and for what they create, with time
// in between.
package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"fmt"
	"time"
)

func main() {
	for n := range 40 {
		fmt.Println(rand.Text())
		some := make([]byte, n)
		rand.Read(some)
		fmt.Printf("%x\n", some)
		time.Sleep(time.Second)
	}
	key, _ := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	fmt.Println(key.D)
}

// SPDX-License-Identifier: MIT
// go run blur.go PHOTO RESULT SIGMA     blurs a picture; BLURD_URL names the daemon
package main

import (
	"bytes"
	"io"
	"log"
	"net/http"
	"net/url"
	"os"
	"time"
)

func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

func main() {
	picture := must(os.ReadFile(os.Args[1]))
	target := os.Getenv("BLURD_URL") + "/blur?sigma=" + url.QueryEscape(os.Args[3])
	for attempt := 1; ; attempt++ {
		answer := must(http.Post(target, "image/jpeg", bytes.NewReader(picture)))
		body := must(io.ReadAll(answer.Body))
		answer.Body.Close()
		if answer.StatusCode == 200 {
			must(0, os.WriteFile(os.Args[2], body, 0o644))
			return
		}
		if answer.StatusCode != 503 || attempt == 6 {
			log.Fatalf("%s: %s", answer.Status, body) // what is wrong, as JSON
		}
		wait, _ := time.ParseDuration(answer.Header.Get("Retry-After") + "s")
		time.Sleep(wait) // overloaded: later
	}
}

// Receives notifications on the port given, and prints each that is genuine and new.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

type receiver struct {
	secrets []*standardwebhooks.Webhook // those of your client, for all its subscriptions: two while one is replaced by the other
	seen    sync.Map                    // keep these in your database, in the transaction that does the work
}

func (r *receiver) isGenuine(header http.Header, body []byte) bool {
	for _, secret := range r.secrets {
		if secret.Verify(body, header) == nil {
			return true
		}
	}
	return false
}

// Takes +0000, without a colon, which time.RFC3339 and a time.Time in JSON refuse; a fraction may follow the seconds.
const timeLayout = "2006-01-02T15:04:05-0700"

func handle(notification map[string]any) error {
	text, isCarriers := notification["occurred_at"].(string)
	if !isCarriers {
		text, _ = notification["action_date"].(string) // of shippers
	}
	at, err := time.Parse(timeLayout, text)
	if err != nil {
		return err
	}
	fmt.Println(notification["action"], "at", at.UTC().Format(time.RFC3339Nano), notification)
	return nil
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, request.Body, 8<<20))
	if err != nil || !r.isGenuine(request.Header, body) {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	id := request.Header.Get("webhook-id")
	if request.Header.Get("X-Webhook-Test") == "true" {
		fmt.Println("a test", id) // nothing happened that it tells of
	} else if _, isKnown := r.seen.Load(id); !isKnown {
		// Numbers to the digit: an id may exceed 2^53.
		numbers := json.NewDecoder(bytes.NewReader(body))
		numbers.UseNumber()
		var notification map[string]any
		err := numbers.Decode(&notification)
		if err == nil {
			err = handle(notification)
		}
		if err != nil {
			log.Print(err)
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		r.seen.Store(id, true) // not before: what fails comes again, and must not count as seen then
	}
	w.WriteHeader(http.StatusNoContent)
}

func main() {
	r := &receiver{}
	for _, text := range strings.Fields(strings.ReplaceAll(os.Getenv("SIGNING_SECRETS"), ",", " ")) {
		secret, err := standardwebhooks.NewWebhook(text)
		if err != nil {
			log.Fatal(err)
		}
		r.secrets = append(r.secrets, secret)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:"+os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("listening on http://%s/\n", listener.Addr())
	log.Fatal(http.Serve(listener, r))
}

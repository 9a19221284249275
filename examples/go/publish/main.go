// Publishes events, one JSON object a line of standard input, and prints the guid of each that the broker has confirmed.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

type publisher struct {
	connection *amqp.Connection
	channel    *amqp.Channel
	closed     chan *amqp.Error // why the channel was closed
}

func (p *publisher) connect() error {
	connection, err := amqp.Dial(os.Getenv("AMQP_URL"))
	if err != nil {
		return err
	}
	p.connection = connection
	if p.channel, err = connection.Channel(); err != nil {
		return err
	}
	p.closed = p.channel.NotifyClose(make(chan *amqp.Error, 1))
	// Fails where there is no line yet.
	if err = p.channel.ExchangeDeclarePassive("waybell.events", "topic", true, false, false, false, nil); err != nil {
		return err
	}
	return p.channel.Confirm(false)
}

func (p *publisher) disconnect() {
	if p.connection != nil {
		p.connection.Close()
	}
	p.connection, p.channel = nil, nil
}

// Waits for the confirm, for ten seconds at most: a broker in an alarm takes nothing.
func (p *publisher) try(key string, message amqp.Publishing) error {
	if p.channel == nil {
		if err := p.connect(); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	confirm, err := p.channel.PublishWithDeferredConfirmWithContext(ctx, "waybell.events", key, false, false, message)
	if err != nil {
		return err
	}
	if isTaken, err := confirm.WaitContext(ctx); err != nil || isTaken {
		return err
	}
	select {
	case answer := <-p.closed:
		return answer
	default:
		return errors.New("the broker refused it: its queue is full")
	}
}

// User, password, virtual host, rights, size.
var refusals = []int{amqp.AccessRefused, amqp.NotAllowed, amqp.PreconditionFailed}

// Returns once the event is safe. Until then the same bytes are sent again: Waybell recognises them by their guid.
func (p *publisher) publish(body []byte) (string, error) {
	var event struct{ Guid, Interface, Action string }
	if err := json.Unmarshal(body, &event); err != nil {
		return "", err
	}
	message := amqp.Publishing{ContentType: "application/json", DeliveryMode: amqp.Persistent, MessageId: event.Guid, Body: body}
	for {
		err := p.try(event.Interface+"."+event.Action, message)
		if err == nil {
			return event.Guid, nil
		}
		var answer *amqp.Error
		if errors.As(err, &answer) && slices.Contains(refusals, answer.Code) {
			return "", fmt.Errorf("refused by the broker, and next time too: %w", err)
		}
		fmt.Fprintf(os.Stderr, "%s is not confirmed, and sent again: %v\n", event.Guid, err)
		p.disconnect()
		time.Sleep(time.Second)
	}
}

func main() {
	var p publisher
	defer p.disconnect()
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 32<<20) // twice what the broker takes
	for lines.Scan() {
		guid, err := p.publish(lines.Bytes())
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		fmt.Println(guid)
	}
	if err := lines.Err(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
